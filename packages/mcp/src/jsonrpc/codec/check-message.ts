import { escapeControls } from "../../base/escape-controls.js";
import { isObject, kindOf } from "../../base/json.js";
import { codes } from "../errors.js";
import type { Limits } from "../limits.js";
import { ExactNumber, type Id, type Message } from "../message.js";
import type { Profile } from "../profile.js";

/** The kind of an invalid message, as far as it can be recognized. */
export type ProblemSubject = "request" | "notification" | "response" | "unknown";

/** Why and where a value is not a message, and the id it can be answered with. */
export class Problem {
  readonly ok = false;
  /** The JSON-RPC error code that an answer to it carries. */
  readonly code: number;
  /** One sentence: the rule, and what was found instead. */
  readonly reason: string;
  /** JSON pointer to the place (RFC 6901); `""` is the message itself. */
  readonly pointer: string;
  /** The id, where one could be read. */
  readonly id: Id | undefined;
  readonly subject: ProblemSubject;
  /** The JSON parser's own words. They quote what was received and differ by runtime: for a log, never for an answer. */
  readonly detail: string | undefined;
  /** The parsed value of a frame that breaks a bound. */
  readonly parsed: unknown;

  constructor(
    code: number,
    reason: string,
    pointer: string,
    id?: Id,
    subject: ProblemSubject = "unknown",
    detail?: string,
    parsed?: unknown,
  ) {
    this.code = code;
    this.reason = reason;
    this.pointer = pointer;
    this.id = id;
    this.subject = subject;
    this.detail = detail;
    this.parsed = parsed;
  }
}

/**
 * The first rule of JSON-RPC 2.0 (as `profile` has it) that `value` breaks, or undefined if it is a message.
 * https://www.jsonrpc.org/specification#request_object
 */
export function checkMessage(value: unknown, profile: Profile, limits: Limits): Problem | undefined {
  if (!isObject(value))
    return new Problem(codes.invalidRequest, `a message must be an object, got ${kindOf(value)}`, "");
  const { jsonrpc, id, method, params } = value;
  if (method === undefined) return checkResponse(value, profile, limits);
  if (jsonrpc !== "2.0") return versionProblem(jsonrpc, usableId(id, profile, limits), subjectOf(id, method));
  if (id !== undefined && !isUsableId(id, profile, limits)) return idProblem(id, profile, limits, "request");
  if (typeof method !== "string" || method.length > limits.methodLength) return methodProblem(method, id, limits);
  const isStructured = typeof params === "object" && params !== null;
  if (params !== undefined && !(isStructured && (profile.positionalParams || !Array.isArray(params))))
    return paramsProblem(params, id, profile);
  if (method.startsWith("rpc.")) return reservedProblem(method, id);
  if (value.result !== undefined || value.error !== undefined) return mixedProblem(value, id);
  return undefined;
}

function subjectOf(id: unknown, method: unknown): ProblemSubject {
  return id === undefined && typeof method === "string" ? "notification" : "request";
}

function isUsableId(id: unknown, profile: Profile, limits: Limits): id is Id {
  if (typeof id === "number") return Number.isInteger(id) || (profile.looseIds && Number.isFinite(id));
  // No character takes more than six bytes, so a short id need not be measured.
  if (typeof id === "string") return 6 * id.length <= limits.idBytes || idBytes(id) <= limits.idBytes;
  if (id === null) return profile.looseIds;
  return id instanceof ExactNumber && id.text.length <= limits.idBytes && (profile.looseIds || isInteger(id.text));
}

/** `-0`, `9007199254740993` and `1e400` are integers, `1.5` and `1e-1` are not. */
function isInteger(literal: string): boolean {
  return /^-?\d+(?:[eE]\+?\d+)?$/.test(literal);
}

/** Bytes of an id as it is echoed, without the quotes. */
function idBytes(id: string | ExactNumber): number {
  return id instanceof ExactNumber ? id.text.length : new TextEncoder().encode(JSON.stringify(id)).length - 2;
}

/** `id` if this side can echo it. */
export function usableId(id: unknown, profile: Profile, limits: Limits): Id | undefined {
  return id !== undefined && isUsableId(id, profile, limits) ? id : undefined;
}

function versionProblem(jsonrpc: unknown, id: Id | undefined, subject: ProblemSubject): Problem {
  const found = jsonrpc === undefined ? "it is missing" : `got ${brief(jsonrpc)}`;
  return new Problem(codes.invalidRequest, `jsonrpc must be "2.0", ${found}`, "/jsonrpc", id, subject);
}

