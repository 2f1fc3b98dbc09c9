import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import {
  isMirrored,
  type MirroredParam,
  mirrorOf,
  readMirroredParams,
} from "../../packages/mcp/src/protocol/mirrored-params.js";

const region = { type: "string", "x-mcp-header": "Region" };

function faultsOf(schema: unknown): readonly string[] {
  const read = readMirroredParams(schema);
  return "faults" in read ? read.faults.map(({ path, message }) => `${path}: ${message}`) : [];
}

describe("the annotations of a schema", () => {
  test("name the arguments that go in headers, however deep properties lead", () => {
    const schema = {
      type: "object",
      properties: {
        region,
        "a/b": { type: "object", properties: { deep: { type: "integer", "x-mcp-header": "Deep" } } },
        dry: { type: "boolean", "x-mcp-header": "dry-run" },
        plain: { type: "number" },
      },
    };
    expect(readMirroredParams(schema)).toEqual({
      params: [
        { header: "Mcp-Param-Region", path: ["region"], type: "string" },
        { header: "Mcp-Param-Deep", path: ["a/b", "deep"], type: "integer" },
        { header: "Mcp-Param-dry-run", path: ["dry"], type: "boolean" },
      ],
    });
  });

  test("are not there in a schema without any", () => {
    for (const schema of [undefined, true, {}, { type: "object", properties: {} }]) {
      expect(readMirroredParams(schema)).toEqual({ params: [] });
    }
  });

  test("are not what is only spelled like one: a property's name, or data", () => {
    const schema = {
      properties: { "x-mcp-header": { type: "string" }, enum: { type: "string" } },
      default: { "x-mcp-header": "" },
      examples: [{ properties: { a: { "x-mcp-header": 1 } } }],
      enum: [{ "x-mcp-header": "A" }],
      const: { "x-mcp-header": "A" },
    };
    expect(readMirroredParams(schema)).toEqual({ params: [] });
  });

  const alone = ["items", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "contains", "additionalProperties"];
  const mapped = ["$defs", "definitions", "patternProperties", "dependentSchemas"];

  test.each<readonly [place: string, schema: object]>([
    ...alone.map((keyword) => [keyword, { [keyword]: region }] as const),
    ...mapped.map((keyword) => [keyword, { [keyword]: { region } }] as const),
    ["prefixItems", { prefixItems: [region] }],
    ["properties under anyOf", { anyOf: [{ properties: { region } }] }],
    ["properties under items", { items: { type: "object", properties: { region } } }],
    ["items under properties", { properties: { list: { type: "array", items: region } } }],
  ])("may not lie under %s", (_place, schema) => {
    expect(faultsOf(schema)).toEqual([
      expect.stringMatching(/\/x-mcp-header: x-mcp-header must be on a property that only properties lead to$/),
    ]);
  });

  test.each([
    ["number", "number", 'the type "number"'],
    ["object", "object", 'the type "object"'],
    ["array", "array", 'the type "array"'],
    ["null", "null", 'the type "null"'],
    ["a union", ["string", "null"], 'the type ["string","null"]'],
    ["no type, as beside $ref", undefined, "no type"],
  ])("may not stand on %s", (_name, type, shown) => {
    const schema = { properties: { a: { ...(type === undefined ? { $ref: "#/x" } : { type }), "x-mcp-header": "A" } } };
    expect(faultsOf(schema)).toEqual([
      `/properties/a/x-mcp-header: x-mcp-header must be on a string, an integer or a boolean, got ${shown}`,
    ]);
  });

  test.each([
    ["", '""'],
    ["My Region", '"My Region"'],
    ["Region:", '"Region:"'],
    ["Región", '"Región"'],
    ["a\nb", String.raw`"a\nb"`],
  ])("may not name a header %j", (name, shown) => {
    expect(faultsOf({ properties: { "a~b/c": { type: "string", "x-mcp-header": name } } })).toEqual([
      `/properties/a~0b~1c/x-mcp-header: x-mcp-header must be the name of a header, got ${shown}`,
    ]);
  });

  test.each([
    [7, "a number"],
    [null, "null"],
    [{}, "an object"],
  ])("may not be %j", (name, kind) => {
    expect(faultsOf({ properties: { a: { type: "string", "x-mcp-header": name } } })).toEqual([
      `/properties/a/x-mcp-header: x-mcp-header must be a string, got ${kind}`,
    ]);
  });

  test("may not name one header twice, in any case, and every fault is reported", () => {
    const schema = {
      properties: {
        a: region,
        b: { type: "string", "x-mcp-header": "REGION" },
        c: { type: "number", "x-mcp-header": "C" },
      },
    };
    expect(faultsOf(schema)).toEqual([
      '/properties/b/x-mcp-header: x-mcp-header names the header "REGION" a second time',
      expect.stringContaining("/properties/c/x-mcp-header"),
    ]);
  });
});

