import { connect } from "@parlance/mcp/client";
import { compile, type Schema } from "@parlance/mcp/schema";
import { createServer } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";

/** The cost of a check: how often it looked into the value, and how many steps it needed. */
interface Cost {
  readonly looks: number;
  readonly steps: number;
}

/** A schema that nothing fits. */
const no = { not: {} };

/** A value that counts how often it is looked into, at any depth. */
function counted(value: unknown, count: () => void): unknown {
  const seen = new WeakMap<object, object>();
  const wrap = (inner: unknown): unknown => {
    if (typeof inner !== "object" || inner === null) return inner;
    const known = seen.get(inner);
    if (known !== undefined) return known;
    const proxy = new Proxy(inner, {
      get: (target, key, receiver) => {
        count();
        return wrap(Reflect.get(target, key, receiver));
      },
      has: (target, key) => {
        count();
        return Reflect.has(target, key);
      },
      ownKeys: (target) => {
        const keys = Reflect.ownKeys(target);
        for (let index = 0; index < keys.length; index += 1) count();
        return keys;
      },
      getOwnPropertyDescriptor: (target, key) => {
        count();
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    });
    seen.set(inner, proxy);
    return proxy;
  };
  return wrap(value);
}

/** The fewest steps within which a check comes to its answer. */
function fewestSteps(schema: object, value: unknown): number {
  const answers = (steps: number): boolean => {
    const checked = compile({ ...schema }, { limits: { steps }, formats: "assert" }).check(value);
    return !("ok" in checked && !checked.ok && /in \d+ steps$/.test(checked.errors[0]?.message ?? ""));
  };
  let below = 0;
  let enough = 1;
  while (!answers(enough)) {
    below = enough;
    enough *= 2;
  }
  while (enough - below > Math.max(1, below / 64)) {
    const middle = Math.floor((below + enough) / 2);
    if (answers(middle)) enough = middle;
    else below = middle;
  }
  return enough;
}

function looksOf(schema: object, value: unknown): number {
  let looks = 0;
  const unbounded = { steps: Number.POSITIVE_INFINITY };
  const { check } = compile({ ...schema }, { limits: unbounded, formats: "assert" });
  void check(counted(value, () => (looks += 1)));
  return looks;
}

/** The cost of a check by steps. A schema with "not" is no plain shape, which would be checked without counting. */
function costOf(schema: object, value: unknown): Cost {
  const counting = { ...schema, not: no };
  return { looks: looksOf(counting, value), steps: fewestSteps(counting, value) };
}

/** Expects that four times as much takes about four times the work, whichever way it is checked. */
function expectLinear([, at]: Row, n: number): void {
  const small = costOf(...at(n));
  const large = costOf(...at(4 * n));
  expect(large.looks).toBeLessThanOrEqual(4.5 * small.looks + 100);
  expect(large.steps).toBeLessThanOrEqual(4.5 * small.steps + 100);
  expect(looksOf(...at(4 * n))).toBeLessThanOrEqual(4.5 * looksOf(...at(n)) + 100);
}

function list<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}

function record<T>(length: number, make: (index: number) => T): Record<string, T> {
  return Object.fromEntries(list(length, (index) => [`k${index}`, make(index)]));
}

const deep = (levels: number): unknown => list(levels, () => 0).reduce((inner: unknown) => ({ n: inner }), {});

/** A schema, and a value of about `n` parts that makes the keyword work for as long as it can. */
type Row = readonly [keyword: string, at: (n: number) => readonly [schema: object, value: unknown]];