function idProblem(id: unknown, profile: Profile, limits: Limits, subject: ProblemSubject): Problem {
  const allowed = profile.looseIds ? "a string, a number or null" : "a string or an integer";
  const length = typeof id === "string" || id instanceof ExactNumber ? idBytes(id) : 0;
  const reason =
    length > limits.idBytes
      ? `id must be at most ${limits.idBytes} bytes long, got ${length}`
      : `id must be ${allowed}, got ${brief(id)}`;
  return new Problem(codes.invalidRequest, reason, "/id", undefined, subject);
}

function methodProblem(method: unknown, id: Id | undefined, limits: Limits): Problem {
  const reason =
    typeof method === "string"
      ? `method must be at most ${limits.methodLength} characters long, got ${method.length}`
      : `method must be a string, got ${kindOf(method)}`;
  return new Problem(codes.invalidRequest, reason, "/method", id, subjectOf(id, method));
}

function paramsProblem(params: unknown, id: Id | undefined, profile: Profile): Problem {
  const [code, allowed] = profile.positionalParams
    ? [codes.invalidRequest, "an object or an array"]
    : [codes.invalidParams, "an object"];
  return new Problem(code, `params must be ${allowed}, got ${kindOf(params)}`, "/params", id, subjectOf(id, ""));
}

function reservedProblem(method: string, id: Id | undefined): Problem {
  const reason = `method names that begin with rpc. are reserved, got ${brief(method)}`;
  return new Problem(codes.methodNotFound, reason, "/method", id, subjectOf(id, method));
}

function mixedProblem(value: object, id: Id | undefined): Problem {
  const member = "result" in value ? "result" : "error";
  const reason = `a message with a method must not have ${member}`;
  return new Problem(codes.invalidRequest, reason, `/${member}`, id, subjectOf(id, ""));
}

/** A message without a method is a response if it has a result or an error, and nothing that we know otherwise. */
function checkResponse(
  value: Readonly<Record<string, unknown>>,
  profile: Profile,
  limits: Limits,
): Problem | undefined {
  const { jsonrpc, id, result, error } = value;
  const given = usableId(id, profile, limits);
  if (result === undefined && error === undefined) return neitherProblem(jsonrpc, given);
  if (jsonrpc !== "2.0") return versionProblem(jsonrpc, given, "response");
  if (result !== undefined && error !== undefined) {
    return new Problem(
      codes.invalidRequest,
      "a response must not have both result and error",
      "/error",
      given,
      "response",
    );
  }
  if (error !== undefined) {
    // Only a failure may have no id, or null, whatever the profile: its request could not be read.
    const isUnread = id === undefined || id === null;
    return checkErrorMember(error, given) ?? (isUnread ? undefined : checkResponseId(id, given, profile, limits));
  }
  return checkResponseId(id, given, profile, limits);
}

function neitherProblem(jsonrpc: unknown, id: Id | undefined): Problem {
  if (jsonrpc !== "2.0") return versionProblem(jsonrpc, id, "unknown");
  return new Problem(codes.invalidRequest, "a message must have a method, a result or an error", "", id, "unknown");
}

function checkResponseId(id: unknown, given: Id | undefined, profile: Profile, limits: Limits): Problem | undefined {
  if (id === undefined)
    return new Problem(codes.invalidRequest, "a response must have an id", "/id", undefined, "response");
  return given === undefined ? idProblem(id, profile, limits, "response") : undefined;
}

function checkErrorMember(error: unknown, id: Id | undefined): Problem | undefined {
  const fault = (reason: string, pointer: string): Problem =>
    new Problem(codes.invalidRequest, reason, pointer, id, "response");
  if (!isObject(error)) return fault(`error must be an object, got ${kindOf(error)}`, "/error");
  if (!Number.isSafeInteger(error.code))
    return fault(`code must be an integer, got ${brief(error.code)}`, "/error/code");
  if (typeof error.message !== "string")
    return fault(`message must be a string, got ${kindOf(error.message)}`, "/error/message");
  return undefined;
}

/** A value for a sentence: short scalars as they are, everything else by its kind. */
function brief(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean" || value instanceof ExactNumber) return String(value);
  if (typeof value === "string")
    return value.length <= 40 ? escapeControls(JSON.stringify(value)) : `a string of ${value.length} characters`;
  return kindOf(value);
}

/** A valid message and which of the four forms it has. */
export interface Valid {
  readonly ok: true;
  readonly kind: "request" | "notification" | "success" | "failure";
  readonly message: Message;
}
