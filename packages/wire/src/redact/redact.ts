import { mcpHeaders } from "@parlance/mcp/protocol";
import { Conversation } from "../conversation/conversation.js";
import { type ByteRange, type JsonNode, literalOf, stringOf } from "../json/json-node.js";
import { scanJson } from "../json/json-scan.js";
import type { Entry, FrameEntry, HeaderEntry, HttpEntry, RecordedVerdict, StderrEntry } from "../recording/entry.js";
import { bytesOf, pooledBytesOf, recordedBytes } from "../recording/frame.js";
import { recordedVerdict, type Verdict } from "../rules/rule.js";
import { Secrets, type SecretsOptions } from "./secrets.js";

/** A recording without its secrets. */
export interface Redacted {
  /** The redacted entries, in order. */
  readonly entries: readonly Entry[];
  /** The number of covered pieces. */
  readonly covered: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Covers the secrets in a recording without changing the length of any frame, so that offsets stay valid. A secret found in one
 * place is covered wherever else it occurs. Every frame carries the verdicts on the original: redaction neither adds nor removes
 * a broken rule.
 *
 * @example
 * const { entries } = redact(readRecording(bytes).entries, { keys: ["email"] });
 */
export function redact(entries: readonly Entry[], options: SecretsOptions = {}): Redacted {
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  conversation.finish();
  const verdicts = new Map(conversation.rows.map((row) => [row.entry, row.verdicts]));
  const redaction = new Redaction(options);
  for (const entry of entries) redaction.learn(entry);
  const covered = entries.map((entry) => redaction.cover(entry, verdicts.get(entry)));
  return { entries: covered, covered: redaction.covered };
}

/**
 * Covers the credentials in an HTTP head before it is recorded: headers such as `Authorization`, `Cookie` and `X-Api-Key`, and
 * tokens in URLs. Each piece keeps its length in bytes. `Mcp-Session-Id` stays, because it distinguishes sessions.
 *
 * @example
 * coverCredentials({ headers: [["authorization", "Bearer secret"]] });
 */
export function coverCredentials<Head extends Pick<HttpEntry, "url" | "headers">>(head: Head): Head {
  const { url, headers } = head;
  return {
    ...head,
    ...(url !== undefined && { url: coverShapes(url) }),
    ...(headers !== undefined && { headers: headers.map(([name, value]) => [name, coverCredential(name, value)]) }),
  };
}

function coverCredential(name: string, value: string): string {
  const lower = name.toLowerCase();
  // The body has the same value, and rules compare both.
  if (lower.startsWith("mcp-param-")) return value;
  const isSecret = lower !== mcpHeaders.session && usual.isSecretHeader(lower);
  return isSecret ? coverText(value) : coverShapes(value);
}

const usual = new Secrets();

/**
 * Covers secrets that are recognized by their shape or by a name before them, such as tokens, and the user and password in a URL.
 */
function coverShapes(text: string): string {
  if (!usual.mayBeIn(text)) return text;
  const bytes = encoder.encode(text);
  return decoder.decode(cover(bytes, merged(usual.find(bytes, [0, bytes.length]))));
}

/**
 * The values of environment variables with secret names.
 *
 * @example
 * const redaction = new Redaction({ values: secretVariables(process.env) });
 */
export function secretVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && usual.isSecretName(name) ? [value] : [],
  );
}

/**
 * Description of a redaction, for the header of the recording.
 *
 * @example
 * const header = { ...entries[0], redact: describeRedaction({ keys: ["email"] }) };
 */
export function describeRedaction({
  keys = [],
  pointers = [],
  patterns = [],
  headers = [],
}: SecretsOptions): readonly string[] {
  return [
    "secrets by name and shape",
    ...keys.map((key) => `key ${key}`),
    ...pointers.map((pointer) => `pointer ${pointer}`),
    ...patterns.map((pattern) => `regex ${pattern.source}`),
    ...headers.map((name) => `header ${name}`),
  ];
}

/** The maximum number of characters of stderr and noise that are kept, because a secret may continue in the next piece. */
const longestTail = 16_384;

/** The text of a carried verdict whose own text would show covered bytes. */
const coveredWords = "what breaks it is covered";

/**
 * A redaction in two passes, for a recording that is read twice and not held in memory: `learn` takes every line first, then
 * `cover` returns every line without its secrets.
 */