/** Every keyword on a value that grows. */
const growingValues: readonly Row[] = [
  ["uniqueItems of numbers", (n) => [{ uniqueItems: true }, list(n, (index) => index)]],
  ["uniqueItems of objects", (n) => [{ uniqueItems: true }, list(n, (index) => ({ index, same: { a: [1] } }))]],
  ["uniqueItems of arrays", (n) => [{ uniqueItems: true }, list(n, (index) => [index, [index]])]],
  ["uniqueItems of long texts", (n) => [{ uniqueItems: true }, list(n / 8, (index) => `${"x".repeat(800)}${index}`)]],
  [
    "uniqueItems in uniqueItems",
    (n) => [
      { $ref: "#/$defs/l", $defs: { l: { uniqueItems: true, items: { $ref: "#/$defs/l" } } } },
      list(12, () => 0).reduce(
        (inner: unknown) => [inner],
        list(n, (index) => [index]),
      ),
    ],
  ],
  ["items", (n) => [{ items: { anyOf: [{ type: "string" }, { type: "number" }] } }, list(n, (index) => index)]],
  [
    "prefixItems",
    (n) => [{ prefixItems: list(9, () => ({ minimum: 0, not: no })), not: no }, list(n, (index) => index)],
  ],
  ["contains", (n) => [{ contains: { const: { a: 1 } } }, list(n, (index) => ({ a: index + 2 }))]],
  [
    "minContains and maxContains",
    (n) => [{ contains: { multipleOf: 2 }, minContains: n / 4, maxContains: n }, list(n, (index) => index)],
  ],
  [
    "unevaluatedItems",
    (n) => [
      { allOf: [{ contains: { multipleOf: 2 } }], unevaluatedItems: { type: "number" } },
      list(n, (index) => index),
    ],
  ],
  [
    "unevaluatedProperties",
    (n) => [
      {
        anyOf: [{ properties: { k0: true } }, { patternProperties: { "1$": {} } }],
        unevaluatedProperties: { type: "number" },
      },
      record(n, (index) => index),
    ],
  ],
  [
    "properties",
    (n) => [{ properties: record(100, () => ({ anyOf: [{ type: "number" }] })) }, record(n, (index) => index)],
  ],
  [
    "patternProperties and additionalProperties",
    (n) => [
      { properties: { k1: {} }, patternProperties: { "2$": {}, "3$": {} }, additionalProperties: { type: "number" } },
      record(n, (index) => index),
    ],
  ],
  [
    "propertyNames",
    (n) => [{ propertyNames: { pattern: "^k[0-9]{1,9}$", maxLength: 20 } }, record(n, (index) => index)],
  ],
  [
    "minProperties and maxProperties",
    (n) => [{ minProperties: 1, maxProperties: n, not: no }, record(n, (index) => index)],
  ],
  ["required", (n) => [{ required: list(100, (index) => `k${index}`), not: no }, record(n, (index) => index)]],
  [
    "dependentRequired",
    (n) => [{ dependentRequired: record(50, (index) => [`k${index + 1}`]) }, record(n, (index) => index)],
  ],
  [
    "dependentSchemas",
    (n) => [{ dependentSchemas: record(10, () => ({ minProperties: 1 })) }, record(n, (index) => index)],
  ],
  [
    "dependencies of draft-07",
    (n) => [
      { $schema: "http://json-schema.org/draft-07/schema#", dependencies: { k1: ["k2"], k2: { minProperties: 1 } } },
      record(n, (index) => index),
    ],
  ],
  [
    "additionalItems of draft-07",
    (n) => [
      { $schema: "http://json-schema.org/draft-07/schema#", items: [{ not: no }], additionalItems: { not: no } },
      list(n, (index) => index),
    ],
  ],
  ["const", (n) => [{ const: list(n, (index) => ({ index })) }, list(n, (index) => ({ index }))]],
  ["enum", (n) => [{ enum: [list(n, (index) => ({ index })), {}] }, list(n, (index) => ({ index }))]],
  ["not", (n) => [{ items: { not: { type: "string" } } }, list(n, (index) => index)]],
  ["allOf", (n) => [{ items: { allOf: [{ type: "number" }, { minimum: 0 }] } }, list(n, (index) => index)]],
  [
    "oneOf",
    (n) => [
      { items: { oneOf: [{ type: "number" }, { minimum: 1e9 }, { type: "string" }] } },
      list(n, (index) => ({ index })),
    ],
  ],
  [
    "if, then, else",
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema
    (n) => [{ items: { if: { type: "string" }, then: no, else: { minimum: 0 } } }, list(n, (index) => index)],
  ],
  [
    "$ref",
    (n) => [
      { items: { $ref: "#/$defs/a" }, $defs: { a: { $ref: "#/$defs/b" }, b: { type: "number" } } },
      list(n, (index) => index),
    ],
  ],
  ["$ref to itself", (n) => [{ properties: { n: { $ref: "#" } } }, deep(n / 32)]],
  ["$dynamicRef", (n) => [{ $dynamicAnchor: "a", properties: { n: { $dynamicRef: "#a" } } }, deep(n / 32)]],
  ["minLength and maxLength", (n) => [{ minLength: n / 2, maxLength: n, not: no }, "😀".repeat(n / 2)]],
  ["pattern", (n) => [{ pattern: "^[a-z]*$" }, "a".repeat(n)]],
  ...[
    "date",
    "time",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "regex",
  ].map((format): Row => [`format ${format}`, (n) => [{ format }, "a".repeat(n)]]),
  ["multipleOf", (n) => [{ items: { multipleOf: 0.1 } }, list(n, (index) => index / 10)]],
  [
    "minimum and its like",
    (n) => [
      { items: { minimum: 0, maximum: 1e9, exclusiveMinimum: -1, exclusiveMaximum: 1e9, not: no } },
      list(n, (index) => index),
    ],
  ],
  ["minItems and maxItems", (n) => [{ items: { minItems: 1, maxItems: 2, not: no } }, list(n, () => [1])]],
  ["type", (n) => [{ items: { type: list(500, () => "number"), not: no } }, list(n, (index) => index)]],
];

