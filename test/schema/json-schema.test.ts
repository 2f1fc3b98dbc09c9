import { compile, type JsonSchemaValidator } from "@parlance/mcp/schema";
import { describe, expect, test } from "vitest";

const add = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
  additionalProperties: false,
};

/** The faults of a value, as `path message`. */
function faults(schema: object, value: unknown): readonly string[] {
  const checked = compile({ ...schema }).check(value);
  if (!("ok" in checked)) throw new TypeError("JSON Schema is checked at once");
  return checked.ok ? [] : checked.errors.map(({ path, message }) => `${path} ${message}`);
}

/** A schema, a value that breaks it, and what is said. */
const rows: readonly [schema: object, value: unknown, ...said: string[]][] = [
  [add, { a: 1 }, "/b expected number, got nothing"],
  [add, { a: 1, b: "2" }, '/b expected number, got "2"'],
  [add, { a: 1, b: 2, c: 3 }, "/c expected no such property, got 3"],
  [add, [1, 2], " expected object, got an array"],
  [add, null, " expected object, got null"],
  [{ type: "integer" }, 1.5, " expected integer, got 1.5"],
  [{ type: ["string", "null"] }, 1, " expected string or null, got 1"],
  [{ const: "a" }, "b", ' expected "a", got "b"'],
  [{ enum: ["a", "b"] }, "c", ' expected one of "a", "b", got "c"'],
  [{ enum: [{ a: 1 }, "b"] }, { a: 2 }, ' expected one of an object, "b", got an object'],
  [{ minimum: 3 }, 2, " expected at least 3, got 2"],
  [{ exclusiveMinimum: 3 }, 3, " expected more than 3, got 3"],
  [{ maximum: 3 }, 4, " expected at most 3, got 4"],
  [{ exclusiveMaximum: 3 }, 3, " expected less than 3, got 3"],
  [{ multipleOf: 0.1 }, 0.25, " expected a multiple of 0.1, got 0.25"],
  [{ minLength: 2 }, "😀", ' expected at least 2 characters, got "😀"'],
  [{ maxLength: 2 }, "abc", ' expected at most 2 characters, got "abc"'],
  [{ pattern: "^a" }, "b", ' expected a string that matches ^a, got "b"'],
  [{ format: "date" }, "today", ' expected a string in the format date, got "today"'],
  [{ minItems: 2 }, [1], " expected at least 2 items, got 1"],
  [{ maxItems: 1 }, [1, 2], " expected at most 1 items, got 2"],
  [{ uniqueItems: true }, [1, { a: 1 }, { a: 1 }], " expected distinct items, got equal ones at 1 and 2"],
  [{ items: { type: "string" } }, ["a", 1], "/1 expected string, got 1"],
  [{ prefixItems: [{ type: "string" }], items: false }, ["a", 1], "/1 expected no such item, got 1"],
  [{ contains: { type: "string" } }, [1], ' expected an item that fits "contains", got none'],
  [{ minProperties: 1 }, {}, " expected at least 1 properties, got 0"],
  [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, '/ab property name: expected at most 1 characters, got "ab"'],
  [{ dependentRequired: { a: ["b"] } }, { a: 1 }, '/b expected a value, because "a" is there, got nothing'],
  [{ not: { type: "string" } }, "a", ' expected a value that does not fit "not", got "a"'],
  [
    { anyOf: [{ type: "string" }, { properties: { a: { const: 1 } }, required: ["a"] }] },
    { a: 2 },
    " expected string, got an object; or /a: expected 1, got 2",
  ],
  [{ oneOf: [{}, true] }, 1, " expected exactly one of the alternatives to fit, got 2 that do"],
  [{ if: { maxProperties: 0 }, else: { required: ["b"] } }, { a: 1 }, "/b expected a value, got nothing"],
  [{ $ref: "#/$defs/name", $defs: { name: { type: "string" } } }, 1, " expected string, got 1"],
  [{ properties: { "a/b~%": { type: "string" } } }, { "a/b~%": 1 }, "/a~1b~0% expected string, got 1"],
  [
    { allOf: [{ required: ["a"] }, { required: ["b"] }] },
    {},
    "/a expected a value, got nothing",
    "/b expected a value, got nothing",
  ],
];

test.each(rows)("%j: %j says what was expected, what was there, and where", (schema, value, ...said) => {
  expect(faults(schema, value)).toEqual(said);
});

