import { isObject, type JsonObject, kindOf, typeTests } from "../../base/json.js";

/**
 * A schema in the form that validators receive: JSON Schema 2020-12 with only the keywords that affect validity, each
 * with an argument of the right type. Objects are as `JSON.parse` returns them. Each `$ref` is `"#"` or
 * `"#/$defs/<number>"`; `$id`, `$anchor` and `$dynamicRef` are resolved and removed.
 */
export type NormalSchema = Keywords & JsonObject;

/** A schema inside a normal form. */
export type NormalSubschema = NormalSchema | boolean;

export type ByName<T> = Readonly<Record<string, T>>;

/** The required forms of the arguments of keywords, each with its type. */
interface Arguments {
  readonly schema: NormalSubschema;
  readonly schemas: readonly NormalSubschema[];
  readonly "schema-map": ByName<NormalSubschema>;
  readonly declarations: ByName<NormalSubschema>;
  readonly number: number;
  readonly divisor: number;
  readonly count: number;
  readonly boolean: boolean;
  readonly string: string;
  readonly pattern: string;
  readonly reference: string;
  readonly names: readonly string[];
  readonly "name-lists": ByName<readonly string[]>;
  readonly dependencies: ByName<NormalSubschema | readonly string[]>;
  readonly types: string | readonly string[];
  readonly values: readonly unknown[];
  readonly any: unknown;
}

/** The required form of a keyword's argument. */
export type Form = keyof Arguments;

/**
 * The keywords that affect validity. Every other keyword is an annotation.
 * https://json-schema.org/draft/2020-12/json-schema-validation
 */
const forms = {
  $ref: "reference",
  $dynamicRef: "reference",
  $defs: "declarations",
  definitions: "declarations",
  type: "types",
  const: "any",
  enum: "values",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
  if: "schema",
  // biome-ignore lint/suspicious/noThenProperty: this is a keyword of JSON Schema
  then: "schema",
  else: "schema",
  properties: "schema-map",
  patternProperties: "schema-map",
  additionalProperties: "schema",
  unevaluatedProperties: "schema",
  propertyNames: "schema",
  required: "names",
  minProperties: "count",
  maxProperties: "count",
  dependentRequired: "name-lists",
  dependentSchemas: "schema-map",
  dependencies: "dependencies",
  prefixItems: "schemas",
  items: "schema",
  additionalItems: "schema",
  unevaluatedItems: "schema",
  contains: "schema",
  minContains: "count",
  maxContains: "count",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "boolean",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "divisor",
  minLength: "count",
  maxLength: "count",
  pattern: "pattern",
  format: "string",
} as const;

export const keywords: ReadonlyMap<string, Form> = new Map(Object.entries(forms));

/** The arguments of the keywords of a schema; `argumentProblem` has checked their types. A normal form has no keywords of draft-07 alone. */
export type Keywords = { readonly [Name in keyof typeof forms]?: Arguments[(typeof forms)[Name]] };

/**
 * The formats of 2020-12 that are checked, by `@cfworker/json-schema`. It also has a `url` check of exponential time, and would take
 * `toString` for a format.
 */
export const formats: ReadonlySet<string> = new Set([
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
]);

const types: ReadonlySet<unknown> = new Set(Object.keys(typeTests));

const argumentForms: Readonly<Record<Form, readonly [expected: string, fits: (argument: unknown) => boolean]>> = {
  schema: ["a schema (an object or a boolean)", isSchema],
  schemas: ["an array of schemas, not empty", (value) => Array.isArray(value) && value.length > 0],
  "schema-map": ["an object of schemas", isObject],
  declarations: ["an object of schemas", isObject],
  number: ["a number", (value) => typeof value === "number"],
  divisor: ["a number above 0", (value) => typeof value === "number" && value > 0],
  count: ["a whole number, 0 or more", (value) => Number.isInteger(value) && (value as number) >= 0],
  boolean: ["a boolean", (value) => typeof value === "boolean"],
  string: ["a string", (value) => typeof value === "string"],
  pattern: ["a regular expression as a string", (value) => typeof value === "string"],
  reference: ["a URI reference as a string", (value) => typeof value === "string"],
  names: ["an array of strings", isNames],
  "name-lists": ["an object of arrays of strings", (value) => isObject(value) && Object.values(value).every(isNames)],
  dependencies: ["an object of schemas and arrays of strings", isObject],
  types: ["the name of a JSON type, or an array of them", isTypes],
  values: ["an array", Array.isArray],
  any: ["any JSON value", () => true],
};

/** The problem with a keyword's argument; undefined if there is none. Nested subschemas are checked separately. */
export function argumentProblem(form: Form, argument: unknown): string | undefined {
  const [expected, fits] = argumentForms[form];
  return fits(argument) ? undefined : `expected ${expected}, got ${kindOf(argument)}`;
}

function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isObject(value);
}

/** True for an array of strings. */
export function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function isTypes(value: unknown): boolean {
  const names = Array.isArray(value) ? value : [value];
  return names.length > 0 && names.every((name) => types.has(name));
}
