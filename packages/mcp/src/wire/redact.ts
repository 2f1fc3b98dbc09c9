import { cover, coverDigits, coverText, found, merged, withWholeEscapes } from "./cover.js";
import type { Entry, FrameEntry, HeaderEntry, HttpEntry } from "./entry.js";
import { bytesOf, recordedBytes } from "./frame.js";
import type { ByteRange, JsonNode } from "./json-node.js";
import { scanJson } from "./json-scan.js";
import {
  credentialHeaders,
  innerText,
  plainName,
  type Secrets,
  type SecretsOptions,
  scalars,
  secretsOf,
} from "./secrets.js";

/** A recording without its secrets. */
export interface Redacted {
  readonly entries: readonly Entry[];
  /** How many pieces were covered. */
  readonly covered: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A secret that is shorter may stand anywhere by chance. */
const shortest = 8;
/** Each is looked for in everything. */
const mostRemembered = 200;

/**
 * Covers what is secret in a recording, and changes no length of a frame, so that offsets stay true. What was found under
 * a secret name is covered wherever else it stands. Schemas of tools are left as they are.
 */
export function redact(entries: readonly Entry[], options: SecretsOptions = {}): Redacted {
  const secrets = secretsOf(options);
  const known = new Set<string>();
  for (const entry of entries) if (entry.k === "f") remember(entry, secrets, known);
  const patterns = known.size === 0 ? secrets.patterns : [...secrets.patterns, oneOf(known)];
  const redactor = new Redactor({ ...secrets, patterns });
  return { entries: entries.map((entry) => redactor.entry(entry)), covered: redactor.covered };
}

/** Says in the header of a recording what `coverCredentials` has covered. */
export const credentialWords = "credentials in HTTP headers and URLs";

/**
 * Covers the credentials in a head of HTTP before it is written down: headers such as `Authorization`, `Cookie` and `X-Api-Key`, and
 * tokens in URLs. Each piece keeps its length in bytes. `Mcp-Session-Id` stays, because without it nobody can tell sessions apart.
 */
export function coverCredentials<Head extends Pick<HttpEntry, "url" | "headers">>(head: Head): Head {
  const { url, headers } = head;
  return {
    ...head,
    ...(url !== undefined && { url: coverUrl(url) }),
    ...(headers !== undefined && { headers: headers.map(([name, value]) => [name, coverCredential(name, value)]) }),
  };
}

function coverCredential(name: string, value: string): string {
  const lower = name.toLowerCase();
  if (credentialHeaders.has(lower)) return coverText(value);
  return lower === "location" || lower === "referer" ? coverUrl(value) : value;
}

const { patterns: usualPatterns } = secretsOf();

/** Covers the tokens, and the user with the password, in a URL. */
function coverUrl(url: string): string {
  if (!/[?#@]/.test(url)) return url;
  const bytes = encoder.encode(url);
  return decoder.decode(cover(bytes, merged(found(usualPatterns, bytes, [0, bytes.length]))));
}

/** What a redaction covers, in words, for the header of the recording. */
export function redactionWords({
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

function remember(entry: FrameEntry, secrets: Secrets, known: Set<string>): void {
  const bytes = bytesOf(entry);
  for (const message of messagesOf(bytes))
    for (const { node, secret } of scalars(message, secrets)) {
      if (!secret || node.kind !== "string" || known.size >= mostRemembered) continue;
      const text = innerText(node, bytes);
      if (text.length >= shortest) known.add(text);
    }
}

/** The messages of a frame: several of a batch, none of what is no JSON. */
function messagesOf(bytes: Uint8Array): readonly JsonNode[] {
  const scan = scanJson(bytes);
  if (!scan.ok) return [];
  return scan.root.kind === "array" ? scan.root.elements : [scan.root];
}

/** The longest first: of two that begin alike, it is the one that is meant. */
function oneOf(texts: ReadonlySet<string>): RegExp {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "g");
}

class Redactor {
  covered = 0;
  readonly #secrets: Secrets;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  entry(entry: Entry): Entry {
    switch (entry.k) {
      case "hdr":
        return this.#header(entry);
      case "f":
      case "e": {
        const { raw, b64, ...rest } = entry;
        const covered = this.#frame(bytesOf(entry), entry.k === "f");
        return { ...rest, ...recordedBytes(covered) } as Entry; // The bytes are put back where they were.
      }
      case "h":
        return this.#http(entry);
      case "a":
        return { ...entry, text: this.#text(entry.text) };
      default:
        return entry;
    }
  }

  #frame(bytes: Uint8Array, mayBeMessage: boolean): Uint8Array {
    const messages = mayBeMessage ? messagesOf(bytes) : [];
    const { patterns } = this.#secrets;
    if (messages.length === 0) return this.#cover(bytes, found(patterns, bytes, [0, bytes.length]));
    const texts: ByteRange[] = [];
    const numbers: ByteRange[] = [];
    for (const { node, secret } of messages.flatMap((message) => [...scalars(message, this.#secrets)])) {
      const inner: ByteRange = [node.start + 1, node.end - 1];
      if (node.kind === "number" && secret) numbers.push([node.start, node.end]);
      if (node.kind !== "string") continue;
      if (secret) texts.push(inner);
      else texts.push(...found(patterns, bytes, inner).map((range) => withWholeEscapes(range, node, bytes)));
    }
    const covered = this.#cover(bytes, texts);
    if (numbers.length === 0) return covered;
    this.covered += numbers.length;
    const plain = covered.slice();
    coverDigits(plain, numbers);
    return plain;
  }

  #http(entry: HttpEntry): HttpEntry {
    const { headers, url } = entry;
    return {
      ...entry,
      ...(url !== undefined && { url: this.#text(url) }),
      ...(headers !== undefined && { headers: headers.map(([name, value]) => [name, this.#headerValue(name, value)]) }),
    };
  }

  #headerValue(name: string, value: string): string {
    const { headers, keys } = this.#secrets;
    const lower = name.toLowerCase();
    // Parameters of tools go in headers too.
    const isSecret = headers.has(lower) || keys.has(plainName(lower.replace(/^mcp-param-/, "")));
    if (!isSecret) return this.#text(value);
    this.covered += 1;
    return coverText(value);
  }

  #header(entry: HeaderEntry): HeaderEntry {
    const { server } = entry;
    if (server === undefined) return entry;
    const { args, url } = server;
    return {
      ...entry,
      server: {
        ...server,
        ...(args !== undefined && { args: args.map((word, at) => this.#argument(word, args[at - 1])) }),
        ...(url !== undefined && { url: this.#text(url) }),
      },
    };
  }

  /** `--token x` says what `x` is. */
  #argument(word: string, before = ""): string {
    const isSecret = before.startsWith("--") && this.#secrets.keys.has(plainName(before));
    if (!isSecret) return this.#text(word);
    this.covered += 1;
    return coverText(word);
  }

  #text(text: string): string {
    const bytes = encoder.encode(text);
    return decoder.decode(this.#cover(bytes, found(this.#secrets.patterns, bytes, [0, bytes.length])));
  }

  #cover(bytes: Uint8Array, ranges: readonly ByteRange[]): Uint8Array {
    const pieces = merged(ranges);
    this.covered += pieces.length;
    return cover(bytes, pieces);
  }
}
