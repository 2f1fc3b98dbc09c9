import { escapeControls } from "../../base/escape-controls.js";
import { isObject, type JsonObject, kindOf, parseJson } from "../../base/json.js";
import { codes } from "../errors.js";
import { type Limits, serverLimits } from "../limits.js";
import { ExactNumber, type Id, type Message, type Params } from "../message.js";
import { baseProfile, type Profile } from "../profile.js";
import {
  closeBrace,
  closeBracket,
  comma,
  type MemberTexts,
  membersOf,
  membersOfElements,
  openBrace,
  openBracket,
  parseExactly,
  quote,
  skipString,
} from "./scan.js";

// From the text of a frame to a message: the limits before `JSON.parse`, the parse, the limits that need the parsed value, and
// the rules of JSON-RPC.

/** Contents of one frame: a message, the elements of a batch (each a message or a problem), or a problem. */
export type Decoded = Message | readonly (Message | Problem)[] | Problem;

/** The kind of an invalid message, as far as it can be recognized. */
export type ProblemSubject = "request" | "notification" | "response" | "unknown";

/** Why and where a value is not a message, and the id for the error response. */
export class Problem {
  /** Tells a problem from a message by `ok`. */
  readonly ok = false;
  /** The JSON-RPC error code of the response to it. */
  readonly code: number;
  /** One sentence: the rule, and the value that breaks it. */
  readonly reason: string;
  /** JSON pointer to the place (RFC 6901); `""` is the message itself. */
  readonly pointer: string;
  /** The id, if one could be read. */
  readonly id: Id | undefined;
  /** The kind of message that the frame was meant to be, as far as it can be read. */
  readonly subject: ProblemSubject;
  /** The message of the JSON parser. It quotes the peer's text and differs by runtime, so it is for logs and never for a response. */
  readonly detail: string | undefined;
  /** The parsed value of a frame that exceeds a limit. */
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
 * Decodes the text of one frame. Never throws.
 *
 * @example
 * decode('{"jsonrpc":"2.0","id":1,"method":"ping"}'); // { jsonrpc: "2.0", id: 1, method: "ping" }
 *
 * @param exactNumbers return numbers that a double would change as `ExactNumber`, also inside params, results and error data
 */
export function decode(
  text: string,
  profile: Profile = baseProfile,
  limits: Limits = serverLimits,
  exactNumbers = false,
): Message | readonly (Message | Problem)[] | Problem {
  const exceeded = limitExceededByText(text, limits);
  if (exceeded !== undefined) return limitProblem(exceeded, text, profile, limits);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const detail = error instanceof Error ? error.message : undefined;
    return new Problem(codes.parseError, "a frame must be JSON", "", undefined, "unknown", detail);
  }
  const parsedExceeds = limitExceededByValue(value, text, limits);
  if (parsedExceeds !== undefined) return limitProblem(parsedExceeds, text, profile, limits, undefined, value);
  if (Array.isArray(value)) return decodeBatch(value, text, profile, limits, exactNumbers);
  if (isObject(value) && isInexact(value.id)) keepExactId(value, membersOf(text));
  const problem = checkMessage(value, profile, limits);
  if (problem !== undefined) return problem;
  const message = value as Message; // `checkMessage` found no problem.
  return exactNumbers ? withExactPayload(message, exactly(text)) : message;
}

function decodeBatch(
  elements: readonly unknown[],
  text: string,
  profile: Profile,
  limits: Limits,
  exactNumbers: boolean,
): Decoded {
  const refuse = (reason: string): Problem => new Problem(codes.invalidRequest, reason, "");
  if (!profile.batches) return refuse("batches are not part of this protocol revision: send each message on its own");
  if (elements.length === 0) return refuse("a batch must have at least one message");
  if (elements.length > limits.batch)
    return refuse(`a batch of ${elements.length} messages, at most ${limits.batch} are accepted`);
  const exact = exactNumbers ? exactly(text) : undefined;
  let texts: MemberTexts[] | undefined;
  return elements.map((element, index) => {
    if (isObject(element) && isInexact(element.id)) {
      texts ??= membersOfElements(text);
      keepExactId(element, texts[index]);
    }
    const problem = checkMessage(element, profile, limits);
    if (problem !== undefined) return problem;
    return withExactPayload(element as Message, Array.isArray(exact) ? exact[index] : undefined);
  });
}

