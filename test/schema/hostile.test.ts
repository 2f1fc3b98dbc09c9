import { compile, SchemaError } from "@parlance/mcp/schema";
import { describe, expect, test } from "vitest";
import type { SchemaLimits } from "../../packages/mcp/src/schema/json-schema-validator.js";

function refusal(schema: object, limits: Partial<SchemaLimits> = {}): string {
  try {
    compile({ ...schema }, { trust: "peer", limits });
  } catch (error) {
    if (error instanceof SchemaError) return `${error.reason} ${error.message}`;
    throw error;
  }
  throw new TypeError("the schema was accepted");
}

/** The only fault of a value under a peer's schema. */
function fault(schema: object, value: unknown, options: object = {}): string | undefined {
  const checked = compile({ ...schema }, { trust: "peer", ...options }).check(value);
  return "ok" in checked && !checked.ok && checked.errors.length === 1 ? checked.errors[0]?.message : undefined;
}

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** `{ [key]: { [key]: … } }`, as deep as it says. */
function nested(depth: number, key: string, end: unknown = {}): Record<string, unknown> {
  let value: unknown = end;
  for (let level = 0; level < depth; level += 1) value = { [key]: value };
  return value as Record<string, unknown>;
}

/** Each definition refers twice to the next one. */
const doubling = Object.fromEntries(
  many(40, (index) => [`d${index}`, { anyOf: many(2, () => ({ $ref: `#/$defs/d${index + 1}` })) }]),
);

/** Two alternatives that both go down: a value of depth n takes 2ⁿ steps. */
const forking = {
  $ref: "#/$defs/n",
  $defs: { n: { anyOf: many(2, () => ({ type: "object", properties: { l: { $ref: "#/$defs/n" } } })) } },
};

describe("a peer's schema is refused", () => {
  test.each([
    ["with a hundred thousand subschemas", { allOf: many(100_000, () => ({})) }, "too-large"],
    [
      "of more than 256 KiB",
      { description: "é".repeat(131_072) },
      "too-large expected a schema of at most 262144 bytes as JSON",
    ],
    ["with references that double forty times", { $ref: "#/$defs/d0", $defs: { ...doubling, d40: {} } }, "too-large"],
    ["nested ten thousand deep", nested(10_000, "not"), "too-large"],
    ["nested deeper than 32 subschemas", nested(32, "not"), "too-large"],
    [
      "with ten thousand references in a row",
      {
        allOf: [{ $ref: "#/$defs/0" }],
        $defs: Object.fromEntries(
          many(5_000, (index) => [index, index < 4_999 ? { $ref: `#/$defs/${index + 1}` } : {}]),
        ),
      },
      "too-large",
    ],
    [
      "with more patterns for names than anyone needs",
      { patternProperties: Object.fromEntries(many(17, (index) => [`^${index}`, {}])) },
      "too-large",
    ],
    ["that refers to itself", { $ref: "#" }, "endless"],
    ["that wants something fetched", { $ref: "http://169.254.169.254/latest" }, "reference"],
  ])("%s", (_, schema, start) => {
    expect(refusal(schema).startsWith(start)).toBe(true);
  });

  test.each([
    [{ bytes: 20 }, { description: "longer than that" }],
    [{ subschemas: 3 }, { allOf: [{}, {}, {}] }],
    [{ depth: 2 }, { not: { not: {} } }],
  ])("at a limit of %j, when it is over it", (limits, schema) => {
    expect(refusal(schema, limits).startsWith("too-large")).toBe(true);
    expect(compile(schema, { trust: "peer" }).json).toEqual(schema);
  });
});

test("a schema of an author that contains itself is refused, not followed", () => {
  const schema: Record<string, unknown> = { type: "object" };
  schema.properties = { self: schema };
  expect(() => compile(schema)).toThrow("is nested too deep for a schema, or contains itself");
});

describe("a check ends", () => {
  test("after the maximum number of steps, with a fault that names it", () => {
    const value = nested(60, "l", 1);
    const clock = { now: () => 0 };
    expect(fault(forking, value, { limits: { steps: 1_000 }, clock })).toBe(
      "expected a value that can be checked in 1000 steps",
    );
    expect(fault(forking, nested(5, "l"), { clock })).toBeUndefined();
  });

  test("after so much time, by the clock it was given", () => {
    let time = 0;
    const clock = { now: () => (time += 1) };
    expect(fault(forking, nested(60, "l", 1), { clock })).toBe("expected a value that can be checked in 250 ms");
  });

  test("with a fault where it fills the stack", () => {
    const value = nested(100_000, "l");
    const clock = { now: () => 0 };
    expect(fault({ properties: { l: { $ref: "#" } } }, value, { clock })).toContain("overflows the stack");
  });

  test("without comparing ten thousand items with each other", () => {
    const numbers = many(10_000, (index) => index);
    const objects = numbers.map((index) => ({ index }));
    const schema = { uniqueItems: true };
    const clock = { now: () => 0 };
    expect(fault(schema, numbers, { clock })).toBeUndefined();
    expect(fault(schema, objects, { clock })).toBeUndefined();
    expect(fault(schema, [...numbers, 0], { clock })).toBe("expected distinct items, got equal ones at 0 and 10000");
    expect(fault(schema, [...objects, { index: 7 }], { clock })).toBe(
      "expected distinct items, got equal ones at 7 and 10000",
    );
  });

  test("without comparing a wide object with each of ten thousand others", () => {
    const wide = Object.fromEntries(many(1_000, (index) => [`k${index}`, 1]));
    let time = 0;
    const clock = { now: () => (time += 1) };
    const others = many(10_000, (index) => ({ index }));
    expect(fault({ enum: others }, wide, { clock })).toContain("expected one of an object, an object");
    expect(fault({ enum: [...others, { ...wide }] }, wide, { clock })).toBeUndefined();
  });

  test("with few faults for many, and at least one", () => {
    const items = many(1_000, () => "x");
    const checked = compile({ items: { type: "number" } }, { limits: { errors: 3 } }).check(items);
    expect(checked).toMatchObject({ errors: { length: 4, 3: { message: "expected no faults, got more than 3" } } });
    const more = compile({ items: { type: "number" } }).check(many(200_000, () => "x"));
    expect(more).toMatchObject({ errors: { length: 51, 0: { path: "/0" } } });
    const late = compile({ items: { type: "number" } }).check([...many(200_000, (index) => index), "x"]);
    expect(late).toMatchObject({ errors: [{ path: "/200000" }] });
  });

  test("with a fault at its place where a name is not Unicode", () => {
    expect(fault({ minProperties: 1, additionalProperties: false }, { "\ud800": 1 })).toBe(
      "expected no such property, got 1",
    );
    expect(fault({ minProperties: 1 }, { "\ud800": 1 })).toBeUndefined();
  });
});

test("members that the validator keeps for itself mean nothing in a schema", () => {
  const schema = JSON.parse(
    '{"$recursiveRef":"#","$recursiveAnchor":true,"__absolute_ref__":"#/x","__absolute_uri__":"x","steps":-1e9,"id":"x","type":"string","allOf":[{"steps":1e9}]}',
  );
  expect(fault(schema, 1)).toBe("expected string, got 1");
  expect(compile(schema, { trust: "peer" }).check("a")).toMatchObject({ ok: true });
});
