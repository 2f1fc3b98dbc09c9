import { decodeUtf8, encodeBase64, isObject, pointerToken } from "@parlance/mcp/protocol";
import { getOrInsert } from "../conversation/get-or-insert.js";
import type { ByteRange, JsonNode } from "../json/json-node.js";
import type { HttpEntry } from "../recording/entry.js";
import {
  knownShapes,
  noSecrets,
  oauthMembers,
  oauthNames,
  oauthParameter,
  plainName,
  privateMembers,
  secretKeys,
  shapeHint,
} from "./secret-shapes.js";

/** Options that add to the default secrets. */
export interface SecretsOptions {
  /** Names of members whose values are secret, besides the known ones. Default: none. */
  readonly keys?: readonly string[];
  /** JSON pointers to secret values; `*` stands for any one token. Default: none. */
  readonly pointers?: readonly string[];
  /** Regular expressions of secret texts, besides the known ones. Default: none. */
  readonly patterns?: readonly RegExp[];
  /** Names of secret headers, besides the known ones. Default: none. */
  readonly headers?: readonly string[];
  /** Secret texts from other sources, for instance the values of environment variables. Default: none. */
  readonly values?: readonly string[];
}

const encoder = new TextEncoder();
const bytewise = new TextDecoder("latin1");

/** The shortest secret that is searched for everywhere. A shorter text may occur by chance. */
const shortest = 8;
/** The shortest secret that is searched for as a separate word, if it has a digit. */
const shortestWord = 6;
/** The maximum number of known secrets: bounds the memory for a recording in which everything looks secret. */
const mostKnown = 20_000;
/** The number of bytes that index a secret. */
const keyLength = 4;
/** The maximum levels of JSON within strings of JSON. */
const deepest = 3;

/** The maximum number of names whose `isSecretName` is cached. */
const mostNames = 10_000;

/**
 * Decides which values are secret, by name, place or shape, and remembers the secret texts that it is shown, to find them
 * wherever else they occur.
 */
export class Secrets {
  /** Texts that match one of these are secret in any place. */
  readonly #patterns: readonly RegExp[];
  /** The one of `#patterns` that matches a value after the name of a secret. */
  readonly #assigned: RegExp;
  readonly #keys: ReadonlySet<string>;
  /** JSON pointers from a message; `*` is any one token. */
  readonly #pointers: readonly (readonly string[])[];
  /** Names of further headers, in lower case. */
  readonly #headers: ReadonlySet<string>;
  /** Matches every text that may hold a secret by name or shape: a quick test that often avoids a slow search. */
  readonly #hint: RegExp;
  readonly #names = new Map<string, boolean>();
  /** Secrets that were found in one place, in all their spellings. */
  readonly #texts = new Set<string>();
  /** These by their first bytes, the longest first. */
  readonly #byKey = new Map<number, Uint8Array[]>();
  /** 1 at each pair of bytes with which one of them begins. */
  readonly #begins = new Uint8Array(1 << 16);

  constructor({ keys = [], pointers = [], patterns = [], headers = [], values = [] }: SecretsOptions = {}) {
    const names = [...secretKeys, ...keys];
    const plain = names.map(plainName);
    // A text with `clientSecret` also contains `secret`.
    const shortest = plain.filter((name) => !plain.some((other) => other !== name && name.includes(other)));
    const hints = shortest.map((name) => Array.from(name, escaped).join("[-_]?"));
    // A pointer or a pattern of the caller may match any text.
    const isAnywhere = pointers.length + patterns.length > 0;
    this.#hint = isAnywhere ? /^/ : new RegExp([...hints, shapeHint, "\\\\u00"].join("|"), "i");
    this.#keys = new Set(plain);
    this.#pointers = pointers.map((pointer) => pointer.split("/"));
    this.#headers = new Set(["mcp-session-id", "dpop", ...headers.map((name) => name.toLowerCase())]);
    this.#assigned = assigned(names);
    this.#patterns = [...knownShapes, this.#assigned, ...patterns.map(everywhere)];
    for (const value of values) this.add(value);
  }

