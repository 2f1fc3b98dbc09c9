import { isObject } from "../base/json.js";
import type { NormalSchema } from "./validator/normal-form.js";

/**
 * Returns true if the value is certainly valid. False means that the value is invalid or that only the validator can
 * decide.
 */
type Accept = (value: unknown) => boolean;

/** Compiles one keyword to an `Accept`; undefined if the quick check does not support it. */
type Reading = (argument: unknown, schema: NormalSchema) => Accept | undefined;

/**
 * A quick check for common schemas: objects and arrays of scalars. An accepted value is valid. If the value is not
 * accepted, or the schema is not supported (undefined), the validator decides and writes the message. Runs in time
 * linear in the value.
 */
export function plainShape(schema: unknown): Accept | undefined {
  if (typeof schema === "boolean") return schema ? isJson : () => false;
  const accepts: Accept[] = [];
  for (const keyword of Object.keys(schema as NormalSchema)) {
    const accept = readings.get(keyword)?.((schema as NormalSchema)[keyword], schema as NormalSchema);
    if (accept === undefined) return undefined;
    accepts.push(accept);
  }
  return all(accepts);
}

function all(accepts: readonly Accept[]): Accept {
  const [first, second] = accepts;
  if (first === undefined) return isJson;
  if (second === undefined) return first;
  return (value) => {
    for (const accept of accepts) if (!accept(value)) return false;
    return true;
  };
}

const kinds: Readonly<Record<string, Accept>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  string: (value) => typeof value === "string",
  array: Array.isArray,
  object: isObject,
};

const readings: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ["type", readType],
  ["enum", (values) => readValues(values as readonly unknown[])],
  ["const", (value) => readValues([value])],
  ["properties", readMembers],
  // `properties` handles `additionalProperties` too, because the latter depends on it.
  [
    "additionalProperties",
    (argument, { properties }) =>
      properties === undefined ? readMembers({}, { additionalProperties: argument }) : isJson,
  ],
  ["required", readRequired],
  ["items", readItems],
  ["uniqueItems", (unique) => (unique === true ? isDistinct : isJson)],
  ["minItems", (min) => (value) => !Array.isArray(value) || value.length >= (min as number)],
  ["maxItems", (max) => (value) => !Array.isArray(value) || value.length <= (max as number)],
  ["minimum", (min) => (value) => typeof value !== "number" || value >= (min as number)],
  ["maximum", (max) => (value) => typeof value !== "number" || value <= (max as number)],
  ["exclusiveMinimum", (min) => (value) => typeof value !== "number" || value > (min as number)],
  ["exclusiveMaximum", (max) => (value) => typeof value !== "number" || value < (max as number)],
  // A code point takes one or two UTF-16 units; between the two bounds only counting would decide.
  ["minLength", (min) => (value) => typeof value !== "string" || value.length >= 2 * (min as number) - 1],
  ["maxLength", (max) => (value) => typeof value !== "string" || value.length <= (max as number)],
]);

/** Compiles the argument of `type`. */
export function readType(types: unknown): Accept | undefined {
  if (!Array.isArray(types)) return kinds[types as string];
  const accepts = [...new Set(types as readonly string[])].flatMap((type) => kinds[type] ?? []);
  return (value) => accepts.some((accept) => accept(value));
}

function readValues(values: readonly unknown[]): Accept | undefined {
  const known = new Set(values);
  return values.some((value) => typeof value === "object" && value !== null) ? undefined : (value) => known.has(value);
}

function readMembers(properties: unknown, schema: NormalSchema): Accept | undefined {
  const members = new Map<string, Accept>();
  for (const [name, member] of Object.entries(properties as NormalSchema)) {
    const accept = plainShape(member);
    if (accept === undefined) return undefined;
    members.set(name, accept);
  }
  const additional = plainShape(schema.additionalProperties ?? true);
  if (additional === undefined) return undefined;
  return (value) => {
    if (!isObject(value)) return true;
    for (const name of Object.keys(value)) {
      const accept = members.get(name) ?? additional;
      if (!accept(value[name])) return false;
    }
    return true;
  };
}

function readRequired(names: unknown): Accept {
  const required = names as readonly string[];
  return (value) => {
    if (!isObject(value)) return true;
    for (const name of required) if (!Object.hasOwn(value, name)) return false;
    return true;
  };
}

function readItems(schema: unknown): Accept | undefined {
  const item = plainShape(schema);
  return item && ((value) => !Array.isArray(value) || value.every(item));
}

/** The size limit for a set: a peer can choose numbers with colliding hashes, which makes insertion quadratic. */
const mostInSet = 1_000;

/** True for a short array of distinct scalars, and for values that are not arrays. */
function isDistinct(value: unknown): boolean {
  if (!Array.isArray(value)) return true;
  if (value.length > mostInSet) return false;
  const plain = value.every((item) => typeof item !== "object" || item === null);
  return plain && new Set(value).size === value.length;
}

/** True if the value can be JSON, judged by its type alone. */
function isJson(value: unknown): boolean {
  const kind = typeof value;
  return kind === "object" || kind === "string" || kind === "number" || kind === "boolean";
}
