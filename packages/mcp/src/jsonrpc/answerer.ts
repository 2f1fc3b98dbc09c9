import { isPromise } from "../base/maybe-promise.js";
import type { Call, Exchange } from "./call.js";
import { type Decoded, decode, Problem } from "./codec/decode.js";
import { encodeFailure, encodeSuccess } from "./codec/encode.js";
import { codes, type ErrorMapper, HookError, internalError, RpcError } from "./errors.js";
import { atOnce } from "./hooks.js";
import { type ErrorObject, type Id, idKey, type Message, type Params } from "./message.js";
import { type PeerOptions, type PeerSettings, peerSettings, responseToProblem } from "./peer-settings.js";
import { faultOf, type Reporter } from "./report.js";

/** Answers single frames without a connection, for a POST handler, a queue worker or a test. */
export type Answerer = (frame: string, exchange?: Exchange) => string | undefined | Promise<string | undefined>;

/**
 * Returns a function that takes the text of a frame and returns the text of its response, or undefined if JSON-RPC 2.0
 * requires none. The function returns a promise only if a handler does. It never throws and never rejects.
 *
 * @example
 * const answer = answerer(createService().method("ping", () => "pong").call);
 * answer('{"jsonrpc":"2.0","id":1,"method":"ping"}'); // '{"jsonrpc":"2.0","id":1,"result":"pong"}'
 */
export function answerer(handle: Call, options: PeerOptions = {}): Answerer {
  const settings = peerSettings(options);
  const { profile, limits, exactNumbers } = settings;
  const detached = detachedExchange(settings.report);
  return (frame, exchange = detached) =>
    answerDecoded(handle, decode(frame, profile, limits, exactNumbers), frame, exchange, settings);
}

type Answer = string | undefined | Promise<string | undefined>;

/** Answers a frame that is already decoded. */
export function answerDecoded(
  handle: Call,
  decoded: Decoded,
  frame: string,
  exchange: Exchange,
  settings: PeerSettings,
): Answer {
  if (Array.isArray(decoded)) return answerBatch(handle, decoded, frame, exchange, settings);
  return answerOne(handle, decoded as Message | Problem, frame, exchange, settings);
}

function answerOne(
  handle: Call,
  message: Message | Problem,
  frame: string,
  exchange: Exchange,
  settings: PeerSettings,
): Answer {
  if (message instanceof Problem) {
    settings.report({ kind: "invalid", problem: message, frame });
    return responseToProblem(message, settings.profile);
  }
  if (!("method" in message)) {
    settings.report({ kind: "unmatched", response: message });
    return undefined;
  }
  if ("id" in message) return runRequest(handle, message.id, message.method, message.params, exchange, settings);
  return runNotification(handle, message.method, message.params, exchange, settings);
}

function answerBatch(
  handle: Call,
  batch: readonly (Message | Problem)[],
  frame: string,
  exchange: Exchange,
  settings: PeerSettings,
): Answer {
  const ids = new Set<unknown>();
  let waits = false;
  const answers: Answer[] = batch.map((each) => {
    const answer = answerOne(
      handle,
      each instanceof Problem ? each : (repeatedId(each, ids) ?? each),
      frame,
      exchange,
      settings,
    );
    waits ||= typeof answer === "object";
    return answer;
  });
  return waits ? Promise.all(answers).then(joinResponses) : joinResponses(answers as (string | undefined)[]);
}

/** The problem of a request whose id is that of an earlier request of the batch; otherwise adds its id to `ids`. */
export function repeatedId(message: Message, ids: Set<unknown>): Problem | undefined {
  if (!("method" in message && "id" in message)) return undefined;
  const key = idKey(message.id);
  if (ids.has(key)) return inFlightProblem(message.id);
  ids.add(key);
  return undefined;
}

/** The problem of a request whose id is that of a running one. The running request continues. */
export function inFlightProblem(id: Id): Problem {
  return new Problem(codes.invalidRequest, "id belongs to a request that is still in flight", "/id", id, "request");
}

/** The response to a batch; undefined if it has only notifications. */
export function joinResponses(answers: readonly (string | undefined)[]): string | undefined {
  const given = answers.filter((answer) => answer !== undefined);
  return given.length === 0 ? undefined : `[${given.join(",")}]`;
}

/** The exchange of a call without a connection: it is never cancelled, and it drops notifications. */
function detachedExchange(report: Reporter): Exchange {
  return {
    get signal(): AbortSignal {
      return new AbortController().signal;
    },
    notify: () => undefined,
    drained: () => Promise.resolve(),
    report,
  };
}

/** An exchange that may know that it has ended. Errors after its end are not reported: a cancelled handler stops by throwing. */
interface Endable extends Exchange {
  readonly over?: boolean;
  /** Called with the error of the response and the thrown value. */
  failed?(error: ErrorObject, thrown: unknown): void;
}

/** Runs a request and returns its response. A result that cannot be serialised is answered with an error. */
export function runRequest(
  handle: Call,
  id: Id,
  method: string,
  params: Params | undefined,
  exchange: Endable,
  settings: PeerSettings,
): string | Promise<string> {
  try {
    const result = handle(method, params, exchange);
    if (!isPromise(result)) return encodeSuccess(id, result, settings.profile);
    return Promise.resolve(result).then(
      (value) => finish(id, method, params, value, exchange, settings),
      (error: unknown) => fail(id, method, params, error, exchange, settings),
    );
  } catch (error) {
    return fail(id, method, params, error, exchange, settings);
  }
}

function finish(
  id: Id,
  method: string,
  params: Params | undefined,
  result: unknown,
  exchange: Endable,
  settings: PeerSettings,
): string {
  try {
    return encodeSuccess(id, result, settings.profile);
  } catch (error) {
    return fail(id, method, params, error, exchange, settings);
  }
}

function fail(
  id: Id,
  method: string,
  params: Params | undefined,
  thrown: unknown,
  exchange: Endable,
  settings: PeerSettings,
): string {
  const fault = (error: unknown): void => {
    if (exchange.over !== true) settings.report(faultOf(method, error, settings.nameOf?.(method, params)));
  };
  const told = toErrorObject(thrown, settings.mapError, fault);
  exchange.failed?.(told, thrown);
  return encodeFailure(id, told, settings.profile);
}

/**
 * Converts a thrown value to the error that the peer receives. A value that is neither an `RpcError` nor mapped to one
 * becomes *Internal error* without a message, a stack or a cause; `fault` gets the value.
 */
export function toErrorObject(
  error: unknown,
  map: ErrorMapper | undefined,
  fault: (error: unknown) => void,
): ErrorObject {
  const thrown = error instanceof HookError ? error.cause : error;
  try {
    const told = thrown instanceof RpcError ? thrown : map && atOnce("mapError", () => map(thrown));
    if (told instanceof RpcError) return told.toJSON();
  } catch (failed) {
    fault(failed);
  }
  fault(error);
  return internalError;
}

/** Runs a notification. It has no response, not even for an error. */
export function runNotification(
  handle: Call,
  method: string,
  params: Params | undefined,
  exchange: Endable,
  settings: PeerSettings,
): undefined | Promise<undefined> {
  const fault = (error: unknown): undefined => {
    if (exchange.over !== true) settings.report(faultOf(method, error, settings.nameOf?.(method, params)));
  };
  try {
    const result = handle(method, params, exchange);
    return isPromise(result) ? Promise.resolve(result).then(() => undefined, fault) : undefined;
  } catch (error) {
    return fault(error);
  }
}