  /** Whether a text may hold a secret. */
  mayBeIn(text: string): boolean {
    return this.#hint.test(text);
  }

  /** Whether a name says that its value is secret: `apiKey`, `BRAVE_API_KEY`, `githubToken`. */
  isSecretName(name: string): boolean {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const isSecret = this.#isSecret(name);
    if (this.#names.size < mostNames) this.#names.set(name, isSecret);
    return isSecret;
  }

  #isSecret(name: string): boolean {
    const plain = plainName(name);
    if (this.#keys.has(plain)) return true;
    if (noSecrets.test(plain)) return false;
    const words = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, " ").split(/[-_.\s]+/);
    return words.some((_, at) => at > 0 && this.#keys.has(words.slice(at).join("").toLowerCase()));
  }

  /** Whether the value of a header is secret by the name of the header, or of the tool parameter that it repeats. */
  isSecretHeader(name: string): boolean {
    const lower = name.toLowerCase();
    return this.#headers.has(lower) || this.isSecretName(lower.replace(/^mcp-param-/, ""));
  }

  /** Whether the word after `before` on a command line is secret: `--token x`. */
  isSecretArgument(before: string | undefined): boolean {
    return before?.startsWith("--") === true && this.isSecretName(before.slice(2));
  }

  /** The strings, numbers and names in a message, and whether each is secret. */
  scalarsOf(message: JsonNode): readonly Scalar[] {
    const found: Scalar[] = [];
    const path: (string | number)[] = [];
    const visit = (node: JsonNode, secret: boolean, described: boolean): void => {
      const isDescribed = described || isDescription(path);
      const isSecret = !isDescribed && (secret || this.#pointers.some((pattern) => isAt(pattern, path)));
      if (node.kind === "object") {
        const further = furtherSecrets(node.members, path.length === 0);
        for (const { key, keyStart, keyEnd, value } of node.members) {
          const name: JsonNode = { kind: "string", start: keyStart, end: keyEnd };
          if (path.length > 0) found.push({ node: name, secret: false, described: true });
          path.push(key);
          visit(value, isSecret || this.isSecretName(key) || further?.has(plainName(key)) === true, isDescribed);
          path.pop();
        }
      } else if (node.kind === "array")
        for (const [index, element] of node.elements.entries()) {
          path.push(index);
          visit(element, isSecret, isDescribed);
          path.pop();
        }
      else found.push({ node, secret: isSecret, described: isDescribed });
    };
    visit(message, false, false);
    return found;
  }

  /** Remembers a secret and its spellings in JSON, URLs and headers. Ignores a text that is short or may be an ordinary word. */
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
    const known = getOrInsert(this.#byKey, keyAt(bytes, 0), () => []);
    known.push(bytes);
    known.sort((a, b) => b.length - a.length);
    this.#begins[((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)] = 1;
  }

  /**
   * Remembers the secrets in a text that are recognized by their shape or by a name before them; in JSON, by the names of its
   * members. A secret that crosses `from` began in the previous piece: its parts are remembered, too.
   */
  learnText(text: string, from = 0, depth = 0): void {
    if (!this.mayBeIn(text)) return;
    if (depth < deepest && /^\s*[{[]/.test(text)) this.#learnJson(text, depth);
    for (const pattern of this.#patterns)
      for (const { 0: match, index } of text.matchAll(pattern)) {
        if (match.length === 0) continue;
        const lines = match.split(/(?:\\+[nr]|\s)+/).filter((line) => line !== "");
        // Any word may follow a name: "token: required".
        const isAfterName = pattern === this.#assigned || pattern === oauthParameter;
        if (!isAfterName || isUnlikelyWord(match)) for (const line of lines) this.add(line);
        // The user and the password of a URL are one match.
        if (text.startsWith("://", index - 3)) this.add(match.slice(match.indexOf(":") + 1));
        if (index < from && index + match.length > from) {
          this.add(text.slice(index, from).trim());
          this.add(text.slice(from, index + match.length).trim());
        }
      }
  }

  #learnJson(text: string, depth: number): void {
    try {
      this.#learnValue(JSON.parse(text), depth + 1);
    } catch {
      // It only looks like JSON at the start.
    }
  }

  #learnValue(value: unknown, depth: number, secret = false): void {
    if (typeof value === "string") {
      if (secret) this.add(value);
      else this.learnText(value, 0, depth);
    } else if (Array.isArray(value)) for (const each of value) this.#learnValue(each, depth, secret);
    else if (isObject(value))
      for (const [name, each] of Object.entries(value))
        this.#learnValue(each, depth, secret || this.isSecretName(name));
  }

  /** Remembers the credentials in headers: a value, the part after its scheme, the values of cookies, the password of `Basic`. */
  learnHeaders(headers: NonNullable<HttpEntry["headers"]>): void {
    for (const [name, value] of headers) {
      const lower = name.toLowerCase();
      if (lower === "location" || lower === "referer") this.learnUrl(value);
      if (lower === "cookie" || lower === "set-cookie") this.#learnCookies(value, lower);
      else if (this.isSecretHeader(name)) this.#learnCredential(value);
      else this.learnText(value);
    }
  }

  #learnCookies(value: string, header: string): void {
    const pairs = value.split(/;\s*/);
    // The first pair of Set-Cookie is the cookie; its attributes follow.
    for (const pair of header === "cookie" ? pairs : pairs.slice(0, 1)) {
      const text = pair.slice(pair.indexOf("=") + 1).replaceAll('"', "");
      this.add(text);
      this.add(decoded(text));
    }
  }

  #learnCredential(value: string): void {
    const [scheme = "", ...rest] = value.trim().split(/\s+/);
    if (rest.length === 0) this.add(base64Param(scheme) ?? scheme);
    for (const word of rest) this.add(word);
    if (/^basic$/i.test(scheme)) {
      const pair = textOfBase64(rest[0] ?? "") ?? "";
      this.add(pair);
      this.add(pair.slice(pair.indexOf(":") + 1));
    }
  }

  /** Remembers the secrets in a URL: the password, and parameters with the name of a secret. */
  learnUrl(url: string): void {
    this.learnText(url);
    for (const pair of url.split(/[?#&]/).slice(1)) {
      const [name = "", value = ""] = pair.split("=");
      const isSecret = this.isSecretName(decoded(name));
      if (!isSecret && !(oauthNames.has(plainName(decoded(name))) && isUnlikelyWord(value))) continue;
      this.add(value);
      this.add(decoded(value));
    }
    const [, password = ""] = /^[a-z][a-z\d+.-]*:\/\/[^\s/@:]*:([^\s/@]*)@/i.exec(url) ?? [];
    this.add(password);
    this.add(decoded(password));
  }

  /** The secrets in a range of bytes: those that are recognized by their shape, and known ones. */
  find(bytes: Uint8Array, range: ByteRange): readonly ByteRange[] {
    return [...this.#findShapes(bytes, range), ...this.findKnown(bytes, range)];
  }

  #findShapes(bytes: Uint8Array, [from, to]: ByteRange): readonly ByteRange[] {
    const piece = bytes.subarray(from, to);
    const text = decodeUtf8(piece);
    const written = text ?? bytewise.decode(piece);
    if (!this.mayBeIn(written)) return [];
    return this.#patterns.flatMap((pattern) => {
      let [index, offset] = [0, from];
      // Count from one match to the next, so that each character is counted once.
      const offsetOf = (next: number): number => {
        offset += text === undefined ? next - index : encoder.encode(written.slice(index, next)).length;
        index = next;
        return offset;
      };
      try {
        return Array.from(written.matchAll(pattern), ({ 0: match, index: at }): ByteRange => {
          const start = offsetOf(at);
          return [start, offsetOf(at + match.length)];
        }).filter(([start, end]) => end > start);
      } catch (error) {
        // V8 can run out of stack in a match of megabytes, in a process with many compiled patterns. Then the whole text is
        // covered.
        if (!(error instanceof RangeError)) throw error;
        return [[from, to] as const];
      }
    });
  }

  /** The known secrets in a range of bytes. With `cut`, also their beginnings where a text says that it was shortened. */
  findKnown(bytes: Uint8Array, [from, to]: ByteRange, cut = false): readonly ByteRange[] {
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

/** A string, a number or a name of a message. */
interface Scalar {
  readonly node: JsonNode;
  /** Whether the whole value is secret, by name or place. */
  readonly secret: boolean;
  /** Whether only known secrets are searched for in it: it is a name, or part of a schema. */
  readonly described: boolean;
}

/** The names of further secret members in an object of this kind: a body of OAuth, a JSON Web Key. */
function furtherSecrets(
  members: readonly { readonly key: string }[],
  isWhole: boolean,
): ReadonlySet<string> | undefined {
  if (members.some(({ key }) => key === "kty")) return privateMembers;
  const isOAuth = isWhole && members.some(({ key }) => oauthMembers.has(plainName(key)));
  return isOAuth && members.every(({ key }) => key !== "jsonrpc") ? oauthNames : undefined;
}

/** Members of the protocol, which are never secret by name or place. Known secrets are covered here, too. */
const framework: ReadonlySet<unknown> = new Set(["jsonrpc", "method", "id"]);

/** Schemas describe values and hold none: those of tools and of elicitation forms. */
const schemaNames: ReadonlySet<unknown> = new Set(["inputSchema", "outputSchema", "requestedSchema"]);
const schemaPlace =
  /^(?:\/result|\/params|\/result\/inputRequests\/[^/]+\/params)\/(?:tools\/\d+\/(?:in|out)putSchema|requestedSchema)$/;

function isDescription(path: readonly (string | number)[]): boolean {
  const last = path.at(-1);
  if (path.length === 1) return framework.has(last);
  return schemaNames.has(last) && schemaPlace.test(path.map((token) => `/${pointerToken(token)}`).join(""));
}

function isAt(pattern: readonly string[], path: readonly (string | number)[]): boolean {
  // A pattern begins with the empty token before the first slash.
  return (
    pattern.length === path.length + 1 &&
    path.every((token, at) => pattern[at + 1] === "*" || pattern[at + 1] === pointerToken(token))
  );
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** A value after a secret name in a text: `token=…`, `"password": "…"`, also with escaped quotes. */
function assigned(names: readonly string[]): RegExp {
  const written = names.map((name) =>
    escaped(name)
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "[-_]?")
      .replaceAll(/(?<=\w)[-_](?=\w)/g, "[-_]?"),
  );
  // Skips what cannot begin a value: a lookbehind over a long run of spaces would take quadratic time.
  return new RegExp(
    `(?=[^\\s"'\\\\,;&{}[\\]]{3})(?<=(?<![a-z])(?:${written.join("|")})(?:\\\\?["'])?\\s*[:=]\\s*(?:\\\\?["'])?)[^\\s"'\\\\,;&{}[\\]]{3,}`,
    "gi",
  );
}

function everywhere(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

/** Whether another occurrence of a text is certainly the same secret: a short text, or few digits, may occur by chance. */
function isTelling(text: string): boolean {
  if (text.length >= shortest) return !/^[\s*█]*$/.test(text);
  return text.length >= shortestWord && /\d/.test(text) && /\D/.test(text);
}

/** Whether a text is unlikely to be an ordinary word. A password of only letters or only digits is not searched for elsewhere. */
function isUnlikelyWord(text: string): boolean {
  return text.length >= 24 || (/\d/.test(text) && /[a-z]/i.test(text)) || /[a-z][A-Z]/.test(text);
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

/** Whether a range is a whole word: no letter or digit is adjacent. */
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

/** A header value that is not ASCII is encoded in base64. */
function base64Param(value: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  return encoded === undefined ? undefined : textOfBase64(encoded);
}

function textOfBase64(text: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  } catch {
    return undefined; // Not base64.
  }
}

function percentEncoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // A lone surrogate cannot be in a URL.
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text; // Malformed percent-encoding.
  }
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
