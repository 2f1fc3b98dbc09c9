import { codes } from "../errors.js";
import { type Limits, serverLimits } from "../limits.js";
import { type Batch, type ErrorObject, ExactNumber, type Id, type Message, type Params } from "../message.js";
import { baseProfile, type Profile } from "../profile.js";
import { brokenBoundIn, brokenBoundOf } from "./bounds.js";
import { checkMessage, Problem, type ProblemSubject, usableId, type Valid } from "./check-message.js";
import { parseExactly, stringifyExactly } from "./exact-numbers.js";
import { type MemberTexts, membersOf, membersOfElements } from "./scan.js";

/** Contents of one frame: a message, the elements of a batch (each a message or a problem), or a problem. */
export type Decoded = Message | readonly (Message | Problem)[] | Problem;

/** Text in; a message, a batch or a problem with the id it can be answered with out. Never throws. */
export function decode(text: string, profile: Profile = baseProfile, limits: Limits = serverLimits): Decoded {
  const bound = brokenBoundIn(text, limits);
  if (bound !== undefined) return boundProblem(bound, text, profile, limits);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const detail = error instanceof Error ? error.message : undefined;
    return new Problem(codes.parseError, "a frame must be JSON", "", undefined, "unknown", detail);
  }
  const broken = brokenBoundOf(value, text, limits);
  if (broken !== undefined) return boundProblem(broken, text, profile, limits, codes.invalidRequest, value);
  if (Array.isArray(value)) return decodeBatch(value, text, profile, limits);
  if (hasInexactId(value)) keepExactId(value, membersOf(text));
  return checkMessage(value, profile, limits) ?? (value as Message); // Checked in the same line.
}

function decodeBatch(elements: readonly unknown[], text: string, profile: Profile, limits: Limits): Decoded {
  const refuse = (reason: string): Problem => new Problem(codes.invalidRequest, reason, "");
  if (!profile.batches) return refuse("batches are not part of this protocol revision: send each message on its own");
  if (elements.length === 0) return refuse("a batch must have at least one message");
  if (elements.length > limits.batch)
    return refuse(`a batch of ${elements.length} messages, at most ${limits.batch} are accepted`);
  let texts: MemberTexts[] | undefined;
  return elements.map((element, index) => {
    if (hasInexactId(element)) {
      texts ??= membersOfElements(text);
      keepExactId(element, texts[index]);
    }
    return checkMessage(element, profile, limits) ?? (element as Message);
  });
}

/** Says what `value` is, or why and where it is not a message. */
export function validate(
  value: unknown,
  profile: Profile = baseProfile,
  limits: Limits = serverLimits,
): Valid | Problem {
  const problem = checkMessage(value, profile, limits);
  if (problem !== undefined) return problem;
  const message = value as Message; // Checked just above.
  if ("method" in message) return { ok: true, kind: "id" in message ? "request" : "notification", message };
  return { ok: true, kind: "result" in message ? "success" : "failure", message };
}

/** A message or a batch with the numbers in its params, results and data of errors as its frame writes them. */
export function withExactNumbers(decoded: Decoded, frame: string): Decoded {
  if (decoded instanceof Problem) return decoded;
  const exact = parseExactly(frame, (literal) => new ExactNumber(literal));
  if (exact === undefined) return decoded;
  // A frame that was decoded is what its text says: a message, or an array of what may be messages.
  if (!isElements(decoded)) return withPayloadOf(decoded, exact as Message);
  return decoded.map((each, index) =>
    each instanceof Problem ? each : withPayloadOf(each, (exact as readonly Message[])[index] as Message),
  );
}

function withPayloadOf(message: Message, exact: Message): Message {
  if ("params" in message && "params" in exact) return { ...message, params: exact.params as Params };
  if ("result" in message && "result" in exact) return { ...message, result: exact.result };
  if (!("error" in message && "error" in exact)) return message;
  const { data } = exact.error;
  return data === undefined ? message : { ...message, error: { ...message.error, data } };
}

// `Array.isArray` does not narrow a readonly array out of a union.
function isElements(decoded: Message | readonly (Message | Problem)[]): decoded is readonly (Message | Problem)[] {
  return Array.isArray(decoded);
}

/** True for a number that a double may have changed on its way in: not a safe integer, or a zero with a sign. */
export function isInexact(id: unknown): id is number {
  return typeof id === "number" && (!Number.isSafeInteger(id) || Object.is(id, -0));
}

