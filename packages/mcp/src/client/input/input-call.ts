import { isObject, type JsonObject } from "../../base/json.js";
import { codes, RpcError, thrownText } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import { sleep } from "../../jsonrpc/sleep.js";
import { asksForInput, maxRounds, type OpenInputRequest, readRequiredInput } from "../../session/input-required.js";
import type { AcceptedRequest, InputResponder, SessionCall } from "../session/client-session.js";
import type { ReconnectingSession } from "../session/reconnecting-session.js";
import { RetryableCall } from "./retryable-call.js";
import { completeUrlElicitation, requiresUrlElicitation } from "./url-elicitation-required.js";

/** Milliseconds before a call is repeated whose result requires another round without input requests; doubled each round. */
const firstPause = 100;

/**
 * Calls with support for input requests: those in `input_required` results, and −32042 *URL elicitation required*.
 * @param send makes one attempt
 */
export function inputCall(
  session: ReconnectingSession,
  responder: InputResponder,
  send: SessionCall = session.call,
): SessionCall {
  return async (method, params = {}, options = {}) => {
    const call = new RetryableCall(session, send, { method, params, options });
    try {
      const first = await send(method, params, options);
      const asks = session.revision.era === "stateless" && asksForInput(first);
      return asks ? await answerInputRounds(call, responder, first) : first;
    } catch (error) {
      if (!requiresUrlElicitation(call, error)) throw error;
      return completeUrlElicitation(call, responder, error);
    }
  };
}

/**
 * Responds to the input requests in the results of a call: repeats the call with the input responses and the `requestState`
 * of the last round, until its result is complete.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
async function answerInputRounds(
  call: RetryableCall,
  responder: InputResponder,
  first: JsonObject,
): Promise<JsonObject> {
  const { inputResponses: _, requestState: __, ...original } = call.params; // They belong to one round.
  let result = first;
  for (let round = 1; asksForInput(result); round += 1) {
    if (round >= maxRounds) throw call.error("protocol", `the server still requests input in round ${maxRounds}`);
    const { questions, requestState } = readRequiredInput(call.method, result);
    const accepted = questions.map((question) => accept(call, responder, question));
    const pause = firstPause * 2 ** (round - 1);
    const inputResponses = await call.wait(async (signal) => {
      if (accepted.length > 0) return Object.fromEntries(await Promise.all(accepted.map((respond) => respond(signal))));
      await sleep(call.session.clock, pause, signal);
      return undefined;
    });
    result = await call.make({
      ...original,
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(requestState === undefined ? {} : { requestState }),
    });
  }
  return result;
}

/** Returns the input response with its key. */
type KeyedResponse = (signal: AbortSignal) => Promise<readonly [string, JsonObject]>;

/** Rejects requests for undeclared capabilities and invalid requests before a handler runs. */
function accept(
  call: RetryableCall,
  responder: InputResponder,
  { key, method, params }: OpenInputRequest,
): KeyedResponse {
  const { revision } = call.session;
  let respond: AcceptedRequest;
  try {
    if (!revision.inputRequests.has(method)) throw new Error(`${excerpt(method)} is no input request`);
    respond = responder.accept(method, params, revision);
  } catch (error) {
    const isMissing = error instanceof RpcError && error.code === codes.methodNotFound;
    const why = isMissing ? `connect had no handler for ${method} in its option handlers` : causeOf(error);
    throw call.error("protocol", `the client cannot handle an input request of the server: ${why}`, error);
  }
  return async (signal) => {
    try {
      return [key, await respond(signal)];
    } catch (error) {
      // An input response cannot be an error, so the call is not repeated.
      const why = `its input request ${excerpt(key)} (${method}) was not answered: ${causeOf(error)}`;
      throw call.error("refused", why, error);
    }
  };
}

/** The message of an error, with its first fault if it lists some. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return thrownText(error);
  const faults = error instanceof RpcError && isObject(error.data) ? error.data.errors : undefined;
  const [first] = Array.isArray(faults) ? (faults as readonly unknown[]) : [];
  return isObject(first) ? `${error.message}: ${thrownText(first.path)} ${thrownText(first.message)}` : error.message;
}
