import { isObject, kindOf } from "../../base/json.js";

/** The required form of a keyword's argument. */
export type Form =
  | "schema"
  | "schemas"
  | "schema-map"
  | "declarations"
  | "number"
  | "divisor"
  | "count"
  | "boolean"
  | "string"
  | "pattern"
  | "reference"
  | "names"
  | "name-lists"
  | "dependencies"
  | "types"
  | "values"
  | "any";

/**
 * The keywords that affect validity. Every other keyword is an annotation.
 * https://json-schema.org/draft/2020-12/json-schema-validation
 */
export const keywords: ReadonlyMap<string, Form> = new Map<string, Form>([
  ["$ref", "reference"],
  ["$dynamicRef", "reference"],
  ["$defs", "declarations"],
  ["definitions", "declarations"],
  ["type", "types"],
  ["const", "any"],
  ["enum", "values"],
  ["allOf", "schemas"],
  ["anyOf", "schemas"],
  ["oneOf", "schemas"],
  ["not", "schema"],
  ["if", "schema"],
  ["then", "schema"],
  ["else", "schema"],
  ["properties", "schema-map"],
  ["patternProperties", "schema-map"],
  ["additionalProperties", "schema"],
  ["unevaluatedProperties", "schema"],
  ["propertyNames", "schema"],
  ["required", "names"],
  ["minProperties", "count"],
  ["maxProperties", "count"],
  ["dependentRequired", "name-lists"],
  ["dependentSchemas", "schema-map"],
  ["dependencies", "dependencies"],
  ["prefixItems", "schemas"],
  ["items", "schema"],
  ["additionalItems", "schema"],
  ["unevaluatedItems", "schema"],
  ["contains", "schema"],
  ["minContains", "count"],
  ["maxContains", "count"],
  ["minItems", "count"],
  ["maxItems", "count"],
  ["uniqueItems", "boolean"],
  ["minimum", "number"],
  ["maximum", "number"],
  ["exclusiveMinimum", "number"],
  ["exclusiveMaximum", "number"],
  ["multipleOf", "divisor"],
  ["minLength", "count"],
  ["maxLength", "count"],
  ["pattern", "pattern"],
  ["format", "string"],
]);

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

const types: ReadonlySet<unknown> = new Set(["null", "boolean", "object", "array", "number", "integer", "string"]);

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
