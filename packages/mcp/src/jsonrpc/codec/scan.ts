// Reading a member's text out of JSON that `JSON.parse` has accepted, or out of the beginning of one that was cut off.
// `JSON.parse` tells neither literals nor positions; an id that a double cannot hold is looked up here, on demand.

import { isObject, parseJson, pointerToken } from "../../base/json.js";

// The characters of the structure of a JSON text, as `charCodeAt` returns them.
const backslash = 0x5c;
export const closeBrace = 0x7d;
export const closeBracket = 0x5d;
const colon = 0x3a;
export const comma = 0x2c;
export const openBrace = 0x7b;
export const openBracket = 0x5b;
export const quote = 0x22;

/** Raw texts of the top-level members of an object; of a duplicate key the last, as `JSON.parse` has it. */
export type MemberTexts = Map<string, string>;

/** The members of the object that `text` holds. Of a text that was cut off: the whole members before the cut. */
export function membersOf(text: string): MemberTexts {
  return membersFrom(text, skipSpace(text, text.charCodeAt(0) === 0xfeff ? 1 : 0));
}

/** The same for each element of the array that `text` holds; an element that is no object has no members. */
export function membersOfElements(text: string): MemberTexts[] {
  return Array.from(elementsAt(text, skipSpace(text, 0)), (at) => membersFrom(text, at));
}

function membersFrom(text: string, start: number): MemberTexts {
  const members: MemberTexts = new Map();
  for (const { name, from, end } of membersAt(text, start)) members.set(name, end < 0 ? "" : text.slice(from, end));
  return members;
}

/** A member of an object: its name, where its value begins, and the position behind that, or −1 if the value is not whole. */
interface Member {
  readonly name: string;
  readonly from: number;
  readonly end: number;
}

/** The members of the object whose brace is at `start`, in order; none if there is no brace. */
function* membersAt(text: string, start: number): Generator<Member> {
  if (text.charCodeAt(start) !== openBrace) return;
  let at = skipSpace(text, start + 1);
  while (text.charCodeAt(at) === quote) {
    const nameEnd = skipString(text, at);
    if (nameEnd < 0) return;
    const colonAt = skipSpace(text, nameEnd);
    if (text.charCodeAt(colonAt) !== colon) return;
    const literal = text.slice(at + 1, nameEnd - 1);
    // A cut-off text need not be JSON.
    const name = literal.includes("\\") ? parseJson(`"${literal}"`) : literal;
    const from = skipSpace(text, colonAt + 1);
    const end = skipValue(text, from);
    if (typeof name === "string") yield { name, from, end };
    if (end < 0) return;
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== comma) return;
    at = skipSpace(text, at + 1);
  }
}

/** The positions of the elements of the array whose bracket is at `start`, in order. */
function* elementsAt(text: string, start: number): Generator<number> {
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== closeBracket) {
    yield at;
    const end = skipValue(text, at);
    if (end <= at) return; // It is not whole, or there is none.
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === comma) at = skipSpace(text, at + 1);
  }
}

/** Members whose value is looked into for members of its own that stand there twice. */
interface Nested {
  readonly [name: string]: Nested;
}

/** The members of a message that are read by name: its envelope, its params, and in them what headers and gateways repeat. */
const readByName: Nested = { params: { _meta: {}, arguments: {} } };

/**
 * A JSON pointer to a member of a message that stands there twice, or undefined. Parsers differ in which of the two they take,
 * so that one that has judged a message may have seen another one than it lets through.
 * https://www.rfc-editor.org/rfc/rfc7493#section-2.3
 *
 * @param text of a message or a batch that `JSON.parse` has accepted
 * @param parsed what it made of the text, for a quick answer
 */