function hasInexactId(value: unknown): value is { id: unknown } {
  const id = typeof value === "object" && value !== null ? (value as { id?: unknown }).id : undefined;
  return typeof id === "number" && isInexact(id);
}

function keepExactId(value: { id: unknown }, members: MemberTexts | undefined): void {
  const literal = members?.get("id");
  if (literal !== undefined) value.id = new ExactNumber(literal);
}

/** The problem of a text that breaks a bound, with what shows in the part that is here: its id, and what it was meant to be. */
export function boundProblem(
  reason: string,
  head: string,
  profile: Profile,
  limits: Limits,
  code: number = codes.invalidRequest,
  parsed?: unknown,
): Problem {
  const members = membersOf(head);
  const id = writtenId(members.get("id"), profile, limits);
  return new Problem(code, reason, "", id, subjectOf(members), undefined, parsed);
}

function subjectOf(members: MemberTexts): ProblemSubject {
  if (members.has("method")) return "request";
  return members.has("result") || members.has("error") ? "response" : "unknown";
}

function writtenId(literal: string | undefined, profile: Profile, limits: Limits): Id | undefined {
  // Every character of a string may be written as an escape of six.
  if (literal === undefined || literal.length > 6 * limits.idBytes + 2) return undefined;
  let id: unknown;
  try {
    id = JSON.parse(literal);
  } catch {
    return undefined; // It is cut off, or no JSON.
  }
  return usableId(isInexact(id) ? new ExactNumber(literal) : id, profile, limits);
}

/** An id as it stands on the wire. */
function encodeId(id: Id): string {
  return typeof id === "number" || id instanceof ExactNumber ? String(id) : JSON.stringify(id);
}

/** A result or params serialised earlier; the encoder puts its text in as it is. The text must be one JSON value. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/**
 * The text of a value.
 * @throws TypeError for what JSON cannot hold (a BigInt, a cycle, a function), RangeError for what is nested too deep
 */
export function encodeValue(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  const text = stringifyExactly(value);
  if (text === undefined) throw new TypeError(`A ${typeof value} is not a JSON value`);
  return text;
}

/** @throws as `encodeValue` */
export function encodeSuccess(id: Id, result: unknown, profile: Profile): string {
  const value = result === undefined ? profile.emptyResult : encodeValue(result);
  return `{"jsonrpc":"2.0","id":${typeof id === "number" ? id : encodeId(id)},"result":${value}}`;
}

/** A failure for the wire. Without an id to echo it carries null, or none, as the profile says. Never throws. */
export function encodeFailure(id: Id | undefined, error: ErrorObject, profile: Profile): string {
  const echoed = id ?? (profile.nullIdInFailure || (id === null && profile.looseIds) ? null : undefined);
  const idMember = echoed === undefined ? "" : `"id":${encodeId(echoed)},`;
  return `{"jsonrpc":"2.0",${idMember}"error":${encodeErrorObject(error)}}`;
}

function encodeErrorObject({ code, message, data }: ErrorObject): string {
  try {
    return encodeValue(data === undefined ? { code, message } : { code, message, data });
  } catch {
    return JSON.stringify({ code, message }); // The data is only help; the code and the message are the answer.
  }
}

/** @throws as `encodeValue` */
export function encodeRequest(id: Id | undefined, method: string, params: Params | RawJson | undefined): string {
  const idMember = id === undefined ? "" : `"id":${encodeId(id)},`;
  const paramsMember = params === undefined ? "" : `,"params":${encodeValue(params)}`;
  return `{"jsonrpc":"2.0",${idMember}"method":${JSON.stringify(method)}${paramsMember}}`;
}

/** A message or a batch as one frame. @throws as `encodeValue` */
export function encode(message: Message | Batch, profile: Profile = baseProfile): string {
  if (isBatch(message)) return `[${message.map((each) => encode(each, profile)).join(",")}]`;
  if ("method" in message)
    return encodeRequest("id" in message ? message.id : undefined, message.method, message.params);
  if ("error" in message) return encodeFailure(message.id, message.error, profile);
  return encodeSuccess(message.id, message.result, profile);
}

// `Array.isArray` does not narrow a readonly array out of a union.
function isBatch(message: Message | Batch): message is Batch {
  return Array.isArray(message);
}
