import { kindOf } from "../base/json.js";
import type { ErrorObject } from "./message.js";

/** The codes that JSON-RPC 2.0 defines (§5.1), and the three that this engine adds. */
export const codes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** Ours, outside the reserved range: the peer sends more requests than this side runs and holds. */
  tooManyRequests: 42_900,
  /** Ours, outside the reserved range: the caller may not do that, because its token lacks a scope. */
  forbidden: 40_300,
  /** LSP's, outside the reserved range: the request was cancelled by its caller. */
  requestCancelled: -32_800,
} as const;

/** An error that crosses the wire: thrown by a handler, or received as the answer of a call. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** The code of the error response: an integer. */
  readonly code: number;
  /** The `data` of the error response; undefined without any. The peer sees it. */
  readonly data: unknown;

  /**
   * @param code an integer; applications use one outside −32768 … −32000
   * @param message one concise sentence; the peer sees it
   * @param data anything JSON; the peer sees it, so no secrets and no stack traces
   * @throws RangeError when the code is not a safe integer
   */
  constructor(code: number, message: string, data?: unknown, options?: ErrorOptions) {
    super(message, options);
    if (!Number.isSafeInteger(code)) {
      throw new RangeError(
        `An RpcError needs an integer code, got ${code}; see https://www.jsonrpc.org/specification#error_object`,
      );
    }
    this.code = code;
    this.data = data;
  }

  /** The error member of a failure. */
  toJSON(): ErrorObject {
    return this.data === undefined
      ? { code: this.code, message: this.message }
      : { code: this.code, message: this.message, data: this.data };
  }
}

/** Why a call ended without an answer from the peer. */
export type LocalReason =
  /** The connection was closed, by either side or by a broken transport. */
  | "closed"
  /** No answer in time. */
  | "timeout"
  /** The caller cancelled. */
  | "cancelled"
  /** This side does not send it: not serialisable, or not agreed with the peer. */
  | "refused"
  /** The peer answered, but with something that is not a response. */
  | "protocol";

/** An error that never crossed the wire. */
export class LocalError extends Error {
  /** `LocalError`, or the name of the class that extends it. */
  override readonly name: string = "LocalError";
  /** Why the call failed on this side. */
  readonly reason: LocalReason;

  constructor(reason: LocalReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** An error that a hook of the application threw (`cause`), with the name of the hook. See `hooks.ts`. */
export class HookError extends Error {
  override readonly name = "HookError";
  readonly hook: string;

  constructor(hook: string, cause: unknown) {
    super(`${hook} failed: ${thrownText(cause)}`, { cause });
    this.hook = hook;
  }
}

/** Anything thrown as text, even what cannot be turned into one. */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return "something that has no text was thrown";
  }
}

/**
 * The text of an error of `fetch`, which reports only that it failed: the reason is the innermost cause. A function of the application is
 * named.
 */
export function causeText(error: unknown): string {
  if (error instanceof HookError) return `${error.hook} failed: ${causeText(error.cause)}`;
  let at = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  if (!(at instanceof Error)) return thrownText(at);
  return at.message === "" && "code" in at ? String(at.code) : at.message;
}

/** One invalid argument: where (a JSON pointer into params) and why. */
export type ParamsFault = Readonly<{
  /** A JSON pointer to the place; empty for the params themselves. */
  path: string;
  /** The fault, in one sentence. */
  message: string;
}>;

/**
 * −32602 with every fault in `data.errors`.
 *
 * @example
 * throw invalidParams("Invalid date", [{ path: "/date", message: "expected a date, got a number" }]);
 */
export function invalidParams(message: string, errors: readonly ParamsFault[] = []): RpcError {
  return new RpcError(codes.invalidParams, message, errors.length === 0 ? undefined : { errors });
}

/** −32602 with these faults, and the message of the specification. */
export function faultyParams(...faults: readonly ParamsFault[]): RpcError {
  return invalidParams("Invalid params", faults);
}

/** As `invalidParams`, with the first fault in the message, too: many clients show nothing else. */
export function invalidParamsOf(message: string, errors: readonly ParamsFault[]): RpcError {
  const [first] = errors;
  return invalidParams(first === undefined ? message : `${message}: ${first.path}: ${first.message}`, errors);
}

/** Whether a call has failed with −32602. */
export function isInvalidParams(error: unknown): boolean {
  return error instanceof RpcError && error.code === codes.invalidParams;
}

/**
 * −32601 with the method in `data`, and the available ones where the server allows it.
 *
 * @example
 * throw methodNotFound("acme/unknown");
 */
export function methodNotFound(method: string, available?: readonly string[]): RpcError {
  const data = available === undefined ? { method } : { method, available };
  return new RpcError(codes.methodNotFound, "Method not found", data);
}

/** Meaning of an error code: its range, its name if it has one, and a sentence. */
export type CodeExplanation = Readonly<{
  /** The explained code. */
  code: number;
  /** The range of JSON-RPC that the code lies in. */
  range: "standard" | "server error" | "reserved" | "application";
  /** The name of the code, such as *Invalid params*. */
  name: string;
  /** The meaning of the code, in one sentence. */
  meaning: string;
}>;

const standardCodes: ReadonlyMap<number, readonly [name: string, meaning: string]> = new Map([
  [codes.parseError, ["Parse error", "Invalid JSON was received by the server"]],
  [codes.invalidRequest, ["Invalid Request", "The JSON sent is not a valid Request object"]],
  [codes.methodNotFound, ["Method not found", "The method does not exist or is not available"]],
  [codes.invalidParams, ["Invalid params", "Invalid method parameters"]],
  [codes.internalError, ["Internal error", "Internal JSON-RPC error: the server failed while it ran the method"]],
]);

const applicationCodes: ReadonlyMap<number, readonly [name: string, meaning: string]> = new Map([
  [
    codes.tooManyRequests,
    ["Too many requests", "The receiver has too many requests in flight: wait for responses, then retry"],
  ],
  [
    codes.forbidden,
    ["Forbidden", "The caller lacks a permission that the call requires; data.scopes names the scopes"],
  ],
  [codes.requestCancelled, ["Request cancelled", "The caller cancelled the request before it was answered, as in LSP"]],
]);

/**
 * Explains an error code by the ranges of JSON-RPC 2.0.
 * https://www.jsonrpc.org/specification#error_object
 *
 * @example
 * const { range, meaning } = explainCode(-32601);
 */
export function explainCode(code: number): CodeExplanation {
  const standard = standardCodes.get(code);
  if (standard !== undefined) return { code, range: "standard", name: standard[0], meaning: standard[1] };
  if (code >= -32_099 && code <= -32_000) {
    return {
      code,
      range: "server error",
      name: "Server error",
      meaning: "Reserved for implementation-defined server errors",
    };
  }
  if (code >= -32_768 && code <= -32_000) {
    return {
      code,
      range: "reserved",
      name: "Reserved",
      meaning: "Reserved by JSON-RPC for future use: it must not be sent",
    };
  }
  const [name, meaning] = applicationCodes.get(code) ?? [
    "Application error",
    "Defined by the application that sent it",
  ];
  return { code, range: "application", name, meaning };
}

/** Turns an application's own exceptions into errors for the wire, at once; undefined means: not mine. */
export type ErrorMapper = (error: unknown) => RpcError | undefined;

/** The error that a peer gets for a bug. */
export const internalError: ErrorObject = { code: codes.internalError, message: "Internal error" };

/** The fault of a member of params that is of the wrong kind. */
export function wrongKind(path: string, expected: string, value: unknown): ParamsFault {
  return { path, message: `must be ${expected}, got ${kindOf(value)}` };
}
