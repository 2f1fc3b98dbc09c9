import type { Call, Exchange } from "./call.js";
import { runNotification, runRequest } from "./calls/run-request.js";
import { Problem } from "./codec/check-message.js";
import type { Decoded } from "./codec/codec.js";
import { codes } from "./errors.js";
import { type Id, idKey, type Message } from "./message.js";
import { decodeOn, type PeerOptions, type PeerSettings, peerSettings, responseToProblem } from "./peer-settings.js";
import type { Reporter } from "./report.js";

/** Answers frames one by one, without a connection: what a POST handler, a queue worker or a test needs. */
export type Answerer = (frame: string, exchange?: Exchange) => string | undefined | Promise<string | undefined>;

/**
 * Text in, text out: the answer that JSON-RPC 2.0 owes to one frame, or undefined where it owes none. At once when the
 * handlers answer at once, else as a promise; it never throws and never rejects.
 *
 * @example
 * const answer = answerer(createService().method("ping", () => "pong").call);
 * answer('{"jsonrpc":"2.0","id":1,"method":"ping"}'); // '{"jsonrpc":"2.0","id":1,"result":"pong"}'
 */
export function answerer(handle: Call, options: PeerOptions = {}): Answerer {
  const terms = peerSettings(options);
  const detached = detachedExchange(terms.report);
  return (frame, exchange = detached) => answerDecoded(handle, decodeOn(terms, frame), frame, exchange, terms);
}

type Answer = string | undefined | Promise<string | undefined>;

/** The same for a frame that is decoded already. */
export function answerDecoded(
  handle: Call,
  decoded: Decoded,
  frame: string,
  exchange: Exchange,
  terms: PeerSettings,
): Answer {
  if (Array.isArray(decoded)) return answerBatch(handle, decoded, frame, exchange, terms);
  return answerOne(handle, decoded as Message | Problem, frame, exchange, terms);
}

function answerOne(
  handle: Call,
  message: Message | Problem,
  frame: string,
  exchange: Exchange,
  terms: PeerSettings,
): Answer {
  if (message instanceof Problem) {
    terms.report({ kind: "invalid", problem: message, frame });
    return responseToProblem(message, terms.profile);
  }
  if (!("method" in message)) {
    terms.report({ kind: "unmatched", response: message });
    return undefined;
  }
  if ("id" in message) return runRequest(handle, message.id, message.method, message.params, exchange, terms);
  return runNotification(handle, message.method, message.params, exchange, terms);
}

function answerBatch(
  handle: Call,
  batch: readonly (Message | Problem)[],
  frame: string,
  exchange: Exchange,
  terms: PeerSettings,
): Answer {
  const ids = new Set<unknown>();
  let waits = false;
  const answers: Answer[] = batch.map((each) => {
    const answer = answerOne(
      handle,
      each instanceof Problem ? each : (repeatedId(each, ids) ?? each),
      frame,
      exchange,
      terms,
    );
    waits ||= typeof answer === "object";
    return answer;
  });
  return waits ? Promise.all(answers).then(joinResponses) : joinResponses(answers as (string | undefined)[]);
}

/** The problem of a request whose id another request of the same batch has; else its id is noted. */
export function repeatedId(message: Message, ids: Set<unknown>): Problem | undefined {
  if (!("method" in message && "id" in message)) return undefined;
  const key = idKey(message.id);
  if (ids.has(key)) return inFlightProblem(message.id);
  ids.add(key);
  return undefined;
}

/** A second request with the id of one that is not answered yet: refused, and the first goes on. */
export function inFlightProblem(id: Id): Problem {
  return new Problem(codes.invalidRequest, "id belongs to a request that is still in flight", "/id", id, "request");
}

/** One array of the answers there are; nothing at all for a batch of notifications. */
export function joinResponses(answers: readonly (string | undefined)[]): string | undefined {
  const given = answers.filter((answer) => answer !== undefined);
  return given.length === 0 ? undefined : `[${given.join(",")}]`;
}

/** The surroundings of a call that came without any: nobody to tell, nobody to cancel it. */
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