/** A value and a schema that both grow: the product is what may not be done. */
const growingBoth: readonly Row[] = [
  ["enum of objects", (n) => [{ items: { enum: list(n, (index) => ({ index })) } }, list(n, (index) => ({ index }))]],
  ["enum of texts", (n) => [{ items: { enum: list(n, (index) => `${index}`) } }, list(n, (index) => `${index}`)]],
  ["properties of objects with few", (n) => [{ items: { properties: record(n, () => no) } }, list(n, () => ({}))]],
  [
    "dependentRequired of objects with few",
    (n) => [{ items: { dependentRequired: record(n, () => ["a"]) } }, list(n, () => ({}))],
  ],
  [
    "dependentSchemas of objects with few",
    (n) => [{ items: { dependentSchemas: record(n, () => no) } }, list(n, () => ({}))],
  ],
  [
    "required by alternatives",
    (n) => [{ items: { anyOf: [{ required: list(n, (index) => `k${index}`) }, {}] } }, list(n, () => ({}))],
  ],
  ["prefixItems of short lists", (n) => [{ items: { prefixItems: list(n, () => no) } }, list(n, () => [])]],
];

/** Where the product cannot be helped, each look into the value is paid for: the limit of steps ends it. */
const products: readonly Row[] = [
  [
    "alternatives that each read one wide object",
    (n) => [{ oneOf: list(n, () => ({ minProperties: 1e6 })) }, record(n, (index) => index)],
  ],
  [
    "references that each read one long list",
    (n) => [{ allOf: list(n, () => ({ items: { type: "number" } })) }, list(n, (index) => index)],
  ],
  [
    "constants that are nearly the value",
    (n) => [{ anyOf: list(n, (one) => ({ const: list(20, (index) => index * one) })) }, list(20, () => 0)],
  ],
  [
    "unevaluated members of many parts",
    (n) => [
      { allOf: list(n, () => ({ allOf: [{ additionalProperties: true }], unevaluatedProperties: false })) },
      record(n, (index) => index),
    ],
  ],
];

