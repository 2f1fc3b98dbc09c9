import { isDeepStrictEqual } from "node:util";
import { answerer, decode, ExactNumber, type Limits, Problem, serverLimits } from "@parlance/mcp/jsonrpc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limitExceeded } from "../../packages/mcp/src/jsonrpc/codec/decode.js";
import { membersOf, membersOfElements } from "../../packages/mcp/src/jsonrpc/codec/scan.js";
import { runs } from "../testing/forms.js";
import { isInexact, numberLiterals } from "./arbitraries.js";
import {
  type Extent,
  extentOf,
  extentOfValue,
  type Written,
  written,
  writtenArrays,
  writtenObjects,
} from "./json-texts.js";

const lifted: Limits = {
  ...serverLimits,
  frameBytes: Number.POSITIVE_INFINITY,
  depth: Number.POSITIVE_INFINITY,
  nodes: Number.POSITIVE_INFINITY,
  keys: Number.POSITIVE_INFINITY,
};

describe("the bounds of a text", () => {
  const bound = fc.integer({ min: 0, max: 12 });

  test("are met by what it holds, and broken by one less", () => {
    fc.assert(
      fc.property(written, (tree) => {
        const extent = extentOf(tree);
        expect(limitExceeded(tree.text, { ...lifted, ...extent, frameBytes: tree.text.length })).toBeUndefined();
        for (const [name, count] of Object.entries(extent)) {
          if (count === 0) continue;
          expect(limitExceeded(tree.text, { ...lifted, [name]: count }), `${name} ${count}`).toBeUndefined();
          expect(limitExceeded(tree.text, { ...lifted, [name]: count - 1 }), `${name} ${count - 1}`).toBeTypeOf(
            "string",
          );
        }
        expect(limitExceeded(tree.text, { ...lifted, frameBytes: tree.text.length - 1 })).toBeTypeOf("string");
      }),
      { numRuns: runs(3_000) },
    );
  });

  test("are broken, whatever they are, exactly if one of them is exceeded", () => {
    fc.assert(
      fc.property(written, bound, bound, bound, (tree, depth, nodes, keys) => {
        const extent = extentOf(tree);
        const isExceeded = extent.depth > depth || extent.nodes > nodes || extent.keys > keys;
        const broken = limitExceeded(tree.text, { ...lifted, depth, nodes, keys });
        expect(broken !== undefined, broken ?? "nothing is broken").toBe(isExceeded);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("are judged by what the parser makes of a frame, or by its text, where a key is repeated", () => {
    fc.assert(
      fc.property(written, bound, fc.integer({ min: 1, max: 12 }), bound, (tree, depth, nodes, keys) => {
        const exceeds = (extent: Extent): boolean => extent.depth > depth || extent.nodes > nodes || extent.keys > keys;
        const decoded = decode(tree.text, undefined, { ...lifted, depth, nodes, keys });
        const isRefused = decoded instanceof Problem && /^(nested|more than|an object with)/.test(decoded.reason);
        if (exceeds(extentOfValue(JSON.parse(tree.text)))) expect(isRefused).toBe(true);
        else if (!exceeds(extentOf(tree))) expect(isRefused).toBe(false);
      }),
      { numRuns: runs(3_000) },
    );
  });

  test.each([100_000, 5_000, Number.POSITIVE_INFINITY])("of %d levels exhaust no stack", (depth) => {
    for (const levels of [1_000, 10_000, 100_000]) {
      const decoded = decode(
        `{"jsonrpc":"2.0","method":"a","params":${"[".repeat(levels)}${"]".repeat(levels)}}`,
        undefined,
        {
          ...serverLimits,
          depth,
        },
      );
      expect(decoded instanceof Problem ? decoded.reason : "taken").toBe(
        levels < depth ? "taken" : `nested deeper than ${depth} levels`,
      );
    }
  });

  test.each([
    { name: "arrays", open: "[", close: "]" },
    { name: "objects", open: '{"a":', close: "}" },
    { name: "both, with white space", open: '[ {"[" :\n', close: " }\t]" },
  ])("hold at their defaults, and not one beyond: $name", ({ open, close }) => {
    const levels = open.includes("{") && open.includes("[") ? 2 : 1;
    const nested = (depth: number): string => `${open.repeat(depth / levels)}1${close.repeat(depth / levels)}`;
    expect(limitExceeded(nested(serverLimits.depth), serverLimits)).toBeUndefined();
    expect(limitExceeded(nested(serverLimits.depth + levels), serverLimits)).toMatch(/^nested deeper than 64 levels$/);
    expect(limitExceeded(nested(1_000_000), { ...serverLimits, frameBytes: 2 ** 30 })).toMatch(/^nested/);
  });

  test("hold at their defaults for values and members too", () => {
    const values = (count: number): string => `[${Array.from({ length: count - 1 }, () => 1).join()}]`;
    expect(limitExceeded(values(serverLimits.nodes), serverLimits)).toBeUndefined();
    expect(limitExceeded(values(serverLimits.nodes + 1), serverLimits)).toBe("more than 200000 values");
    const members = (count: number): string => `{${Array.from({ length: count }, () => '"":1').join()}}`;
    expect(limitExceeded(members(serverLimits.keys), serverLimits)).toBeUndefined();
    expect(limitExceeded(members(serverLimits.keys + 1), serverLimits)).toMatch(/^an object with 10001 members/);
  });
});

describe("the members of an object", () => {
  test("are found with the text they were written in; of a repeated key the last", () => {
    fc.assert(
      fc.property(writtenObjects, fc.constantFrom("", " ", "\r\n\t"), (object, space) => {
        const found = membersOf(space + object.text + space);
        const expected = new Map(object.members.map(({ key, value }) => [key, value.text]));
        expect(isDeepStrictEqual(found, expected), object.text).toBe(true);
        const parsed = JSON.parse(object.text) as Record<string, unknown>;
        for (const [key, raw] of found) expect(isDeepStrictEqual(JSON.parse(raw), parsed[key]), raw).toBe(true);
        expect(new Set(found.keys())).toEqual(new Set(Object.keys(parsed)));
      }),
      { numRuns: runs(3_000) },
    );
  });

  test("are found for every element of an array", () => {
    fc.assert(
      fc.property(writtenArrays, ({ text, items }) => {
        const expected = items.map((item) => new Map(membersIn(item).map(({ key, value }) => [key, value.text])));
        expect(isDeepStrictEqual(membersOfElements(text), expected), text).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("of a text that was cut off are those that stand in it whole; the one that was cut is empty", () => {
    fc.assert(
      fc.property(writtenObjects, fc.nat(), ({ text, members }, cut) => {
        const head = text.slice(0, cut % (text.length + 1));
        const entries = [...membersOf(head)];
        const written = new Set(members.map(({ key, value }) => JSON.stringify([key, value.text])));
        for (const [index, [key, raw]] of entries.entries()) {
          const isCut = raw === "" && members.some((member) => member.key === key);
          expect(written.has(JSON.stringify([key, raw])) || isCut, `${index}: ${key} in ${head}`).toBe(true);
        }
      }),
      { numRuns: runs(3_000) },
    );
  });

  test("of any text at all are looked for without a throw", () => {
    const parts = fc.constantFrom("{", "}", "[", "]", ":", ",", '"', "\\", " ", "1", '"id"', "\ufeff", "\ud800");
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 20 }), (texts) => {
        membersOf(texts.join(""));
        membersOfElements(texts.join(""));
      }),
      { numRuns: runs(2_000) },
    );
  });
});

describe("an id", () => {
  const literals = fc.oneof(
    numberLiterals,
    fc.constantFrom("9007199254740993", "-0", "1e400", "1E400", "0.1", "-1.50"),
  );
  const answer = answerer(() => null);

  test("comes back as it was written, unless JSON has the same number in plain digits", () => {
    fc.assert(
      fc.property(literals, writtenObjects, fc.boolean(), (literal, params, isLast) => {
        const id = `"id" : ${literal}`;
        const rest = `"jsonrpc":"2.0","method":"a","params":${params.text}`;
        const text = isLast ? `{"id":0, ${rest} , ${id}\n}` : `{ ${id},${rest}}`;
        const echoed = isInexact(literal) ? literal : String(Number(literal));
        expect(answer(text, undefined)).toBe(`{"jsonrpc":"2.0","id":${echoed},"result":null}`);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("of each message in a batch comes back as it was written", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(literals.filter(isInexact), { minLength: 1, maxLength: 6 }),
        written,
        (ids, result) => {
          const elements = ids.map((id) => `{"jsonrpc":"2.0", "result":${result.text}, "id":${id} }`);
          const decoded = decode(`[${elements.join(" ,")}]`);
          const echoed = (decoded as readonly { id?: unknown }[]).map(({ id }) => (id as ExactNumber).text);
          expect(echoed).toEqual(ids);
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  test("is found in a text that is too large, too deep or cut off, if it stands there whole", () => {
    fc.assert(
      fc.property(fc.oneof(literals, fc.constantFrom('"a"', "null")), writtenObjects, (literal, params) => {
        const text = `{"jsonrpc":"2.0","id":${literal},"method":"a","params":${params.text}}`;
        const decoded = decode(text, undefined, { ...serverLimits, depth: 0 });
        expect(decoded).toBeInstanceOf(Problem);
        const { id } = decoded as Problem;
        const isExact = Number.isNaN(Number(literal)) || !isInexact(literal);
        const echoed = isExact ? JSON.parse(literal) : new ExactNumber(literal);
        expect(isDeepStrictEqual(id, echoed), `${String(id)} for ${literal}`).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });
});

function membersIn(tree: Written): readonly { readonly key: string; readonly value: Written }[] {
  return tree.kind === "object" ? tree.members : [];
}