/**
 * The first rule of JSON-RPC 2.0 (restricted by `profile`) that `value` breaks; undefined for a message.
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
  if (params !== undefined && !(isStructured && (profile.positionalParams || !Array.isArray(params)))) {
    const [code, allowed] = profile.positionalParams
      ? [codes.invalidRequest, "an object or an array"]
      : [codes.invalidParams, "an object"];
    return new Problem(code, `params must be ${allowed}, got ${kindOf(params)}`, "/params", id, subjectOf(id, method));
  }
  if (method.startsWith("rpc.")) {
    const reason = `method names that begin with rpc. are reserved, got ${brief(method)}`;
    return new Problem(codes.methodNotFound, reason, "/method", id, subjectOf(id, method));
  }
  if (value.result !== undefined || value.error !== undefined) {
    const member = "result" in value ? "result" : "error";
    const reason = `a message with a method must not have ${member}`;
    return new Problem(codes.invalidRequest, reason, `/${member}`, id, subjectOf(id, method));
  }
  return undefined;
}

/** A message without a method is a response if it has a result or an error. */
function checkResponse(
  { jsonrpc, id, result, error }: JsonObject,
  profile: Profile,
  limits: Limits,
): Problem | undefined {
  const usable = usableId(id, profile, limits);
  const isEmpty = result === undefined && error === undefined;
  if (jsonrpc !== "2.0") return versionProblem(jsonrpc, usable, isEmpty ? "unknown" : "response");
  const problem = (reason: string, pointer: string, subject: ProblemSubject = "response"): Problem =>
    new Problem(codes.invalidRequest, reason, pointer, usable, subject);
  if (isEmpty) return problem("a message must have a method, a result or an error", "", "unknown");
  if (result !== undefined && error !== undefined)
    return problem("a response must not have both result and error", "/error");
  if (error !== undefined) {
    if (!isObject(error)) return problem(`error must be an object, got ${kindOf(error)}`, "/error");
    if (!Number.isSafeInteger(error.code))
      return problem(`code must be an integer, got ${brief(error.code)}`, "/error/code");
    if (typeof error.message !== "string")
      return problem(`message must be a string, got ${kindOf(error.message)}`, "/error/message");
    // In every profile, an error response has no id, or null, if the id of the request could not be read.
    if (id === undefined || id === null) return undefined;
  } else if (id === undefined) return problem("a response must have an id", "/id");
  return usable === undefined ? idProblem(id, profile, limits, "response") : undefined;
}