const at = (type: MirroredParam["type"], ...path: readonly string[]): MirroredParam => ({
  header: "Mcp-Param-A",
  path,
  type,
});

describe("an argument in a header", () => {
  test.each([
    ["a text", "us-west1", "us-west1"],
    ["an empty text", "", ""],
    ["a text that a header cannot hold", "zürich", "=?base64?esO8cmljaA==?="],
    ["an integer", -42, "-42"],
    ["true", true, "true"],
    ["false", false, "false"],
    ["null", null, undefined],
    ["nothing", undefined, undefined],
    ["what is no integer", 1.5, undefined],
    ["an integer that doubles cannot hold", 2 ** 60, undefined],
    ["an integer with a fraction of zero, as it was written", new ExactNumber("42.0"), "42"],
    ["an integer that doubles cannot hold, as it was written", new ExactNumber("12345678901234567890"), undefined],
    ["an object", {}, undefined],
  ])("is, for %s, what it says", (_kind, argument, value) => {
    expect(mirrorOf(at("string", "a"), { a: argument })).toBe(value);
  });

  test("is found along its path, and only among own members", () => {
    expect(mirrorOf(at("string", "a", "b"), { a: { b: "deep" } })).toBe("deep");
    for (const args of [undefined, null, [], "a", { a: "b" }, { a: { c: 1 } }]) {
      expect(mirrorOf(at("string", "a", "b"), args)).toBeUndefined();
    }
    expect(mirrorOf(at("string", "constructor", "name"), {})).toBeUndefined();
  });

  test.each([
    ["string", "x", "x"],
    ["string", "zürich", "=?base64?esO8cmljaA==?="],
    ["string", "x", "=?base64?eA==?="],
    ["string", "42", "42"],
    ["string", "", ""],
    ["integer", 42, "42"],
    ["integer", 42, "42.0"],
    ["integer", 42, "=?base64?NDI=?="],
    ["integer", -7, "-7"],
    ["boolean", true, "true"],
    ["string", null, undefined],
    ["string", undefined, undefined],
    ["string", {}, undefined],
  ] as const)("of type %s and value %j agrees with %j", (type, argument, header) => {
    expect(isMirrored(at(type, "a"), { a: argument }, header)).toBe(true);
  });

  test.each([
    ["string", "x", "X"],
    ["string", "x", undefined],
    ["string", "", undefined],
    ["string", "42", "42.0"],
    ["string", "x", "=?base64?eA?="],
    ["string", undefined, ""],
    ["string", null, "null"],
    ["string", {}, "x"],
    ["integer", 42, "43"],
    ["integer", 42, "0x2a"],
    ["integer", 42, "4.2e1"],
    ["integer", 0, ""],
    ["integer", 42, "=?base64?NDI?="],
    ["integer", 2 ** 53 - 1, "9007199254740992"],
    ["boolean", true, "True"],
    ["boolean", false, "0"],
  ] as const)("of type %s and value %j does not agree with %j", (type, argument, header) => {
    expect(isMirrored(at(type, "a"), { a: argument }, header)).toBe(false);
  });
});
