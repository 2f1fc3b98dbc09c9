import { isObject } from "@parlance/mcp/protocol";
import type { HttpEntry } from "../recording/entry.js";
import type { KnownSecrets } from "./known-secrets.js";
import { isSecretName, type Secrets } from "./secrets.js";

/** Levels of JSON that is written in a string of JSON. */
const deepest = 3;

/**
 * Remembers what is secret in a text by its shape or by a name before it; in one that is JSON itself, by the names of its members. A
 * secret that goes over `from` began in the piece before: its parts are remembered as well.
 */
export function learnText(text: string, secrets: Secrets, known: KnownSecrets, from = 0, depth = 0): void {
  if (!secrets.hint.test(text)) return;
  if (depth < deepest && /^\s*[{[]/.test(text)) learnJson(text, secrets, known, depth);
  for (const pattern of secrets.patterns)
    for (const { 0: match, index } of text.matchAll(pattern)) {
      if (match.length === 0) continue;
      const lines = match.split(/(?:\\+[nr]|\s)+/).filter((line) => line !== "");
      // Any word may follow a name: "token: required".
      if (pattern !== secrets.assigned || isUnlikelyWord(match)) for (const line of lines) known.add(line);
      // The user and the password of a URL are one match.
      if (text.startsWith("://", index - 3)) known.add(match.slice(match.indexOf(":") + 1));
      if (index < from && index + match.length > from) {
        known.add(text.slice(index, from).trim());
        known.add(text.slice(from, index + match.length).trim());
      }
    }
}

function learnJson(text: string, secrets: Secrets, known: KnownSecrets, depth: number): void {
  try {
    learnValue(JSON.parse(text), secrets, known, depth + 1);
  } catch {
    // It only looks like JSON at the start.
  }
}

/** Remembers what is secret in a value by the names of its members. */
function learnValue(value: unknown, secrets: Secrets, known: KnownSecrets, depth: number, secret = false): void {
  if (typeof value === "string") {
    if (secret) known.add(value);
    else learnText(value, secrets, known, 0, depth);
  } else if (Array.isArray(value)) for (const each of value) learnValue(each, secrets, known, depth, secret);
  else if (isObject(value))
    for (const [name, each] of Object.entries(value))
      learnValue(each, secrets, known, depth, secret || isSecretName(name, secrets));
}

/** Only letters, or only digits, may be an ordinary word: such a password in a text is not searched for elsewhere. */
function isUnlikelyWord(text: string): boolean {
  return text.length >= 24 || (/\d/.test(text) && /[a-z]/i.test(text)) || /[a-z][A-Z]/.test(text);
}

/** Remembers the credentials in headers: the whole of one, what follows its scheme, the values of cookies, the password of `Basic`. */
export function learnHeaders(headers: NonNullable<HttpEntry["headers"]>, secrets: Secrets, known: KnownSecrets): void {
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    const plain = lower.replace(/^mcp-param-/, "");
    if (lower === "location" || lower === "referer") learnUrl(value, secrets, known);
    if (lower === "cookie" || lower === "set-cookie") learnCookies(value, lower, known);
    else if (secrets.headers.has(lower) || isSecretName(plain, secrets)) learnCredential(value, known);
    else learnText(value, secrets, known);
  }
}

function learnCookies(value: string, header: string, known: KnownSecrets): void {
  const pairs = value.split(/;\s*/);
  // The first pair of Set-Cookie is the cookie; its attributes follow.
  for (const pair of header === "cookie" ? pairs : pairs.slice(0, 1)) {
    const text = pair.slice(pair.indexOf("=") + 1).replaceAll('"', "");
    known.add(text);
    known.add(decoded(text));
  }
}

function learnCredential(value: string, known: KnownSecrets): void {
  const [scheme = "", ...rest] = value.trim().split(/\s+/);
  if (rest.length === 0) known.add(base64Param(scheme) ?? scheme);
  for (const word of rest) known.add(word);
  if (/^basic$/i.test(scheme)) {
    const pair = textOfBase64(rest[0] ?? "") ?? "";
    known.add(pair);
    known.add(pair.slice(pair.indexOf(":") + 1));
  }
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

/** Remembers what is secret in a URL: the password, and parameters with the name of a secret. */
export function learnUrl(url: string, secrets: Secrets, known: KnownSecrets): void {
  learnText(url, secrets, known);
  for (const pair of url.split(/[?#&]/).slice(1)) {
    const [name = "", value = ""] = pair.split("=");
    if (!isSecretName(decoded(name), secrets)) continue;
    known.add(value);
    known.add(decoded(value));
  }
  const [, password = ""] = /^[a-z][a-z\d+.-]*:\/\/[^\s/@:]*:([^\s/@]*)@/i.exec(url) ?? [];
  known.add(password);
  known.add(decoded(password));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text; // It is not written as a URL has it.
  }
}