export class Redaction {
  /** The number of covered pieces. */
  covered = 0;
  readonly #secrets: Secrets;
  /** The end of the noise on a stream: a key of many lines arrives in many pieces. */
  readonly #tails = new Map<string, string>();

  constructor(options: SecretsOptions = {}) {
    this.#secrets = new Secrets(options);
  }

  /** Finds the secrets of a line by name, place or shape. */
  learn(entry: Entry): void {
    const secrets = this.#secrets;
    switch (entry.k) {
      case "hdr":
        this.#learnHeader(entry);
        break;
      case "f":
        this.#learnFrame(entry);
        break;
      case "e":
        this.#learnPiece(`e ${entry.s}`, entry, "");
        break;
      case "h":
        if (entry.url !== undefined) secrets.learnUrl(entry.url);
        secrets.learnHeaders(entry.headers ?? []);
        secrets.learnText(entry.why ?? "");
        break;
      case "l":
        secrets.learnText(entry.why ?? "");
        break;
      case "a":
        secrets.learnText(entry.text);
        break;
      default: // The others hold words of the recorder.
        break;
    }
  }

  /** A line without its secrets, with the verdicts on the original line, if any. */
  cover<Line extends Entry>(entry: Line, verdicts?: readonly Verdict[]): Line;
  cover(entry: Entry, verdicts?: readonly Verdict[]): Entry {
    switch (entry.k) {
      case "hdr":
        return this.#header(entry);
      case "f":
        return this.#frame(entry, verdicts);
      case "e":
        return withBytes(entry, this.#bytes(bytesOf(entry)));
      case "h":
        return this.#http(entry, verdicts);
      case "l":
      case "gap":
        return entry.why === undefined ? entry : { ...entry, why: this.text(entry.why) };
      case "a":
        return { ...entry, text: this.text(entry.text) };
      case "r":
        return {
          ...entry,
          ...(entry.break !== undefined && { break: this.text(entry.break) }),
          ...(entry.fault !== undefined && { fault: this.text(entry.fault) }),
        };
      default:
        return entry;
    }
  }

  /** Covers the secrets in a text. */
  text(text: string): string {
    const bytes = encoder.encode(text);
    const covered = this.#bytes(bytes);
    return covered === bytes ? text : decoder.decode(covered);
  }

  /** Covers known secrets in a text about a recording, also if the text ends within a secret. */
  words(text: string): string {
    const bytes = encoder.encode(text);
    const ranges = this.#secrets.findKnown(bytes, [0, bytes.length], true);
    return ranges.length === 0 ? text : decoder.decode(cover(bytes, ranges));
  }

  #learnHeader({ server }: HeaderEntry): void {
    const { cmd, args = [], url } = server ?? {};
    const words = [cmd ?? "", ...args];
    for (const [at, word] of words.entries()) {
      if (this.#secrets.isSecretArgument(words[at - 1])) this.#secrets.add(word);
      this.#secrets.learnText(word);
    }
    if (url !== undefined) this.#secrets.learnUrl(url);
  }

  #learnFrame(entry: FrameEntry): void {
    const stream = `${entry.s} ${entry.d}`;
    const bytes = this.#mayHold(entry) ? pooledBytesOf(entry) : undefined;
    const messages = bytes === undefined ? [] : messagesOf(bytes);
    if (bytes === undefined || messages.length === 0) {
      // A message, here one without a secret, ends the noise before it.
      if (entry.raw?.startsWith("{") === true) this.#tails.delete(stream);
      else this.#learnPiece(stream, entry, "\n");
      return;
    }
    this.#tails.delete(stream);
    for (const { node, secret, described } of messages.flatMap((message) => this.#secrets.scalarsOf(message))) {
      if (node.kind !== "string" || described) continue;
      const text = stringOf(node, bytes);
      if (secret) this.#secrets.add(text);
      else this.#secrets.learnText(text);
    }
  }

  /** Learns from a text in pieces: for a secret that crosses the end of a piece, its parts are remembered, too. */
  #learnPiece(stream: string, entry: FrameEntry | StderrEntry, between: string): void {
    const bytes = bytesOf(entry);
    const before = this.#tails.get(stream) ?? "";
    const text = `${before}${literalOf({ start: 0, end: bytes.length }, bytes)}${between}`;
    this.#secrets.learnText(text, before.length);
    this.#tails.set(stream, text.slice(-longestTail));
  }

