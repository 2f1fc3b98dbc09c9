import { encodeBase64 } from "@parlance/mcp/protocol";
import type { ByteRange } from "../json/json-node.js";

const encoder = new TextEncoder();
const bytewise = new TextDecoder("latin1");

/** The shortest secret that is searched for everywhere. A shorter text may occur by chance. */
const shortest = 8;
/** The shortest secret that is searched for as a separate word, if it has a digit. */
const shortestWord = 6;
/** Bounds the memory for a recording that calls everything a secret. */
const mostKnown = 20_000;
/** Bytes that index a secret. */
const keyLength = 4;

/** Secrets that were found in one place and are searched for in all others. */
export class KnownSecrets {
  readonly #texts = new Set<string>();
  /** By their first bytes; the longest first. */
  readonly #byKey = new Map<number, Uint8Array[]>();
  /** Whether a secret begins with these two bytes. */
  readonly #begins = new Uint8Array(1 << 16);

  /** Remembers a secret, and the ways in which JSON, URLs and headers write it. A short or plain one is left out. */
  add(text: string): void {
    if (!isTelling(text) || this.#texts.has(text)) return;
    const quoted = JSON.stringify(text).slice(1, -1);
    const forms = [text, quoted, JSON.stringify(quoted).slice(1, -1), percentEncoded(text), xml(text)];
    for (const form of [...forms, encodeBase64(encoder.encode(text))]) this.#addForm(form);
  }

  #addForm(form: string): void {
    if (this.#texts.has(form) || this.#texts.size >= mostKnown) return;
    this.#texts.add(form);
    const bytes = encoder.encode(form);
    const key = keyAt(bytes, 0);
    const others = this.#byKey.get(key);
    if (others === undefined) this.#byKey.set(key, [bytes]);
    else {
      others.push(bytes);
      others.sort((a, b) => b.length - a.length);
    }
    this.#begins[((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)] = 1;
  }

  /** The ranges of secrets in a range of bytes. With `cut`, also the beginnings of secrets. */
  find(bytes: Uint8Array, [from, to]: ByteRange, cut = false): readonly ByteRange[] {
    const ranges: ByteRange[] = [];
    if (this.#texts.size === 0) return ranges;
    const begins = this.#begins;
    const last = to - keyLength;
    for (let at = from; at <= last; at += 1) {
      if (begins[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] === 0) continue;
      const length = this.#lengthAt(bytes, at, to, cut);
      if (length === 0) continue;
      ranges.push([at, at + length]);
      at += length - 1;
    }
    return ranges;
  }

  #lengthAt(bytes: Uint8Array, at: number, to: number, cut: boolean): number {
    for (const secret of this.#byKey.get(keyAt(bytes, at)) ?? []) {
      const common = commonLength(secret, bytes, at, to);
      if (common === secret.length && (common >= shortest || isWord(bytes, at, at + common))) return common;
      if (cut && common >= shortestWord && isCutAt(bytes, at + common)) return common;
    }
    return 0;
  }
}

/** Whether another occurrence of a text is surely the secret: a short text, or few digits, may be anything. */
function isTelling(text: string): boolean {
  if (text.length >= shortest) return !/^[\s*█]*$/.test(text);
  return text.length >= shortestWord && /\d/.test(text) && /\D/.test(text);
}

function keyAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

function commonLength(secret: Uint8Array, bytes: Uint8Array, at: number, to: number): number {
  const most = Math.min(secret.length, to - at);
  let length = keyLength;
  while (length < most && secret[length] === bytes[at + length]) length += 1;
  return Math.min(length, most);
}

/** Whether no letter or digit is adjacent. */
function isWord(bytes: Uint8Array, start: number, end: number): boolean {
  return !isWordByte(bytes[start - 1]) && !isWordByte(bytes[end]);
}

function isWordByte(byte = 0): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

/** Whether the text says that it was shortened here: `" and 20 characters more`, `…`. */
function isCutAt(bytes: Uint8Array, at: number): boolean {
  const next = bytewise.decode(bytes.subarray(at, at + 8));
  return /^(?:\\?"|&quot;)? and |^(?:\\?"|&quot;)?\xe2\x80\xa6/.test(next);
}

function percentEncoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // Half of a surrogate pair is in no URL.
  }
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
