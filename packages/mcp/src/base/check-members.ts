import { didYouMean } from "./did-you-mean.js";
import { isObject, isPlain, kindOf } from "./json.js";

/** The kinds of values that a member may have; `any`: it is checked where it is used. */
type Kind = "string" | "number" | "boolean" | "function" | "strings" | "array" | "object" | "any";

/** A member: the kind of its value, and other names that users try. */
type Member = readonly [kind: Kind, ...otherNames: string[]];

/** The members that an object may have. For each: its kind and other names, or the table of the object (or of the items of the array) in it. */
export interface MemberTable {
  readonly [name: string]: Member | MemberTable;
}

/** The table of the members of `T`. It compiles only if `T` and the table have the same members, of the same kinds. */
export type MembersOf<T> = {
  readonly [Name in keyof T]-?: readonly [KindOf<T[Name]> | "any", ...string[]] | MemberTable;
};

type KindOf<Value> = unknown extends Value ? "any" : OneOf<KindsOf<Exclude<Value, undefined>>>;

type KindsOf<Value> = Value extends (...args: never) => unknown
  ? "function"
  : Value extends abstract new (
        ...args: never
      ) => unknown
    ? "function"
    : Value extends string
      ? "string"
      : Value extends number
        ? "number"
        : Value extends boolean
          ? "boolean"
          : Value extends readonly string[]
            ? "strings"
            : Value extends readonly unknown[]
              ? "array"
              : Value extends object
                ? "object"
                : "any";

/** The kind itself, or `any` for a member that may be of several. */
type OneOf<Kinds, All = Kinds> = [Kinds] extends [never]
  ? "any"
  : Kinds extends unknown
    ? [All] extends [Kinds]
      ? Kinds
      : "any"
    : never;

/**
 * Refuses unknown members, because a misspelled option would be ignored silently, and values of another kind, which a program in
 * JavaScript may give: environment variables are strings, and "false" is true. An undefined member counts as absent. Instances
 * of classes are not checked: for example, an `Exchange` may be passed as the options of a call, and has members of its own.
 *
 * @param subject names the object in the message, e.g. `connect` or `Tool add`
 * @param notes remarks on names that belong elsewhere
 * @throws TypeError that suggests the probable member, or how to write the value
 */
export function checkMembers(
  subject: string,
  given: unknown,
  table: MemberTable,
  notes: Readonly<Record<string, string>> = {},
): void {
  if (given === undefined) return;
  if (!isObject(given)) throw new TypeError(`${subject}: expected an object of options, got ${kindOf(given)}`);
  if (!isPlain(given)) return;
  for (const name of Object.keys(given)) {
    const entry = table[name];
    const value = given[name];
    if (value === undefined) continue;
    // Checked first, because nearly every member is one, and options are checked for every call.
    if (isMember(entry)) requireKind(subject, name, entry[0], value);
    else if (Object.hasOwn(table, name) && entry !== undefined) checkInner(`${subject}: ${name}`, value, entry);
    else throw unknownMember(subject, name, table, notes);
  }
}

/** @throws TypeError for a value of another kind, with how to write it */
function requireKind(subject: string, name: string, kind: Kind, value: unknown): void {
  if (!isOfKind(kind, value)) throw otherKind(`${subject}: ${name}`, kind, value);
}

function isOfKind(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case "any":
      return true;
    case "number":
      return typeof value === "number" && !Number.isNaN(value);
    case "strings":
      return Array.isArray(value) && value.every((each) => typeof each === "string");
    case "array":
      return Array.isArray(value);
    case "object": // Schemas of some libraries are functions.
      return isObject(value) || typeof value === "function";
    default:
      return typeof value === kind;
  }
}

function otherKind(subject: string, kind: Kind, value: unknown): TypeError {
  const expected = kind === "strings" ? "an array of strings" : `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
  return new TypeError(`${subject}: expected ${expected}, got ${gotOf(value)}${remedyOf(kind, value)}`);
}

function gotOf(value: unknown): string {
  if (Array.isArray(value)) {
    const odd: unknown = value.find((each) => typeof each !== "string");
    return `an array${value.length === 0 ? "" : ` with ${odd === undefined ? "undefined" : kindOf(odd)}`}`;
  }
  return Number.isNaN(value) ? "NaN" : typeof value === "string" ? shortened(value) : kindOf(value);
}

function shortened(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 40)}…`);
}

/** The usual mistakes are the text of an environment variable, and null for nothing. */
function remedyOf(kind: Kind, value: unknown): string {
  if (value === null) return ": leave it out, or write undefined";
  if (Array.isArray(value) && value.includes(undefined)) return ": is the environment variable set?";
  if (typeof value !== "string") return "";
  if (kind === "strings") return `: write [${shortened(value)}]`;
  if (kind === "boolean") return ': a text is always true, so write value === "true"';
  return kind === "number" ? ": write Number(value)" : "";
}

/** Checks the value of a member that has a table. False is checked where it is used. */
function checkInner(subject: string, value: unknown, table: MemberTable): void {
  if (value !== false && !isObject(value) && !Array.isArray(value)) throw otherKind(subject, "object", value);
  if (isObject(value)) checkMembers(subject, value, table);
  if (Array.isArray(value)) for (const item of value) checkInner(subject, item, table);
}

function isMember(entry: Member | MemberTable | undefined): entry is Member {
  return Array.isArray(entry);
}

function unknownMember(
  subject: string,
  name: string,
  table: MemberTable,
  notes: Readonly<Record<string, string>>,
): TypeError {
  const names = Object.keys(table);
  const meant = names.find((each) => {
    const entry = table[each];
    return isMember(entry) && entry.indexOf(name, 1) > 0;
  });
  const remedy = Object.hasOwn(notes, name)
    ? notes[name]
    : meant === undefined
      ? (didYouMean(name, names) ?? `it may have ${names.join(", ")}`)
      : `did you mean ${meant}?`;
  return new TypeError(`${subject}: unknown member ${JSON.stringify(name)}: ${remedy}`);
}

/**
 * @param remedy how to pass it
 * @throws TypeError if the value is not a function
 */
export function requireFunction(subject: string, value: unknown, remedy: string): void {
  if (typeof value === "function") return;
  throw new TypeError(`${subject}: expected a function, got ${kindOf(value)}: ${remedy}`);
}

/**
 * @param remedy how to pass it
 * @throws TypeError if the value is not a string, e.g. an object in the place of a name, as other libraries have it
 */
export function requireString(subject: string, value: unknown, remedy: string): asserts value is string {
  if (typeof value !== "string") throw new TypeError(`${subject} must be a string, got ${kindOf(value)}: ${remedy}`);
}

/** @throws RangeError if the value is not a whole number above zero */
export function requireCount(subject: string, value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new RangeError(`${subject} must be a whole number above zero, got ${value}`);
}