  #mayHold({ raw }: FrameEntry): boolean {
    return raw === undefined || this.#secrets.mayBeIn(raw);
  }

  #frame(entry: FrameEntry, verdicts: readonly Verdict[] | undefined): FrameEntry {
    const bytes = pooledBytesOf(entry);
    const pieces: ByteRange[] = [];
    const covered =
      this.#mayHold(entry) || this.#secrets.findKnown(bytes, [0, bytes.length]).length > 0
        ? this.#message(bytes, pieces)
        : bytes;
    const line = covered === bytes ? entry : withBytes(entry, covered);
    return verdicts === undefined ? line : { ...line, v: verdicts.map((each) => this.#carried(each, bytes, pieces)) };
  }

  /** @param pieces receives the covered ranges */
  #message(bytes: Uint8Array, pieces: ByteRange[]): Uint8Array {
    const messages = messagesOf(bytes);
    if (messages.length === 0) return this.#bytes(bytes, pieces);
    const texts: ByteRange[] = [];
    const numbers: ByteRange[] = [];
    for (const { node, secret, described } of messages.flatMap((message) => this.#secrets.scalarsOf(message))) {
      const inner: ByteRange = [node.start + 1, node.end - 1];
      if (node.kind === "number" && secret) numbers.push([node.start, node.end]);
      if (node.kind !== "string") continue;
      if (secret) texts.push(inner);
      else {
        const ranges = described ? this.#secrets.findKnown(bytes, inner) : this.#secrets.find(bytes, inner);
        texts.push(...ranges.map((range) => withWholeEscapes(range, node, bytes)));
      }
    }
    pieces.push(...numbers);
    const covered = this.#cover(bytes, texts, pieces);
    if (numbers.length === 0) return covered;
    this.covered += numbers.length;
    const plain = covered.slice();
    coverDigits(plain, numbers);
    return plain;
  }

  /** A verdict whose text does not show covered bytes. */
  #carried(verdict: Verdict, bytes: Uint8Array, pieces: readonly ByteRange[]): RecordedVerdict {
    const carried = recordedVerdict(verdict);
    const { pointer } = carried;
    const shows = pieces.some((piece) => showsPiece(carried.says, bytes, piece));
    const says = shows ? coveredWords : this.words(carried.says);
    return { ...carried, says, ...(pointer !== undefined && { pointer: this.words(pointer) }) };
  }

  #http(entry: HttpEntry, verdicts: readonly Verdict[] | undefined): HttpEntry {
    const { headers, url, why } = entry;
    return {
      ...entry,
      ...(url !== undefined && { url: this.text(url) }),
      ...(headers !== undefined && { headers: headers.map(([name, value]) => [name, this.#headerValue(name, value)]) }),
      ...(why !== undefined && { why: this.text(why) }),
      ...(verdicts !== undefined && { v: verdicts.map((each) => this.#carriedHttp(each, headers)) }),
    };
  }

  #carriedHttp(verdict: Verdict, headers: HttpEntry["headers"] = []): RecordedVerdict {
    const carried = recordedVerdict(verdict);
    const isCovered = headers.some(
      ([name, value]) => name.toLowerCase() === carried.header && this.#secrets.isSecretHeader(name) && value !== "",
    );
    return { ...carried, says: isCovered ? coveredWords : this.words(carried.says) };
  }

  #headerValue(name: string, value: string): string {
    if (!this.#secrets.isSecretHeader(name)) return this.text(value);
    this.covered += 1;
    return coverText(value);
  }

  #header(entry: HeaderEntry): HeaderEntry {
    const { server } = entry;
    if (server === undefined) return entry;
    const { cmd, args, cwd, url } = server;
    return {
      ...entry,
      server: {
        ...server,
        ...(cmd !== undefined && { cmd: this.text(cmd) }),
        ...(args !== undefined && { args: args.map((word, at) => this.#argument(word, args[at - 1])) }),
        ...(cwd !== undefined && { cwd: this.text(cwd) }),
        ...(url !== undefined && { url: this.text(url) }),
      },
    };
  }

  #argument(word: string, before: string | undefined): string {
    if (!this.#secrets.isSecretArgument(before)) return this.text(word);
    this.covered += 1;
    return coverText(word);
  }

  #bytes(bytes: Uint8Array, pieces: ByteRange[] = []): Uint8Array {
    const whole: ByteRange = [0, bytes.length];
    return this.#cover(bytes, this.#secrets.find(bytes, whole), pieces);
  }

  #cover(bytes: Uint8Array, ranges: readonly ByteRange[], pieces: ByteRange[]): Uint8Array {
    const all = merged(ranges.filter(([start, end]) => end > start));
    this.covered += all.length;
    pieces.push(...all);
    return cover(bytes, all);
  }
}

function withBytes<Line extends FrameEntry | StderrEntry>(entry: Line, bytes: Uint8Array): Line {
  const { raw, b64, ...rest } = entry;
  return { ...rest, ...recordedBytes(bytes) } as Line; // `raw` or `b64` is set again.
}

/** Fewer characters of a secret reveal nothing. */
const shortestShown = 3;

/** Whether a text shows part of a covered piece: some of its characters, or its beginning. */
function showsPiece(says: string, bytes: Uint8Array, [start, end]: ByteRange): boolean {
  const literal = literalOf({ start, end: Math.min(end, start + 64) }, bytes);
  const unescaped = literal.replaceAll("\\", "");
  if (/^-?\d/.test(literal) && bytes[start - 1] !== 0x22) return says.includes(literal.slice(0, 12));
  const beginning = unescaped.slice(0, Math.max(shortestShown, 6));
  return beginning.length >= shortestShown && says.replaceAll("\\", "").includes(beginning);
}

/** The messages of a frame: several for a batch, none if it is not JSON. */
function messagesOf(bytes: Uint8Array): readonly JsonNode[] {
  const scan = scanJson(bytes);
  if (!scan.ok) return [];
  return scan.root.kind === "array" ? scan.root.elements : [scan.root];
}

/** One character for each byte, so that offsets in the text are byte offsets. */
const bytewise = new TextDecoder("latin1");

/** U+2588 in UTF-8. */
const block: readonly number[] = [0xe2, 0x96, 0x88];
const star = 0x2a;
const zero = 0x30;
const one = 0x31;
const nine = 0x39;

/**
 * Covers ranges of bytes and keeps their length: every three bytes become one █, and each remaining byte a `*`. Offsets after a
 * range stay valid, and a piece of a JSON string stays part of a JSON string.
 */
function cover(bytes: Uint8Array, ranges: readonly ByteRange[]): Uint8Array {
  if (ranges.length === 0) return bytes;
  const covered = bytes.slice();
  for (const [start, end] of ranges) {
    const wholeEnd = end - ((end - start) % block.length);
    for (let at = start; at < wholeEnd; at += block.length) covered.set(block, at);
    covered.fill(star, wholeEnd, end);
  }
  return covered;
}

/** Covers a whole text. */
function coverText(text: string): string {
  const bytes = encoder.encode(text);
  return new TextDecoder().decode(cover(bytes, [[0, bytes.length]]));
}

/** Replaces every digit of a number by 1: it stays a number of the same length. */
function coverDigits(bytes: Uint8Array, ranges: readonly ByteRange[]): void {
  for (const [start, end] of ranges)
    for (let at = start; at < end; at += 1) {
      const code = bytes[at] ?? 0;
      if (code >= zero && code <= nine) bytes[at] = one;
    }
}

/** Ranges in order, with adjacent ones merged. */
function merged(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const all: ByteRange[] = [];
  for (const range of [...ranges].sort(([a], [b]) => a - b)) {
    const last = all.at(-1);
    if (last !== undefined && range[0] <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], range[1])];
    else all.push(range);
  }
  return all;
}

const escapes = /\\(?:u[0-9a-fA-F]{4}|.)/g;

/** A range of a JSON string, extended so that it cuts no escape. */
function withWholeEscapes(range: ByteRange, { start, end }: JsonNode, bytes: Uint8Array): ByteRange {
  let [from, to] = range;
  for (const { 0: written, index } of bytewise.decode(bytes.subarray(start, end)).matchAll(escapes)) {
    const [first, after] = [start + index, start + index + written.length];
    if (first < to && after > from) [from, to] = [Math.min(first, from), Math.max(after, to)];
  }
  return [from, to];
}
