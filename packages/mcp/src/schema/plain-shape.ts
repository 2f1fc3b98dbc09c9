import { isObject } from "../base/json.js";
import type { NormalSchema } from "./normal-form.js";

/** True: the value is valid, for certain. False: it is not, or only the validator can tell. */
type Accept = (value: unknown) => boolean;

/** Says for one keyword with its argument what it accepts; undefined where it is not that simple. */
type Reading = (argument: unknown, schema: NormalSchema) => Accept | undefined;

/**
 * A quick check for the shapes that most tools have: objects and arrays of plain values. What it accepts is valid;
 * what it does not accept, or a schema it does not understand (undefined), is left to the validator, which also finds
 * the words for what is wrong. Its time grows with the value alone.
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
  if (accepts.length === 2) return (value) => first(value) && second(value);
  return (value) => accepts.every((accept) => accept(value));
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
  // What is additional depends on the properties: where there are any, they are read together.
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
  // A character takes one or two units of a string: between the two only counting would tell.
  ["minLength", (min) => (value) => typeof value !== "string" || value.length >= 2 * (min as number) - 1],
  ["maxLength", (max) => (value) => typeof value !== "string" || value.length <= (max as number)],
]);

/** What the argument of `type` accepts. */
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
  return (value) => !isObject(value) || required.every((name) => Object.hasOwn(value, name));
}

function readItems(schema: unknown): Accept | undefined {
  const item = plainShape(schema);
  return item && ((value) => !Array.isArray(value) || value.every(item));
}

/** Items that a set can take: numbers can be chosen so that their hashes collide, and then each is compared with each. */
const mostInSet = 1_000;

/** True for a short array of plain values without a repetition, and for what is no array. */
function isDistinct(value: unknown): boolean {
  if (!Array.isArray(value)) return true;
  if (value.length > mostInSet) return false;
  const plain = value.every((item) => typeof item !== "object" || item === null);
  return plain && new Set(value).size === value.length;
}

/** True for what can be in JSON at all, as far as a look from outside tells. */
function isJson(value: unknown): boolean {
  const kind = typeof value;
  return kind === "object" || kind === "string" || kind === "number" || kind === "boolean";
}