export function duplicateMemberIn(text: string, parsed?: unknown): string | undefined {
  // `JSON.parse` keeps one member of a name: if all are kept, none is a duplicate. Each member has a colon after a quote or white
  // space; in strings there may be more of them.
  let colons = 0;
  for (let at = text.indexOf(":"); at > 0; at = text.indexOf(":", at + 1))
    if (text.charCodeAt(at - 1) <= quote) colons += 1;
  if (isObject(parsed) && membersIn(parsed) === colons) return undefined;
  const start = skipSpace(text, 0);
  if (text.charCodeAt(start) !== openBracket) return duplicateAt(text, start, readByName, "");
  const messages = [...elementsAt(text, start)];
  return messages
    .map((at, index) => duplicateAt(text, at, readByName, `/${index}`))
    .find((found) => found !== undefined);
}

/** A JSON pointer to a member that occurs twice in the object whose brace is at `start`, or in one of its `nested` members. */
function duplicateAt(text: string, start: number, nested: Nested, pointer: string): string | undefined {
  const names = new Set<string>();
  for (const { name, from } of membersAt(text, start)) {
    if (names.has(name)) return `${pointer}/${pointerToken(name)}`;
    names.add(name);
    const inner = Object.hasOwn(nested, name) ? nested[name] : undefined;
    // The names that are looked into need no escapes in a pointer.
    const found = inner && duplicateAt(text, from, inner, `${pointer}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The number of members of parsed objects, at any depth. An instance of a class, such as an `ExactNumber`, has none. */
function membersIn(value: object): number {
  let members = 0;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === "object" && element !== null) members += membersIn(element);
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    const named = value as Readonly<Record<string, unknown>>;
    // `for in` is twice as fast as `Object.values`. Inherited members, if an application adds any, only cause a search.
    for (const name in named) {
      members += 1;
      const member = named[name];
      if (typeof member === "object" && member !== null) members += membersIn(member);
    }
  }
  return members;
}

/** The position behind the value at `at`, or −1 if it is not whole. */
function skipValue(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === quote) return skipString(text, at);
  if (code === openBrace || code === openBracket) return skipNested(text, at);
  let end = at;
  while (end < text.length && !endsLiteral(text.charCodeAt(end))) end += 1;
  return end === text.length ? -1 : end;
}

function endsLiteral(code: number): boolean {
  return code === comma || code === closeBrace || code === closeBracket || code <= 0x20;
}

function skipNested(text: string, at: number): number {
  let depth = 0;
  for (let index = at; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      const end = skipString(text, index);
      if (end < 0) return -1;
      index = end - 1;
    } else if (code === openBrace || code === openBracket) {
      depth += 1;
    } else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return -1;
}

/** The position behind the string whose quote is at `at`, or −1 if it does not end. */
export function skipString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? -1 : end + 1;
}

/** True if an odd number of backslashes stands before `at`. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before -= 1;
  return (at - before) % 2 === 0;
}

function skipSpace(text: string, at: number): number {
  let index = at;
  while (index < text.length && text.charCodeAt(index) <= 0x20) index += 1;
  return index;
}

// `JSON.parse` returns doubles. To keep the literal of a number, it gets a string with a random mark in front. The mark is new each
// time, so no string of a peer can begin with it.

/** A string, or the literal of a number. */
const tokens = /"|-?\d[\d.eE+-]*/g;

/** The text with each number that a double would change as a string with the result of `draw` in front; undefined if there is none. */
function marked(text: string, draw: () => string): string | undefined {
  const parts: string[] = [];
  let from = 0;
  tokens.lastIndex = 0;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [literal] = found;
    if (literal === '"') {
      tokens.lastIndex = skipString(text, found.index);
    } else if (String(Number(literal)) !== literal) {
      parts.push(text.slice(from, found.index), `"${draw()}${literal}"`);
      from = found.index + literal.length;
    }
  }
  return parts.length === 0 ? undefined : parts.join("") + text.slice(from);
}

/** The value of a JSON text, with `keep(literal)` for each number that a double would change; undefined if there is none. */
export function parseExactly(text: string, keep: (literal: string) => unknown): unknown {
  let drawn = "";
  const passed = marked(text, () => {
    drawn ||= crypto.randomUUID();
    return drawn;
  });
  if (passed === undefined) return undefined;
  return JSON.parse(passed, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(drawn) ? keep(value.slice(drawn.length)) : value,
  );
}
