import { isObject, type JsonObject } from "../../base/json.js";
import type { Limits } from "../limits.js";
import { closeBrace, closeBracket, comma, openBrace, openBracket, quote } from "./characters.js";
import { skipString } from "./scan.js";

/**
 * The bound that a frame breaks, as a sentence, or undefined: what is looked at before `JSON.parse`.
 *
 * An exact scan in JavaScript costs a quarter of the parse and more. So it runs only where parsing itself would hurt: in
 * frames with more brackets, or of a size for millions of keys with more commas, than values are allowed. Any other
 * frame is cheap to parse whatever its shape, and `brokenBoundOf` judges it afterwards, before anybody sees it.
 */
export function brokenBoundIn(text: string, limits: Limits): string | undefined {
  if (text.length > limits.frameBytes) return tooLong(text, limits);
  const mayNest = text.length >= 2 * limits.nodes && !hasAtMost(text, ["{", "["], limits.nodes);
  const mayCount = text.length >= 10 * limits.nodes && !hasAtMost(text, [","], limits.nodes);
  return mayNest || mayCount ? brokenBound(text, limits) : undefined;
}

/** The same of a frame that is parsed: the exact bounds, for all that the text is long enough to break. */
export function brokenBoundOf(value: unknown, text: string, limits: Limits): string | undefined {
  // One level needs two characters, one member four; few brackets cannot nest deep.
  const mayNest = text.length > 2 * limits.depth && !hasAtMost(text, ["{", "["], limits.depth);
  const mayCount = text.length >= 4 * limits.keys || text.length >= 2 * limits.nodes;
  if (typeof value !== "object" || value === null || !(mayNest || mayCount)) return undefined;
  return limits.depth > deepestWalk ? scanBounds(text, limits) : measure(value, 1, { limits, nodes: 1 });
}

/** Levels that a recursion surely has room for. Where more are allowed, the text is scanned instead. */
const deepestWalk = 500;

function tooLong(text: string, limits: Limits): string {
  return `frame of ${text.length} characters, at most ${limits.frameBytes} bytes are accepted`;
}

function hasAtMost(text: string, characters: readonly string[], most: number): boolean {
  let left = most;
  for (const character of characters) {
    for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) {
      left -= 1;
      if (left < 0) return false;
    }
  }
  return true;
}

/** Stands in a list of a result for an element that breaks a bound; see `CallOptions.partial`. */
export class OutOfBounds {
  /** The bound, as a sentence. */
  readonly reason: string;
  /** The members of the element that are neither objects nor arrays: what it is called, mostly. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(reason: string, element: object) {
    this.reason = reason;
    this.members = Object.fromEntries(
      Object.entries(element)
        .slice(0, mostScalars)
        .filter(([, value]) => typeof value !== "object"),
    );
  }
}

const mostScalars = 100;

/**
 * The result of a response, with an `OutOfBounds` for each element of its lists that breaks a bound by itself. Undefined for what
 * is no such response, or breaks a bound all the same.
 */
export function withinBounds(parsed: unknown, limits: Limits): JsonObject | undefined {
  if (!isObject(parsed) || parsed.jsonrpc !== "2.0" || !isObject(parsed.result) || parsed.error !== undefined)
    return undefined;
  const bounded = (element: unknown): unknown => {
    if (typeof element !== "object" || element === null) return element;
    const reason = measure(element, elementDepth, { limits, nodes: 1 });
    return reason === undefined ? element : new OutOfBounds(reason, element);
  };
  const members = Object.entries(parsed.result).map(([name, member]) => [
    name,
    Array.isArray(member) ? member.map(bounded) : member,
  ]);
  const result: JsonObject = Object.fromEntries(members);
  return measure({ ...parsed, result }, 1, { limits, nodes: 1 }) === undefined ? result : undefined;
}

/** The level of an element of a list: in an array, in the result, in the message. */
const elementDepth = 4;

interface Tally {
  readonly limits: Limits;
  nodes: number;
}

/**
 * Goes no deeper than the bound, so the depth of a value cannot exhaust the stack. Counting loops and no iterators: this
 * sees every value of a large frame, and has to cost little next to the parser that made them.
 */
function measure(container: object, depth: number, tally: Tally): string | undefined {
  if (depth > tally.limits.depth) return `nested deeper than ${tally.limits.depth} levels`;
  return Array.isArray(container) ? measureArray(container, depth, tally) : measureObject(container, depth, tally);
}

function measureArray(elements: readonly unknown[], depth: number, tally: Tally): string | undefined {
  tally.nodes += elements.length;
  if (tally.nodes > tally.limits.nodes) return `more than ${tally.limits.nodes} values`;
  for (let index = 0; index < elements.length; index += 1) {
    const element = elements[index];
    const broken = typeof element === "object" && element !== null ? measure(element, depth + 1, tally) : undefined;
    if (broken !== undefined) return broken;
  }
  return undefined;
}

function measureObject(object: object, depth: number, tally: Tally): string | undefined {
  const { keys, nodes } = tally.limits;
  const members = object as Readonly<Record<string, unknown>>;
  let count = 0;
  // Parsed objects inherit nothing that is enumerable.
  for (const key in members) {
    count += 1;
    const member = members[key];
    const broken = typeof member === "object" && member !== null ? measure(member, depth + 1, tally) : undefined;
    if (broken !== undefined) return broken;
  }
  if (count > keys) return `an object with ${count} members, at most ${keys} are accepted`;
  tally.nodes += count;
  return tally.nodes > nodes ? `more than ${nodes} values` : undefined;
}

/** The bound that a text breaks, by one pass over its structure. */
export function brokenBound(text: string, limits: Limits): string | undefined {
  return text.length > limits.frameBytes ? tooLong(text, limits) : scanBounds(text, limits);
}

/** One pass over the structure; strings are skipped by native search. A text that is no JSON is left to the parser. */
function scanBounds(text: string, limits: Limits): string | undefined {
  const members: number[] = [];
  let nodes = 1;
  let afterOpener = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 0x20) continue;
    const closes = code === closeBrace || code === closeBracket;
    if (code === comma || (afterOpener && !closes)) {
      nodes += 1;
      const top = members.length - 1;
      members[top] = (members[top] ?? 0) + 1;
    }
    afterOpener = false;
    if (code === quote) {
      const end = skipString(text, at);
      if (end < 0) return undefined;
      at = end - 1;
    } else if (code === openBrace || code === openBracket) {
      if (members.push(0) > limits.depth) return `nested deeper than ${limits.depth} levels`;
      afterOpener = true;
    } else if (closes) {
      const count = members.pop() ?? 0;
      if (code === closeBrace && count > limits.keys)
        return `an object with ${count} members, at most ${limits.keys} are accepted`;
    }
    if (nodes > limits.nodes) return `more than ${limits.nodes} values`;
  }
  return undefined;
}
