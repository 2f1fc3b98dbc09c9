// A scanner that keeps what `JSON.parse` drops: places, duplicate names, and numbers and strings as they were written. It works
// on bytes, so that an offset is an offset on the wire, and so that it can read a text with bytes that are not UTF-8.

import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import { type JsonMember, type JsonNode, jsonValue, literalOf, stringOf } from "./json-node.js";

// The structural bytes of JSON.
const backslash = 0x5c;
const closeBrace = 0x7d;
const closeBracket = 0x5d;
const colon = 0x3a;
const comma = 0x2c;
const openBrace = 0x7b;
const openBracket = 0x5b;
const quote = 0x22;

/** The place where a text stops being JSON, and why. */
export interface JsonFault {
  /** The offset of the unexpected byte; the length of the text if it ends too early. */
  readonly at: number;
  /** The expected and the actual text. */
  readonly says: string;
  /** Whether the text is only incomplete, and correct so far. */
  readonly cut: boolean;
  /** Whether the text before `at` is a whole value, and something follows it. */
  readonly isAfterValue: boolean;
}

/** The tree of a JSON text, or what is wrong with it. */
export type JsonScan =
  | {
      readonly ok: true;
      /** The value of the text. */
      readonly root: JsonNode;
    }
  | {
      readonly ok: false;
      /** Why the text is not JSON, and where. */
      readonly fault: JsonFault;
    };

/** The maximum nesting depth: deeper than any acceptable message, and safe for recursive functions. */
const deepest = 1_000;

/**
 * A JSON text with its value. It is scanned only when places in it are needed: most frames are judged by their value alone, and a
 * scan costs several times as much as `JSON.parse`.
 */
export class JsonText {
  readonly #raw: string | undefined;
  readonly #source: { readonly bytes: Uint8Array };
  #scan: JsonScan | undefined;
  #isPlain: boolean | undefined;
  #value: unknown;

  /**
   * @param raw the text, if the bytes are UTF-8
   * @param source holds the bytes, which are read only for a scan
   * @param isPlain the value of `isPlain`, if the same text was read before
   */
  constructor(raw: string | undefined, source: { readonly bytes: Uint8Array }, isPlain?: boolean) {
    this.#raw = raw;
    this.#source = source;
    this.#isPlain = isPlain;
  }

  /** Whether it is an object as `JSON.stringify` writes it: no name occurs twice, and no number or string is unusual. */
  get isPlain(): boolean {
    if (this.#isPlain === undefined) {
      this.#value = this.#raw === undefined ? undefined : plainObject(this.#raw);
      this.#isPlain = this.#value !== undefined;
    }
    return this.#isPlain;
  }

  /** The syntax tree, or the reason why the bytes are not JSON. Scanned once, on first use. */
  get scan(): JsonScan {
    this.#scan ??= scanJson(this.#source.bytes);
    return this.#scan;
  }

  /** The fault of the text; undefined for valid JSON. */
  get fault(): JsonFault | undefined {
    return this.isPlain || this.scan.ok ? undefined : this.scan.fault;
  }

  /** The root node; undefined for a text that is not JSON. */
  get root(): JsonNode | undefined {
    return this.scan.ok ? this.scan.root : undefined;
  }

  /** The value of `JSON.parse`; undefined for a text that is not JSON. */
  get value(): unknown {
    // `isPlain` may have parsed it.
    if (this.isPlain || this.scan.ok) this.#value ??= this.#parsed();
    return this.#value;
  }

  #parsed(): unknown {
    // `JSON.parse` refuses a byte order mark.
    if (this.#raw?.startsWith("\ufeff") === false) return JSON.parse(this.#raw);
    return this.root && jsonValue(this.root, this.#source.bytes);
  }
}

/**
 * The object in a text, if `JSON.stringify` would write the same text. A text of this length has too few brackets to be too deep.
 */
function plainObject(text: string): JsonObject | undefined {
  if (!text.startsWith("{") || text.length > 2 * deepest || text.includes("\\ud")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined; // The scan finds the fault.
  }
}

/**
 * Reads one JSON text (RFC 8259). A leading byte order mark is skipped: a rule reports it.
 *
 * @example
 * const scan = scanJson(bytes);
 * if (scan.ok) console.log(literalOf(scan.root, bytes));
 */
export function scanJson(bytes: Uint8Array): JsonScan {
  const scanner = new Scanner(bytes);
  try {
    return { ok: true, root: scanner.text() };
  } catch (error) {
    if (error instanceof Unexpected) return { ok: false, fault: error.fault };
    throw error;
  }
}

/** Never leaves this file: it unwinds the scan from any depth. */
class Unexpected extends Error {
  readonly fault: JsonFault;