function subjectOf(id: unknown, method: unknown): ProblemSubject {
  return id === undefined && typeof method === "string" ? "notification" : "request";
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

/** A value for a message to people: short scalars in full, other values by their kind. */
function brief(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean" || value instanceof ExactNumber) return String(value);
  if (typeof value === "string")
    return value.length <= 40 ? escapeControls(JSON.stringify(value)) : `a string of ${value.length} characters`;
  return kindOf(value);
}

/** `id` if this side can echo it. */
function usableId(id: unknown, profile: Profile, limits: Limits): Id | undefined {
  return id !== undefined && isUsableId(id, profile, limits) ? id : undefined;
}

function isUsableId(id: unknown, profile: Profile, limits: Limits): id is Id {
  if (typeof id === "number") return Number.isInteger(id) || (profile.looseIds && Number.isFinite(id));
  // A character takes at most six bytes, so a short id need not be measured.
  if (typeof id === "string") return 6 * id.length <= limits.idBytes || idBytes(id) <= limits.idBytes;
  if (id === null) return profile.looseIds;
  return id instanceof ExactNumber && id.text.length <= limits.idBytes && (profile.looseIds || isInteger(id.text));
}

/** `-0`, `9007199254740993` and `1e400` are integers, `1.5` and `1e-1` are not. */
function isInteger(literal: string): boolean {
  return /^-?\d+(?:[eE]\+?\d+)?$/.test(literal);
}

/** The bytes of an id in a response, without the quotes. */
function idBytes(id: string | ExactNumber): number {
  return id instanceof ExactNumber ? id.text.length : new TextEncoder().encode(JSON.stringify(id)).length - 2;
}

/** True for a number that a double may have changed: not a safe integer, or a zero with a sign. */
export function isInexact(id: unknown): id is number {
  return typeof id === "number" && (!Number.isSafeInteger(id) || Object.is(id, -0));
}

function keepExactId(value: { id?: unknown }, members: MemberTexts | undefined): void {
  const literal = members?.get("id");
  if (literal !== undefined) value.id = new ExactNumber(literal);
}

/** The value of a text with an `ExactNumber` for each number that a double would change; undefined if there are none. */
function exactly(text: string): unknown {
  return parseExactly(text, (literal) => new ExactNumber(literal));
}

/** @param exact the same message with exact numbers; undefined if it has none */
function withExactPayload(message: Message, exact: unknown): Message {
  if (!isObject(exact)) return message;
  // The same text was checked, so the members have the types of the message.
  if ("params" in message) return { ...message, params: exact.params as Params };
  if ("result" in message) return { ...message, result: exact.result };
  if (!("error" in message) || message.error.data === undefined || !isObject(exact.error)) return message;
  return { ...message, error: { ...message.error, data: exact.error.data } };
}

/** The problem of a text that exceeds a limit, with the id and the subject that its beginning shows. */
export function limitProblem(
  reason: string,
  head: string,
  profile: Profile,
  limits: Limits,
  code: number = codes.invalidRequest,
  parsed?: unknown,
): Problem {
  const members = membersOf(head);
  const isResponse = members.has("result") || members.has("error");
  const subject = members.has("method") ? "request" : isResponse ? "response" : "unknown";
  return new Problem(code, reason, "", idIn(members, profile, limits), subject, undefined, parsed);
}

function idIn(members: MemberTexts, profile: Profile, limits: Limits): Id | undefined {
  const literal = members.get("id");
  // Each character of a string can be written as an escape of six.
  if (literal === undefined || literal.length > 6 * limits.idBytes + 2) return undefined;
  const id = parseJson(literal); // Undefined if it is cut off, or not JSON.
  return usableId(isInexact(id) ? new ExactNumber(literal) : id, profile, limits);
}

/**
 * The limit that a text exceeds, as a sentence: the checks before `JSON.parse`.
 *
 * An exact scan in JavaScript costs a quarter of the parse or more. So it runs only if the parse itself would be too expensive: if
 * the text has more brackets than values are allowed, or is long enough for millions of keys and has more commas. Any
 * other text is cheap to parse, and `limitExceededByValue` checks the parsed value before any handler sees it.
 */
export function limitExceededByText(text: string, limits: Limits): string | undefined {
  const isSuspect =
    text.length > limits.frameBytes ||
    (text.length >= 2 * limits.nodes && !hasAtMost(text, openers, limits.nodes)) ||
    (text.length >= 10 * limits.nodes && !hasAtMost(text, commas, limits.nodes));
  return isSuspect ? limitExceeded(text, limits) : undefined;
}

/** The same for the parsed value of a text: all limits that a text of its length can exceed. */
export function limitExceededByValue(value: unknown, text: string, limits: Limits): string | undefined {
  // A level takes two characters and a member four, and few brackets cannot nest deeply.
  const mayNest = text.length > 2 * limits.depth && !hasAtMost(text, openers, limits.depth);
  const mayCount = text.length >= 4 * limits.keys || text.length >= 2 * limits.nodes;
  if (typeof value !== "object" || value === null || !(mayNest || mayCount)) return undefined;
  return limits.depth > deepestWalk ? limitExceeded(text, limits) : measure(value, 1, { limits, nodes: 1 });
}

const openers = ["{", "["];
const commas = [","];

/** The levels that a recursion has room for. With a higher limit, the text is scanned instead. */
const deepestWalk = 500;

function hasAtMost(text: string, characters: readonly string[], most: number): boolean {
  let left = most;
  for (const character of characters) {
    for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) {
      left -= 1;
      if (left < 0) return false;
    }
  }
  return true;
}

