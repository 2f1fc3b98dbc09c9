import { didYouMean } from "./did-you-mean.js";
import { isObject, kindOf } from "./json.js";

/**
 * The members that an object may have. For each: other names that users try, or the table of the object (or of the items of the
 * array) in it.
 */
export interface MemberTable {
  readonly [name: string]: readonly string[] | MemberTable;
}

/** The table of the members of `T`. It compiles only if `T` and the table have the same members. */
export type MembersOf<T> = { readonly [Name in keyof T]-?: readonly string[] | MemberTable };

/**
 * Refuses unknown members, because a misspelled option would be ignored silently. An undefined member counts as absent. Instances
 * of classes are not checked: for example, an `Exchange` may be passed as the options of a call, and has members of its own.
 *
 * @param subject names the object in the message, e.g. `connect` or `Tool add`
 * @param notes remarks on names that belong elsewhere
 * @throws TypeError that suggests the probable member
 */
export function checkMembers(
  subject: string,
  given: unknown,
  table: MemberTable,
  notes: Readonly<Record<string, string>> = {},
): void {
  if (given === undefined) return;
  if (!isObject(given)) throw new TypeError(`${subject}: expected an object of options, got ${kindOf(given)}`);
  if (isInstance(given)) return;
  for (const name of Object.keys(given)) {
    const entry = table[name];
    if (Array.isArray(entry)) continue; // Checked first, because nearly every member is one, and options are checked for every call.
    const value = given[name];
    if (Object.hasOwn(table, name) && isTable(entry)) checkInner(`${subject}: ${name}`, value, entry);
    else if (value !== undefined) throw unknownMember(subject, name, table, notes);
  }
}

function isInstance(given: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype !== Object.prototype && prototype !== null;
}

/**
 * Checks the value of a member that has a table, if it is an object or an array. Other values, such as false or a function, are
 * checked where they are used.
 */
function checkInner(subject: string, value: unknown, table: MemberTable): void {
  if (isObject(value)) checkMembers(subject, value, table);
  if (Array.isArray(value)) for (const item of value) checkInner(subject, item, table);
}

function isTable(entry: MemberTable[string] | undefined): entry is MemberTable {
  return entry !== undefined && !Array.isArray(entry);
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
    return Array.isArray(entry) && entry.includes(name);
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
