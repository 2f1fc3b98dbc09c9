// The five forms of JSON-RPC 2.0: request, notification, success, failure, and a batch of them.
// https://www.jsonrpc.org/specification

import { parseExactly } from "./codec/scan.js";

/**
 * A number that JavaScript cannot hold exactly, kept as it was written: `9007199254740993`, `1e400`, `-0`, `1.5`.
 * It appears as the id of a received message, so that the answer carries the same literal, and inside of what was read
 * with `exactNumbers`; an encoder of this library writes it as it came.
 */
export class ExactNumber {
  /** The literal as it was written, such as `1e400`. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /**
   * The value of a JSON text, as `JSON.parse` returns it, but with an `ExactNumber` for each number that a double would change.
   *
   * @example
   * ExactNumber.parse('{"id":12345678901234567890,"n":2}'); // { id: ExactNumber { text: "12345678901234567890" }, n: 2 }
   *
   * @throws SyntaxError for a text that is not JSON
   */
  static parse(text: string): unknown {
    const value: unknown = JSON.parse(text);
    return parseExactly(text, (literal) => new ExactNumber(literal)) ?? value;
  }

  /**
   * The JSON text of a value, with each `ExactNumber` in it as its literal.
   *
   * @param indent spaces per level. Default: the text is one line
   *
   * @example
   * ExactNumber.stringify({ id: new ExactNumber("12345678901234567890") }); // '{"id":12345678901234567890}'
   *
   * @throws TypeError for a value without a JSON form (a BigInt, a cycle, a function), RangeError for one nested too deeply
   */
  static stringify(value: unknown, indent?: number): string {
    if (value instanceof RawJson) return value.text;
    const outer = writing;
    const own = { mark: "" };
    writing = own;
    let text: string | undefined;
    try {
      text = JSON.stringify(value, undefined, indent);
    } finally {
      writing = outer;
    }
    if (text === undefined) throw new TypeError(`A ${typeof value} is not a JSON value`);
    if (own.mark === "") return text;
    return text
      .split(`"${own.mark}`)
      .map((part, index) => (index === 0 ? part : part.replace('"', "")))
      .join("");
  }

  /** The literal as it was written. */
  toString(): string {
    return this.text;
  }

  /** The literal, with a mark in front that `stringify` removes together with the quotes. */
  toJSON(): string {
    written.exactNumbers += 1;
    if (writing === undefined) return this.text;
    writing.mark ||= crypto.randomUUID();
    return writing.mark + this.text;
  }
}

/** How many exact numbers `JSON.stringify` has been given: a text without any needs no literals. */
export const written = { exactNumbers: 0 };

/**
 * The state of the running `ExactNumber.stringify`; undefined outside of one. `mark` is empty until the value contains an exact
 * number. It is random, so that no received string contains it.
 */
let writing: { mark: string } | undefined;

/** A result or params that are already serialised; the encoder inserts the text unchanged. The text must be one JSON value. */
export class RawJson {
  /** The JSON text, as it is spliced into the message. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The parsed value, for `JSON.stringify`. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Id that matches a response to its request: `1` and `"1"` are different ids. */
export type Id = string | number | null | ExactNumber;

/** Arguments by name or by position. */
export type Params = Readonly<Record<string, unknown>> | readonly unknown[];

/** A message that expects a response with its id. */
export interface RpcRequest {
  readonly jsonrpc: "2.0";
  /** The id that the response repeats. Unique among the requests in flight of its sender. */
  readonly id: Id;
  /** The method to call. */
  readonly method: string;
  /** The arguments; absent for a method without any. */
  readonly params?: Params;
}

/** A message without a response. */
export interface RpcNotification {
  readonly jsonrpc: "2.0";
  /** The method of the notification. */
  readonly method: string;
  /** The arguments; absent for a notification without any. */
  readonly params?: Params;
}

export interface RpcSuccess {
  readonly jsonrpc: "2.0";
  /** The id of the answered request. */
  readonly id: Id;
  /** The result; any JSON value. */
  readonly result: unknown;
}

/** The error member of a failure. */
export interface ErrorObject {
  /** The code of the error: an integer. */
  readonly code: number;
  /** A short description of the error, for people. */
  readonly message: string;
  /** Further details; any JSON value. */
  readonly data?: unknown;
}

/** A failed call. Without an id (or with a null one) where the id of the request could not be read. */
export interface RpcFailure {
  readonly jsonrpc: "2.0";
  /** The id of the answered request; null, or absent, if it could not be read. */
  readonly id?: Id;
  /** The error of the request. */
  readonly error: ErrorObject;
}

/** The result or the error of a request. */
export type RpcResponse = RpcSuccess | RpcFailure;
/** A message of JSON-RPC 2.0. */
export type Message = RpcRequest | RpcNotification | RpcResponse;
export type Batch = readonly Message[];

/** A request. Leave `params` out for a method without any. */
export function request(id: Id, method: string, params?: Params): RpcRequest {
  return params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params };
}

/** A notification: a request without a response. */
export function notification(method: string, params?: Params): RpcNotification {
  return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
}

export function success(id: Id, result: unknown): RpcSuccess {
  return { jsonrpc: "2.0", id, result };
}

/** A failure; `id` is undefined where none could be read and the profile leaves it out. */
export function failure(id: Id | undefined, error: ErrorObject): RpcFailure {
  return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
}

/**
 * Whether a message is a request.
 *
 * @example
 * if (isRequest(message)) console.log(message.id, message.method);
 */
export function isRequest(message: Message): message is RpcRequest {
  return "method" in message && "id" in message;
}

/**
 * Whether a message is a notification.
 *
 * @example
 * if (isNotification(message)) console.log(message.method);
 */
export function isNotification(message: Message): message is RpcNotification {
  return "method" in message && !("id" in message);
}

/**
 * Whether a message is a response: a result or an error.
 *
 * @example
 * if (isResponse(message)) console.log("error" in message ? message.error : message.result);
 */
export function isResponse(message: Message): message is RpcResponse {
  return !("method" in message);
}

/** A key for a `Map` under which two ids meet only if they are the same id. */
export function idKey(id: Id): string | number | null {
  if (id instanceof ExactNumber) return `\u0000number ${id.text}`;
  return typeof id === "string" && id.startsWith("\u0000") ? `\u0000string ${id}` : id;
}