/** The limit that a text exceeds, by one pass over its structure. Native search skips strings. The parser rejects a text that is not JSON. */
export function limitExceeded(text: string, limits: Limits): string | undefined {
  if (text.length > limits.frameBytes)
    return `frame of ${text.length} characters, at most ${limits.frameBytes} bytes are accepted`;
  const members: number[] = [];
  let nodes = 1;
  let afterOpener = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 0x20) continue;
    const closes = code === closeBrace || code === closeBracket;
    if (code === comma || (afterOpener && !closes)) {
      nodes += 1;
      const top = members.length - 1;
      members[top] = (members[top] ?? 0) + 1;
    }
    afterOpener = false;
    if (code === quote) {
      const end = skipString(text, at);
      if (end < 0) return undefined;
      at = end - 1;
    } else if (code === openBrace || code === openBracket) {
      if (members.push(0) > limits.depth) return `nested deeper than ${limits.depth} levels`;
      afterOpener = true;
    } else if (closes) {
      const count = members.pop() ?? 0;
      if (code === closeBrace && count > limits.keys)
        return `an object with ${count} members, at most ${limits.keys} are accepted`;
    }
    if (nodes > limits.nodes) return `more than ${limits.nodes} values`;
  }
  return undefined;
}

interface Tally {
  readonly limits: Limits;
  nodes: number;
}

/**
 * Recurses no deeper than the limit, so the depth of a value cannot exhaust the stack. Counting loops instead of iterators: this
 * visits every value of a large frame, and must cost little next to the parser.
 */
function measure(container: object, depth: number, tally: Tally): string | undefined {
  if (depth > tally.limits.depth) return `nested deeper than ${tally.limits.depth} levels`;
  return Array.isArray(container) ? measureArray(container, depth, tally) : measureObject(container, depth, tally);
}

function measureArray(elements: readonly unknown[], depth: number, tally: Tally): string | undefined {
  tally.nodes += elements.length;
  if (tally.nodes > tally.limits.nodes) return `more than ${tally.limits.nodes} values`;
  for (let index = 0; index < elements.length; index += 1) {
    const element = elements[index];
    const exceeded = typeof element === "object" && element !== null ? measure(element, depth + 1, tally) : undefined;
    if (exceeded !== undefined) return exceeded;
  }
  return undefined;
}

function measureObject(object: object, depth: number, tally: Tally): string | undefined {
  const { keys, nodes } = tally.limits;
  const members = object as Readonly<Record<string, unknown>>;
  let count = 0;
  // Parsed objects inherit no enumerable members.
  for (const key in members) {
    count += 1;
    const member = members[key];
    const exceeded = typeof member === "object" && member !== null ? measure(member, depth + 1, tally) : undefined;
    if (exceeded !== undefined) return exceeded;
  }
  if (count > keys) return `an object with ${count} members, at most ${keys} are accepted`;
  tally.nodes += count;
  return tally.nodes > nodes ? `more than ${nodes} values` : undefined;
}

/** Replaces an element of a list in a result that exceeds a limit; see `CallOptions.partial`. */
export class OutOfBounds {
  /** The limit, as a sentence. */
  readonly reason: string;
  /** The scalar members of the element, usually its name and title. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(reason: string, element: object) {
    this.reason = reason;
    this.members = Object.fromEntries(
      Object.entries(element)
        .slice(0, mostScalars)
        .filter(([, value]) => typeof value !== "object"),
    );
  }
}

const mostScalars = 100;

/**
 * The result of a response, with an `OutOfBounds` for each element of its lists that exceeds a limit by itself. Undefined if it is
 * not such a response, or still exceeds a limit.
 */
export function withinLimits(parsed: unknown, limits: Limits): JsonObject | undefined {
  if (!isObject(parsed) || parsed.jsonrpc !== "2.0" || !isObject(parsed.result) || parsed.error !== undefined)
    return undefined;
  const bounded = (element: unknown): unknown => {
    if (typeof element !== "object" || element === null) return element;
    const reason = measure(element, elementDepth, { limits, nodes: 1 });
    return reason === undefined ? element : new OutOfBounds(reason, element);
  };
  const members = Object.entries(parsed.result).map(([name, member]) => [
    name,
    Array.isArray(member) ? member.map(bounded) : member,
  ]);
  const result: JsonObject = Object.fromEntries(members);
  return measure({ ...parsed, result }, 1, { limits, nodes: 1 }) === undefined ? result : undefined;
}

/** The level of an element of a list: in an array, in the result, in the message. */
const elementDepth = 4;