  constructor(fault: JsonFault) {
    super(fault.says);
    this.fault = fault;
  }
}

const markLength = 3;
const words = ["true", "false", "null"] as const;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const stringEscape = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/;
const simpleEscape = /^\\u[0-9a-fA-F]{0,3}$|^\\$/;

class Scanner {
  readonly #bytes: Uint8Array;
  #at = 0;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  text(): JsonNode {
    if (this.#bytes[0] === 0xef && this.#bytes[1] === 0xbb && this.#bytes[2] === 0xbf) this.#at = markLength;
    this.#space();
    const root = this.#value();
    this.#space();
    if (this.#at < this.#bytes.length) throw this.#unexpected("nothing after the value", true);
    return root;
  }

  #value(): JsonNode {
    const code = this.#bytes[this.#at];
    if (code === openBrace) return this.#object();
    if (code === openBracket) return this.#array();
    if (code === quote) return this.#string();
    if (code === 0x2d || (code !== undefined && code >= 0x30 && code <= 0x39)) return this.#number();
    return this.#word(code);
  }

  #object(): JsonNode {
    const start = this.#at;
    const members: JsonMember[] = [];
    this.#list(closeBrace, () => {
      if (this.#bytes[this.#at] !== quote) throw this.#unexpected("the name of a member");
      const name = this.#string();
      this.#space();
      if (!this.#take(colon)) throw this.#unexpected('":"');
      this.#space();
      const key = stringOf(name, this.#bytes);
      members.push({ key, keyStart: name.start, keyEnd: name.end, value: this.#value() });
    });
    return { kind: "object", start, end: this.#at, members };
  }

  #array(): JsonNode {
    const start = this.#at;
    const elements: JsonNode[] = [];
    this.#list(closeBracket, () => elements.push(this.#value()));
    return { kind: "array", start, end: this.#at, elements };
  }

  /** Reads what is in brackets, item by item, and both brackets. */
  #list(close: number, readItem: () => void): void {
    if (this.#depth === deepest) throw this.#unexpected(`at most ${deepest} levels`);
    this.#depth += 1;
    this.#at += 1;
    this.#space();
    if (!this.#take(close)) {
      do {
        this.#space();
        readItem();
        this.#space();
      } while (this.#take(comma));
      if (!this.#take(close)) throw this.#unexpected(`"," or "${String.fromCharCode(close)}"`);
    }
    this.#depth -= 1;
  }

  #string(): JsonNode {
    const start = this.#at;
    const bytes = this.#bytes;
    let at = start + 1;
    for (let code = bytes[at]; code !== quote; code = bytes[at]) {
      if (code === undefined || code < 0x20) {
        this.#at = at;
        throw this.#unexpected("the end of a string");
      }
      at += code === backslash ? this.#escape(at) : 1;
    }
    this.#at = at + 1;
    return { kind: "string", start, end: this.#at };
  }

  /** The length of the escape at `at`. */
  #escape(at: number): number {
    const written = literalOf({ start: at, end: at + 6 }, this.#bytes);
    const whole = stringEscape.exec(written)?.[0];
    if (whole !== undefined) return whole.length;
    const isCut = simpleEscape.test(written);
    this.#at = isCut ? this.#bytes.length : at;
    throw this.#unexpected("an escape that JSON has");
  }

  #number(): JsonNode {
    const start = this.#at;
    let end = start;
    while (end < this.#bytes.length && isOfNumber(this.#bytes[end] ?? 0)) end += 1;
    const literal = literalOf({ start, end }, this.#bytes);
    number.lastIndex = 0;
    const length = number.exec(literal)?.[0].length ?? 0;
    if (length < literal.length) {
      const isCut = end === this.#bytes.length && /^(?:-|.*[.eE+-])$/.test(literal);
      this.#at = isCut ? end : start + length;
      throw this.#unexpected("a number as JSON writes it");
    }
    this.#at = end;
    return { kind: "number", start, end };
  }

  #word(code: number | undefined): JsonNode {
    const start = this.#at;
    const word = words.find((each) => each.charCodeAt(0) === code);
    if (word === undefined) throw this.#unexpected("a value");
    const written = literalOf({ start, end: start + word.length }, this.#bytes);
    if (written === word) {
      this.#at += word.length;
      return { kind: word, start, end: this.#at };
    }
    if (word.startsWith(written)) this.#at = this.#bytes.length;
    throw this.#unexpected("a value");
  }

  #space(): void {
    const bytes = this.#bytes;
    for (let code = bytes[this.#at]; code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09; ) {
      this.#at += 1;
      code = bytes[this.#at];
    }
  }

  #take(code: number): boolean {
    if (this.#bytes[this.#at] !== code) return false;
    this.#at += 1;
    return true;
  }

  #unexpected(expected: string, isAfterValue = false): Unexpected {
    const at = this.#at;
    const cut = at >= this.#bytes.length;
    const found = cut ? "the text ends" : describeByte(this.#bytes[at] ?? 0);
    return new Unexpected({ at, cut, isAfterValue, says: `expected ${expected} at byte ${at}, but ${found}` });
  }
}

function describeByte(code: number): string {
  const hex = code.toString(16).padStart(2, "0");
  return code > 0x20 && code < 0x7f ? `found "${String.fromCharCode(code)}"` : `found the byte 0x${hex}`;
}

/** Whether a byte may be part of a number: a digit, a sign, the point or the exponent. */
function isOfNumber(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2b || code === 0x2e || code === 0x65 || code === 0x45
  );
}
