import { Validator } from "@cfworker/json-schema";
import { compile, SchemaError } from "@parlance/mcp/schema";
import fc from "fast-check";
import { expect, test } from "vitest";

const names = ["a", "b", "__proto__", "toString"];
const name = fc.constantFrom(...names);
const scalar = fc.constantFrom<unknown>(null, true, false, 0, -1, 1, 1.5, 2, "", "a", "b", "ab", "😀", "😀a");

function membersOf<T>(values: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(name, values), { maxLength: 3 }).map((members) => Object.fromEntries(members));
}

const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    membersOf(tie("value")),
  ),
}));

const type = fc.constantFrom("null", "boolean", "object", "array", "number", "integer", "string");
const count = fc.integer({ min: 0, max: 3 });
const limit = fc.constantFrom(-1, 0, 1, 1.5, 2);

/** Any schema of the keywords that are chosen here; small, so that values often fit. */
function schemasOf(
  keywords: (inner: fc.Arbitrary<unknown>) => Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<unknown> {
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
    const some = keywords(tie("schema"));
    const keyword = fc
      .constantFrom(...Object.keys(some))
      .chain((key) => fc.tuple(fc.constant(key), some[key] ?? fc.constant(true)));
    return {
      schema: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.boolean(),
        fc.array(keyword, { maxLength: 3 }).map((members) => Object.fromEntries(members)),
      ),
    };
  });
  return schema;
}

const plain = (inner: fc.Arbitrary<unknown>): Readonly<Record<string, fc.Arbitrary<unknown>>> => ({
  type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
  const: scalar,
  enum: fc.array(scalar, { minLength: 1, maxLength: 4 }),
  properties: membersOf(inner),
  required: fc.uniqueArray(name, { maxLength: 2 }),
  additionalProperties: inner,
  items: inner,
  minItems: count,
  maxItems: count,
  uniqueItems: fc.boolean(),
  minimum: limit,
  maximum: limit,
  exclusiveMinimum: limit,
  exclusiveMaximum: limit,
  minLength: count,
  maxLength: count,
});

const rich = (inner: fc.Arbitrary<unknown>): Readonly<Record<string, fc.Arbitrary<unknown>>> => ({
  ...plain(inner),
  const: values,
  enum: fc.array(values, { minLength: 1, maxLength: 4 }),
  allOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
  anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
  oneOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
  not: inner,
  if: inner,
  // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema
  then: inner,
  else: inner,
  patternProperties: inner.map((schema) => ({ "^[ab_]": schema })),
  unevaluatedProperties: inner,
  propertyNames: inner,
  minProperties: count,
  maxProperties: count,
  dependentRequired: fc.constant({ a: ["b"] }),
  dependentSchemas: inner.map((schema) => ({ a: schema })),
  prefixItems: fc.array(inner, { minLength: 1, maxLength: 2 }),
  unevaluatedItems: inner,
  contains: inner,
  minContains: count,
  maxContains: count,
  multipleOf: fc.constantFrom(0.5, 1, 2),
  pattern: fc.constantFrom("^a", "b$", "^.{0,2}$"),
});

/** The library by itself, without anything of ours before it or around it. */
function libraryAccepts(schema: object, value: unknown): boolean {
  return new Validator(structuredClone(schema), "2020-12", false).validate(value).valid;
}

test.each([
  ["plain", plain],
  ["rich", rich],
])("a %s schema accepts what the library by itself accepts, and has a fault for everything else", (_, keywords) => {
  const document = fc.oneof(
    schemasOf(keywords),
    fc.constant({ $ref: "#/$defs/a", $defs: { a: { items: { $ref: "#" } } } }),
  );
  fc.assert(
    fc.property(document, fc.array(values, { minLength: 1, maxLength: 8 }), (schema, candidates) => {
      if (typeof schema !== "object" || schema === null) return;
      const { check } = compile(schema as Record<string, unknown>);
      for (const value of candidates) {
        const checked = check(value);
        expect(checked).toMatchObject({ ok: libraryAccepts(schema, value) });
        if ("ok" in checked && !checked.ok) expect(checked.errors.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: 1_500 },
  );
});

test("any JSON as a peer's schema is compiled or refused, and checks any value without a throw", () => {
  const keys = [
    "type",
    "$ref",
    "$id",
    "$anchor",
    "$defs",
    "properties",
    "items",
    "allOf",
    "not",
    "enum",
    "required",
    "pattern",
    "patternProperties",
    "$dynamicRef",
    "dependencies",
    "__proto__",
    "uniqueItems",
    "format",
  ];
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.constantFrom("#", "#/allOf/0", "#a", "string", "object", "https://x.example", "toString", "\ud800", "^(a+)+$"),
      fc.array(tie("json"), { maxLength: 3 }),
      fc
        .array(fc.tuple(fc.constantFrom(...keys), tie("json")), { maxLength: 3 })
        .map((members) => Object.fromEntries(members)),
    ),
  }));
  const schemas = json.filter((schema) => typeof schema === "object" && schema !== null && !Array.isArray(schema));
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      try {
        // Filtered to be an object above.
        expect(
          compile(schema as Record<string, unknown>, { trust: "peer", formats: "assert" }).check(value),
        ).toHaveProperty("ok");
      } catch (error) {
        expect(error).toBeInstanceOf(SchemaError);
      }
    }),
    { numRuns: 5_000 },
  );
});
