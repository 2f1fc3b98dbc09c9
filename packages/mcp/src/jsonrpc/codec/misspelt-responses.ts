import { isObject, kindOf, parseJson } from "../../base/json.js";
import { codes } from "../errors.js";
import type { Limits } from "../limits.js";
import type { ErrorObject } from "../message.js";
import { limitExceededByText, limitExceededByValue } from "./decode.js";

/**
 * How to treat an invalid response that can be matched to its call: `explain` fails the call at once and names the broken rule;
 * `accept` accepts the intended response and reports it.
 */
export type ResponseTolerance = "explain" | "accept";

/** An invalid response whose request can be guessed. */
export interface MisspeltResponse {
  /** The id as it was received: mostly a number in quotes, or none. */
  readonly id: unknown;
  readonly outcome: { readonly result: unknown } | { readonly error: ErrorObject };
  /** The rule that it breaks. */
  readonly reason: string;
}

// Colours of a terminal, NULs and byte order marks around a message. A text before it makes it a log line, and no answer.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const wrapping = /\u001b\[[\d;?]*[A-Za-z]|[\u0000\ufeff]/;

const everyWrapping = new RegExp(wrapping, "g");

/** The responses that a text was meant to be: none for what is JSON of another kind, or no JSON, or breaks a bound. */
export function misspeltResponses(text: string, limits: Limits): readonly MisspeltResponse[] {
  if (limitExceededByText(text, limits) !== undefined) return [];
  const bare = text.replaceAll(everyWrapping, "").trim();
  if (!bare.startsWith("{") && !bare.startsWith("[")) return [];
  const whole = parseJson(bare);
  const value = whole ?? parseJson(bare.slice(0, Math.max(bare.lastIndexOf("}"), bare.lastIndexOf("]")) + 1));
  if (value === undefined || limitExceededByValue(value, text, limits) !== undefined) return [];
  const isAlone = whole !== undefined && !wrapping.test(text);
  const wrapped = isAlone ? undefined : "a frame must hold a message and nothing else";
  if (!Array.isArray(value)) return meant(value, wrapped);
  return value.slice(0, limits.batch).flatMap((each) => meant(each, "a response must not be in an array"));
}

function meant(value: unknown, wrapped: string | undefined): readonly MisspeltResponse[] {
  if (!isObject(value) || typeof value.method === "string") return [];
  const { jsonrpc, id, method = null, result, error = null } = value;
  if (result === undefined && error === null && !("result" in value || "id" in value)) return [];
  const broken: string[] = wrapped === undefined ? [] : [wrapped];
  if (jsonrpc !== "2.0") broken.push(`jsonrpc must be "2.0", got ${shown(jsonrpc)}`);
  if ("method" in value && method === null) broken.push("a response must have no method");
  if (typeof id !== "number") broken.push(`id must be that of the request, got ${shown(id)}`);
  if (error === null) {
    if ("error" in value) broken.push("a response with a result must have no error");
    if (result === undefined) broken.push("a response must have a result or an error");
    return [{ id, outcome: { result: result ?? null }, reason: reasonOf(broken) }];
  }
  if ("result" in value) broken.push("a response with an error must have no result");
  const { error: read, rule } = errorOf(error);
  if (rule !== undefined) broken.push(rule);
  return [{ id, outcome: { error: read }, reason: reasonOf(broken) }];
}

function errorOf(error: unknown): { readonly error: ErrorObject; readonly rule?: string } {
  if (!isObject(error)) {
    const message = typeof error === "string" ? error : JSON.stringify(error);
    return { error: { code: codes.internalError, message }, rule: `error must be an object, got ${kindOf(error)}` };
  }
  const { code, message, data } = error;
  const number = Number(code);
  const isSound = Number.isSafeInteger(code) && typeof message === "string";
  const read = {
    code: Number.isSafeInteger(number) ? number : codes.internalError,
    message: typeof message === "string" ? message : "",
    ...(data === undefined ? {} : { data }),
  };
  return isSound ? { error: read } : { error: read, rule: "an error must have an integer code and a message" };
}

function reasonOf(broken: readonly string[]): string {
  return broken.length === 0 ? "it is not one frame" : broken.join("; ");
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  return typeof value === "number" ? String(value) : kindOf(value);
}

/** Lines that one message may be spread over. */
const mostLines = 10_000;

/**
 * Puts a message together again that was printed over several lines, as a pretty-printer does: from a line with nothing but an
 * opening bracket to one that begins with the closing one.
 */
export class SpreadMessage {
  readonly #maxLength: number;
  #lines: string[] = [];
  #length = 0;

  /** @param maxLength characters that are kept at most */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Takes a line that is no message; gives the text of the message that it completes. */
  push(line: string): string | undefined {
    if (/^[[{]\s*$/.test(line)) this.clear();
    else if (this.#lines.length === 0) return undefined;
    this.#lines.push(line);
    this.#length += line.length;
    if (this.#lines.length > mostLines || this.#length > this.#maxLength) this.clear();
    if (!/^[\]}]/.test(line) || this.#lines.length < 2) return undefined;
    const text = this.#lines.join("\n");
    this.clear();
    return text;
  }

  clear(): void {
    this.#lines = [];
    this.#length = 0;
  }
}
