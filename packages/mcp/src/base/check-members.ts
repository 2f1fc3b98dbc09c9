import { didYouMean } from "./did-you-mean.js";
import { isObject, kindOf } from "./json.js";

/**
 * The members that an object may have. For each of them: other names by which people look for it, or the table of the
 * object (or of the items of the array) that it holds.
 */
export interface MemberTable {
  readonly [name: string]: readonly string[] | MemberTable;
}

/** The table of the members of `T`. It does not compile when `T` has a member that the table lacks, or the reverse. */
export type MembersOf<T> = { readonly [Name in keyof T]-?: readonly string[] | MemberTable };

/**
 * Refuses a member that nothing reads: a misspelled option would be ignored in silence. A member that is undefined was not
 * given. An instance of a class is not looked into: an `Exchange` may be passed on as the options of a call, say, and has
 * members of its own.
 *
 * @param subject names the object in the message, e.g. `connect` or `Tool add`
 * @param notes what to say of names that belong somewhere else
 * @throws TypeError with the member that was probably meant
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
    if (Array.isArray(entry)) continue; // First, because nearly every member is one, and options of calls are checked too.
    const value = given[name];
    if (Object.hasOwn(table, name) && isTable(entry)) checkInner(`${subject}: ${name}`, value, entry);
    else if (value !== undefined) throw unknownMember(subject, name, table, notes);
  }
}

function isInstance(given: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype !== Object.prototype && prototype !== null;
}

/** The value of a member that has a table. One that may also be something else, e.g. false or a function, is left to its reader. */
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
 * @param remedy how to give it
 * @throws TypeError for what is no function
 */
export function requireFunction(subject: string, value: unknown, remedy: string): void {
  if (typeof value === "function") return;
  throw new TypeError(`${subject}: expected a function, got ${kindOf(value)}: ${remedy}`);
}
