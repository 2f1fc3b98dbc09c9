import { escapeControls } from "@parlance/mcp/jsonrpc";
import type { FilterFault } from "./filter.js";

/** Whether a character is in the class. */
export type Char = (code: number) => boolean;

/** A regular expression as a tree. */
export type Node =
  | { readonly is: "char"; readonly char: Char }
  | { readonly is: "assert"; readonly assertion: "start" | "end" | "word" | "no-word" }
  | { readonly is: "sequence" | "either"; readonly of: readonly Node[] }
  | { readonly is: "repeat"; readonly node: Node; readonly min: number; readonly max: number };

/** The tree of a regular expression, or why there is none. */
export type ParsedPattern =
  | { readonly ok: true; readonly node: Node }
  | { readonly ok: false; readonly fault: FilterFault };

/** Deeper than any useful expression, and safe for recursive readers. */
const deepest = 64;
/** A bounded repetition is written out. */
const mostTimes = 1_000;

/**
 * Reads a regular expression: all of JavaScript's but what only an engine that backtracks can do, which are references
 * back and looking around.
 */
export function parsePattern(source: string, ignoreCase: boolean): ParsedPattern {
  try {
    return { ok: true, node: new Reader(source, ignoreCase).all() };
  } catch (error) {
    if (error instanceof Unexpected) return { ok: false, fault: error.fault };
    throw error;
  }
}

/** Never leaves this file: it unwinds the scan from any depth. */
class Unexpected extends Error {
  readonly fault: FilterFault;

  constructor(at: number, says: string) {
    super(says);
    this.fault = { at, says };
  }
}

const quantifier = /(?:([*+?])|\{(\d{1,9})(,?)(\d{0,9})\})\??/y;
const assertion = /\^|\$|\\[bB]/y;
const opening = /\((?:\?:|\?<[A-Za-z_]\w*>)?/y;
const bracket = /\[(?:\\(?:u\{[^}]*\}|[\s\S])|[^\]\\])*\]/uy;
const escaped =
  /\\(?:[dDsSwWtnrvf0^$\\.*+?()[\]{}|/"-]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|[pP]\{[\w=]+\})/y;
const plain = /[^\\^$*+?()[\]{}|]/uy;

const assertions = { "^": "start", $: "end", "\\b": "word", "\\B": "no-word" } as const;

class Reader {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;
  #depth = 0;

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source;
    this.#flags = ignoreCase ? "iu" : "u";
  }

  all(): Node {
    const node = this.#either();
    if (this.#at < this.#source.length) throw this.#unexpected();
    return node;
  }

  #either(): Node {
    this.#depth += 1;
    if (this.#depth > deepest) throw new Unexpected(this.#at, `groups have more than ${deepest} levels`);
    const of = [this.#sequence()];
    while (this.#take(/\|/y) !== undefined) of.push(this.#sequence());
    this.#depth -= 1;
    return { is: "either", of };
  }

  #sequence(): Node {
    const of: Node[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source.charAt(this.#at))) {
      const asserted = this.#take(assertion)?.[0] as keyof typeof assertions | undefined; // The pattern has no others.
      if (asserted === undefined) of.push(this.#repeated(this.#term()));
      else of.push({ is: "assert", assertion: assertions[asserted] });
    }
    return { is: "sequence", of };
  }

  #term(): Node {
    const at = this.#at;
    if (this.#source.startsWith("(?", at) && !/^\(\?(?::|<[A-Za-z_])/.test(this.#source.slice(at)))
      throw new Unexpected(at, "a filter cannot look around: leave out (?=…), (?!…) and the like");
    if (this.#take(opening) !== undefined) {
      const node = this.#either();
      if (this.#take(/\)/y) === undefined) throw new Unexpected(at, "the group is not closed");
      return node;
    }
    if (this.#take(/\./y) !== undefined) return { is: "char", char: isNoLineEnd };
    const written = (this.#take(bracket) ?? this.#take(escaped) ?? this.#take(plain))?.[0];
    if (written === undefined) throw this.#unexpected();
    return { is: "char", char: this.#charOf(written, at) };
  }

  /** The runtime tests a class or a character: it knows case and Unicode properties. */
  #charOf(written: string, at: number): Char {
    const one = compiled(written === '\\"' ? '"' : written, this.#flags);
    if (one === undefined) throw new Unexpected(at, notFrom(written));
    return (code) => one.test(String.fromCodePoint(code));
  }

  #repeated(node: Node): Node {
    const at = this.#at;
    const found = this.#take(quantifier);
    if (found === undefined) return node;
    const [, sign, least = "", comma, most = ""] = found;
    if (sign !== undefined)
      return { is: "repeat", node, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Number.POSITIVE_INFINITY };
    const min = Number(least);
    const max = comma === "" ? min : most === "" ? Number.POSITIVE_INFINITY : Number(most);
    if (max < min) throw new Unexpected(at, "the numbers of the repetition are out of order");
    if (min > mostTimes || (max > mostTimes && max < Number.POSITIVE_INFINITY))
      throw new Unexpected(at, `a repetition counts to at most ${mostTimes}`);
    return { is: "repeat", node, min, max };
  }

  #unexpected(): Unexpected {
    const at = this.#at;
    if (/^\\[1-9k]/.test(this.#source.slice(at))) return new Unexpected(at, "a filter cannot refer back to a group");
    return new Unexpected(at, notFrom(this.#source.slice(at, at + (this.#source[at] === "\\" ? 2 : 1))));
  }

  #take(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.#at;
    const found = what.exec(this.#source) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

function isNoLineEnd(code: number): boolean {
  return code !== 0x0a && code !== 0x0d && code !== 0x2028 && code !== 0x2029;
}

function compiled(written: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(`^${written}$`, flags);
  } catch {
    return undefined; // The one way to ask.
  }
}

function notFrom(written: string): string {
  return `it is no regular expression from ${escapeControls(JSON.stringify(written.slice(0, 20)))} on`;
}