describe("A3: no keyword costs more than linear time", () => {
  test.each(growingValues)("%s: a larger value", (...row) => expectLinear(row, 512));

  test.each(growingBoth)("%s: a longer schema does not make each item dearer", (...row) => expectLinear(row, 128));

  test.each([...growingValues, ...growingBoth, ...products])("%s: what is done is counted in steps", (_, at) => {
    const { looks, steps } = costOf(...at(256));
    expect(looks).toBeLessThanOrEqual(32 * steps + 100);
  });

  test("a list in lists of distinct items is read once, however many there are around it", () => {
    const schema = { uniqueItems: true, items: { $ref: "#" } };
    const within = (levels: number): unknown =>
      list(levels, () => 0).reduce(
        (inner: unknown) => [inner],
        list(200, (index) => [index]),
      );
    expect(fewestSteps(schema, within(24))).toBeLessThan(1.2 * fewestSteps(schema, within(2)));
  });

  test("the time of a pattern of a peer is counted before it is run", () => {
    const options = { trust: "peer", clock: { now: () => 0 } } as const;
    // Wherever the engine gives up, it has tried fifteen lengths more: for two megabytes that is longer than a check may take.
    const dear = compile({ pattern: "^.*[a-z]{0,15}!" }, options);
    expect(dear.unchecked).toEqual([]);
    expect(dear.check("a".repeat(2 ** 21))).toMatchObject({ errors: [{ message: expect.stringMatching("steps$") }] });
    expect(compile({ pattern: "^[a-z]+$" }, options).check("a".repeat(2 ** 21))).toMatchObject({ ok: true });
  });

  test("an expression in the format regex is not compiled at any length", () => {
    expect(compile({ format: "regex" }).check("\\p{L}".repeat(2 ** 18))).toMatchObject({
      errors: [{ message: expect.stringMatching("steps$") }],
    });
  });
});

describe("A3: items are distinct as JSON Schema means it", () => {
  test.each([
    ["[1, 1.0]", [0, 1]],
    ["[0, -0]", [0, 1]],
    ["[[0], [-0.0]]", [0, 1]],
    ["[1e400, 2e400]", [0, 1]],
    ['[{"a":1,"b":[2]}, {"b":[2.0],"a":1}]', [0, 1]],
    ['[{"__proto__":1}, {"__proto__":1.0}]', [0, 1]],
    [`["${"x".repeat(20_000)}", 1, "${"x".repeat(20_000)}"]`, [0, 2]],
  ])("%s holds equal ones", (json, [first, second]) => {
    expect(compile({ uniqueItems: true }).check(JSON.parse(json))).toMatchObject({
      errors: [{ message: `expected distinct items, got equal ones at ${first} and ${second}` }],
    });
  });

  test.each([
    '[1, "1", true, null, "true", "null", [1], ["1"], {"1":1}, {}, [], [[]], ""]',
    '[{"a":1,"b":2}, {"a":2,"b":1}, {"a":1}, {"ab":12}, {"a":{"b":2}}]',
    '[[1,2], [12], [[1],2], [1,[2]], ["1,2"], "[1,2", "{1,2"]',
    '[{"__proto__":1}, {}, {"__proto__":{}}]',
    '["\\ud800", "\\\\ud800", "\\udc00"]',
    "[[null], [1e400]]",
    `["${"x".repeat(20_000)}", "${"x".repeat(20_001)}", "${"x".repeat(19_999)}y"]`,
  ])("%s holds none", (json) => {
    expect(compile({ uniqueItems: true }).check(JSON.parse(json))).toMatchObject({ ok: true });
  });
});

test("A3: a server answers a call with a list of many distinct objects", async () => {
  const inputSchema = {
    type: "object",
    properties: { rows: { type: "array", uniqueItems: true, items: { type: "object" } } },
  } satisfies Schema;
  const server = createServer({ name: "rows", version: "1.0.0" });
  server.tool("count", { inputSchema }, ({ rows }) => String((rows as unknown[]).length));
  await using client = await connect(server);
  const rows = list(20_000, (index) => ({ index }));
  expect(await client.tools.call("count", { rows })).toMatchObject({ content: [{ text: "20000" }] });
});