describe("a document of JSON Schema", () => {
  test("goes over the wire as it is, frozen and with all its annotations", () => {
    const schema = {
      type: "object",
      title: "T",
      "x-mcp-header": "Region",
      properties: { a: { default: { deep: [1] }, examples: [2] } },
      $defs: { unused: { $anchor: "u" } },
    };
    const { json } = compile(schema);
    expect(json).toEqual(schema);
    schema.properties.a.default.deep.push(2);
    expect(json.properties).toEqual({ a: { default: { deep: [1] }, examples: [2] } });
    expect(Object.isFrozen((json as typeof schema).properties.a.default.deep)).toBe(true);
  });

  test("leaves a value as it is: a default is an annotation", () => {
    const value = { b: 1 };
    const checked = compile({ properties: { a: { default: 1 } } }).check(value);
    expect(checked).toEqual({ ok: true, value: { b: 1 } });
    expect(checked).toHaveProperty("value", value);
  });

  test("leaves out what JSON leaves out, and refuses what JSON cannot hold", () => {
    expect(compile({ type: "object", title: undefined, check: () => true }).json).toEqual({ type: "object" });
    expect(() => compile({ const: 1n })).toThrow("/const: expected JSON, got a bigint");
    expect(() => compile({ maximum: Number.NaN })).toThrow("/maximum: expected JSON, got a number");
  });

  test("must declare an object at the root if the protocol requires it", () => {
    expect(compile(add, { root: "object" }).check({ a: 1, b: 2 })).toEqual({ ok: true, value: { a: 1, b: 2 } });
    const refused = { type: ["object"] };
    expect(() => compile(refused, { root: "object" })).toThrow(
      'expected "type": "object" at the root, got "type": ["object"]',
    );
    expect(() => compile({}, { root: "object" })).toThrow("got no type");
  });

  test.each([
    [{ required: "a" }, "/required: expected an array of strings, got a string"],
    [
      { properties: { a: { minLength: -1 } } },
      "/properties/a/minLength: expected a whole number, 0 or more, got a number",
    ],
    [{ properties: { a: "string" } }, "/properties/a: expected a schema (an object or a boolean), got a string"],
    [{ anyOf: [] }, "/anyOf: expected an array of schemas, not empty, got an array"],
    [{ type: "text" }, "/type: expected the name of a JSON type, or an array of them, got a string"],
    [{ exclusiveMinimum: true }, "/exclusiveMinimum: expected a number, got a boolean"],
    [{ $ref: 5 }, "/$ref: expected a URI reference as a string, got a number"],
    [{ pattern: "(" }, "/pattern: expected a regular expression that compiles with the u flag"],
    [
      { patternProperties: { "(": {} } },
      "/patternProperties: expected a regular expression that compiles with the u flag",
    ],
  ])("%j is refused when it is compiled, not when it is used", (schema, message) => {
    expect(() => compile(schema)).toThrow(expect.objectContaining({ name: "SchemaError", message }));
  });

  test("checks the formats of 2020-12 for an author, and none for a peer unless asked", () => {
    const schema = { properties: { day: { format: "date" }, place: { format: "url" }, odd: { format: "__proto__" } } };
    const value = { day: "x", place: "x", odd: "x" };
    expect(faults(schema, value)).toEqual(['/day expected a string in the format date, got "x"']);
    expect(compile(schema, { trust: "peer" }).check(value)).toMatchObject({ ok: true });
    expect(compile(schema, { trust: "peer", formats: "assert" }).check(value)).toMatchObject({ ok: false });
    expect(compile(schema, { formats: "annotate" }).check(value)).toMatchObject({ ok: true });
  });
});

describe("names that every object has", () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"toString":{"type":"number"},"constructor":{"type":"null"}},"required":["__proto__"],"additionalProperties":false}',
  );
  const valid: unknown = JSON.parse('{"__proto__":"a","toString":1,"constructor":null}');
  const invalid: unknown = JSON.parse('{"__proto__":{"type":1},"toString":"a","constructor":{}}');
  const refused = [
    "/__proto__ expected string, got an object",
    '/toString expected number, got "a"',
    "/constructor expected null, got an object",
  ];

  test.each([
    ["a plain shape", schema],
    ["a schema with alternatives", { anyOf: [schema] }],
  ])("are names like others in %s", (_, given) => {
    expect(faults(given, valid)).toEqual([]);
    expect(compile(given).check(invalid)).toMatchObject({ ok: false });
    expect(compile(given).check({})).toMatchObject({ ok: false });
    expect(JSON.stringify(compile(given).json)).toBe(JSON.stringify(given));
  });

  test("have faults at their own place", () => {
    expect(faults(schema, invalid)).toEqual(refused);
    expect(faults(schema, {})).toEqual(["/__proto__ expected string, got nothing"]);
  });
});

describe("a handler's result", () => {
  const output = { type: "object", properties: { at: { type: "string" }, note: { type: "string" } }, required: ["at"] };
  const { check } = compile(output, { side: "output" });

  test("is checked as it will be sent", () => {
    const at = new Date(0);
    expect(check({ at, note: undefined })).toEqual({ ok: true, value: { at: "1970-01-01T00:00:00.000Z" } });
  });

  test("that cannot be sent keeps its faults", () => {
    expect(check({ at: 1n })).toMatchObject({ ok: false });
    expect(check(undefined)).toEqual({
      ok: false,
      errors: [{ path: "", message: "expected JSON, got a value of type undefined" }],
    });
  });
});

test("another validator can be given: it gets the normal form and the limits, and finds the faults", () => {
  const seen: unknown[] = [];
  const validator: JsonSchemaValidator = {
    compile(schema, { limits }) {
      seen.push(schema, limits.errors);
      return (value) => (value === "good" ? [] : [{ path: "", message: "expected good" }]);
    },
  };
  const schema = {
    title: "T",
    items: [{ $ref: "#t" }],
    additionalItems: false,
    definitions: { t: { $anchor: "t", type: "string" } },
  };
  const { check } = compile(schema, { validator, limits: { errors: 7 } });
  expect(seen).toEqual([{ prefixItems: [{ $ref: "#/$defs/1" }], items: false, $defs: { 1: { type: "string" } } }, 7]);
  expect([check("good"), check("bad")]).toMatchObject([{ ok: true }, { errors: [{ message: "expected good" }] }]);
});
