import { compile } from "@parlance/mcp/schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLinear } from "../../packages/mcp/src/schema/validator/linear-pattern.js";

const redos = "^(a+)+$";

describe("a peer's regular expression", () => {
  test.each([
    "^[a-z0-9_-]+$",
    "^[^@\\]]+$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^[A-Z]{2,5}$",
    "^.{1,500}$",
    "^https?://.+$",
    "^(foo|bar|baz)$",
    "^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$",
    "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
    "^\\p{L}+$",
    "^[\\u{1F600}-\\u{1F64F}]*$",
    "[0-9]{3}-[0-9]{4}",
    "foo|bar",
    "\\.json$",
    "",
    "^",
  ])("runs where its time is in proportion to the text: %s", (pattern) => {
    expect(isLinear(pattern)).toBe(true);
  });

  test.each([
    redos,
    "^(a|a)*$",
    "^(a?){30}a{30}$",
    "^(a|aa){20}$",
    "^a*a*b",
    "^[a-z]+-[0-9]+$",
    "a+b",
    "\\d+",
    "^(?:a*){2}$",
    "^(a)\\1$",
    "^(?<n>a)\\k<n>$",
    "^(?=a)a",
    "^(?!a)b",
    "(?<=a)b",
    "^a*b{0,1000}c{0,1000}d",
    "^a*.{100}b",
    "(((((){1000}){1000}){1000}){1000}){1000}",
    "a|b+c",
    "(",
    "a{2,1}",
    "[",
    "\\",
    `[${"\\u{".repeat(80)}`,
  ])("does not run where that cannot be shown: %s", (pattern) => {
    expect(isLinear(pattern)).toBe(false);
  });

  test("that does not run is listed by its place, and decides nothing", () => {
    const schema = { properties: { a: { type: "string", pattern: redos }, b: { pattern: "^b" } } };
    const { json, unchecked, check } = compile(schema, { trust: "peer" });
    expect([json, unchecked]).toEqual([schema, ["/properties/a/pattern"]]);
    expect(check({ a: "!", b: "b" })).toMatchObject({ ok: true });
    expect(check({ a: 1, b: "c" })).toMatchObject({ errors: [{ path: "/a" }, { path: "/b" }] });
  });

  test.each([
    { properties: { a: { not: { pattern: redos } } } },
    { oneOf: [{ pattern: redos }, { type: "number" }] },
    { $defs: { a: { pattern: redos } }, if: { $ref: "#/$defs/a" }, else: false },
    { patternProperties: { [redos]: {} }, additionalProperties: false },
  ])("is refused where leaving it out would turn the meaning round: %j", (schema) => {
    expect(() => compile(schema, { trust: "peer" })).toThrow(expect.objectContaining({ reason: "pattern" }));
  });

  test("of more than 256 characters does not run", () => {
    const pattern = `^${"a".repeat(300)}`;
    expect(compile({ pattern }, { trust: "peer" }).unchecked).toEqual(["/pattern"]);
    expect(compile({ pattern }, { trust: "peer", limits: { patternLength: 301 } }).unchecked).toEqual([]);
  });

  test("of our own author always runs", () => {
    const { unchecked, check } = compile({ pattern: redos });
    expect([unchecked, check("aaa"), check("b")]).toMatchObject([[], { ok: true }, { ok: false }]);
  });
});

test("any text is judged, and what is found linear compiles", () => {
  const piece = fc.constantFrom(
    "a",
    "(",
    ")",
    "[",
    "]",
    "{2}",
    "{0,3}",
    "*",
    "+",
    "?",
    "|",
    "^",
    "$",
    "\\",
    "d",
    "(?:",
    "\\u{1F600}",
    "😀",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const pattern = pieces.join("");
      if (isLinear(pattern)) expect(() => new RegExp(pattern, "u")).not.toThrow();
    }),
    { numRuns: 2_000 },
  );
});
