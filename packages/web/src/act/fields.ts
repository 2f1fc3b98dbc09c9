import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { isObject } from "@parlance/mcp/protocol";

type Schema = Readonly<Record<string, unknown>>;

/** A text in a field that is not a value of its type, so that the form cannot be sent. */
export class Unreadable {
  readonly text: string;
  readonly says: string;

  constructor(text: string, says: string) {
    this.text = text;
    this.says = says;
  }
}

/** Whether a value is an object of a form, and not an exact number or an unreadable text. */
export function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !(value instanceof Unreadable) && !(value instanceof ExactNumber);
}

/** A member of an object in a form. */
export interface Member {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** The kind of field in which a value is entered. */
export type Field =
  | { readonly kind: "text" | "number" | "integer" | "boolean" | "json" }
  | { readonly kind: "choice"; readonly choices: readonly unknown[] }
  | { readonly kind: "list"; readonly items: Schema }
  | { readonly kind: "group"; readonly members: readonly Member[] };

/** The maximum number of references that are followed in a chain. */
const mostReferences = 16;

/** The target of a schema's reference within the document; the schema itself without a reference. */
export function resolved(schema: Schema, root: Schema): Schema {
  let found = schema;
  for (let step = 0; step < mostReferences && typeof found.$ref === "string"; step += 1) {
    const { $ref: reference, ...others } = found;
    const target = reference.startsWith("#") ? at(root, decodeURIComponent(reference.slice(1))) : undefined;
    if (!isObject(target)) return others;
    found = { ...target, ...others };
  }
  const [only, ...more] = alternatives(found);
  return isObject(only) && more.length === 0 ? { ...found, anyOf: undefined, ...resolved(only, root) } : found;
}

/** The alternatives of a schema, without `null`: libraries express optional values in this way. */
function alternatives({ anyOf, type }: Schema): readonly unknown[] {
  if (Array.isArray(anyOf)) return anyOf.filter((each) => !isObject(each) || each.type !== "null");
  return Array.isArray(type) ? type.flatMap((each) => (each === "null" ? [] : [{ type: each }])) : [];
}

function at(root: Schema, pointer: string): unknown {
  let value: unknown = root;
  for (const token of pointer.split("/").slice(1)) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

const kinds = {
  string: { kind: "text" },
  number: { kind: "number" },
  integer: { kind: "integer" },
  boolean: { kind: "boolean" },
} as const;

/** The field for a resolved schema; a JSON field if no other kind fits. */
export function fieldOf(schema: Schema): Field {
  const { type, enum: choices, items, properties } = schema;
  if (Array.isArray(choices) && choices.length > 0) return { kind: "choice", choices };
  if ("const" in schema) return { kind: "choice", choices: [schema.const] };
  if (["oneOf", "anyOf", "allOf", "not", "if"].some((keyword) => schema[keyword] !== undefined))
    return { kind: "json" };
  if (type === "array") return isObject(items) ? { kind: "list", items } : { kind: "json" };
  if (type === "object") return isObject(properties) ? { kind: "group", members: membersOf(schema) } : { kind: "json" };
  return Object.entries(kinds).find(([name]) => name === type)?.[1] ?? { kind: "json" };
}

/** The members of an object, required ones first. */
export function membersOf({ properties, required }: Schema): readonly Member[] {
  if (!isObject(properties)) return [];
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.entries(properties)
    .map(([name, schema]) => ({ name, schema: isObject(schema) ? schema : {}, isRequired: needed.has(name) }))
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/** The initial value of a field: its default, or the minimal value if it is required. */
export function startOf(schema: Schema, root: Schema, isRequired: boolean, depth = 0): unknown {
  const known = resolved(schema, root);
  if (known.default !== undefined) return known.default;
  if (!isRequired || depth > mostReferences) return undefined;
  const field = fieldOf(known);
  if (field.kind === "boolean") return false;
  if (field.kind === "choice") return field.choices[0];
  if (field.kind === "list") return [];
  return field.kind === "group" ? startOfMembers(field.members, root, depth + 1) : undefined;
}

/** The initial values of the members of an object. */
export function startOfMembers(members: readonly Member[], root: Schema, depth = 0): object {
  return objectOf(members.map(({ name, schema, isRequired }) => [name, startOf(schema, root, isRequired, depth)]));
}

/** An object from the entries that have a value. */
export function objectOf(entries: readonly (readonly [name: string, value: unknown])[]): object {
  // `fromEntries` defines members, so that `__proto__` is an ordinary name.
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The value of an entered text. An empty text is left out; a number that a double would change is kept exact. */
export function readText(kind: "number" | "integer" | "json", text: string): unknown {
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = ExactNumber.parse(text);
  } catch (error) {
    return new Unreadable(text, kind === "json" ? `not JSON: ${String(error).replace(/^.*?: /, "")}` : "not a number");
  }
  if (kind === "json") return value;
  if (typeof value !== "number" && !(value instanceof ExactNumber)) return new Unreadable(text, "not a number");
  return kind === "integer" && !isWhole(String(value)) ? new Unreadable(text, "not a whole number") : value;
}

/** Whether a literal is a whole number, such as `1.0`. A double beyond 2^53 has no fraction. */
function isWhole(literal: string): boolean {
  return Number.isInteger(Number(literal)) && !/\.\d*[1-9]\d*$/.test(literal.trim());
}

/** The first unreadable text in a value. */
export function unreadableIn(value: unknown): Unreadable | undefined {
  if (value instanceof Unreadable) return value;
  if (typeof value !== "object" || value === null) return undefined;
  for (const each of Object.values(value)) {
    const found = unreadableIn(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
