import { isArray } from "../base/json.js";
import { joinResponses, repeatedId } from "./batch.js";
import type { Call, Exchange } from "./call.js";
import { runNotification, runRequest } from "./calls/responder.js";
import { type Decoded, decode, Problem } from "./codec/decode.js";
import type { Message } from "./message.js";
import { type PeerOptions, type PeerSettings, peerSettings, responseToProblem } from "./peer-settings.js";
import type { Reporter } from "./report.js";

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
  const answerOne = (message: Message | Problem): Answer => {
    if (message instanceof Problem) {
      settings.report({ kind: "invalid", problem: message, frame });
      return responseToProblem(message, settings.profile);
    }
    if (!("method" in message)) {
      settings.report({ kind: "unmatched", response: message });
      return undefined;
    }
    if ("id" in message) return runRequest(handle, message, exchange, settings);
    return runNotification(handle, message, exchange, settings);
  };
  if (!isArray(decoded)) return answerOne(decoded);
  const ids = new Set<unknown>();
  const answers = decoded.map((each) => answerOne(each instanceof Problem ? each : (repeatedId(each, ids) ?? each)));
  const waits = answers.some((answer) => typeof answer === "object");
  return waits ? Promise.all(answers).then(joinResponses) : joinResponses(answers as (string | undefined)[]);
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
