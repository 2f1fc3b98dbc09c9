import { RpcError, thrownText } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { asksForInput, maxRounds, type OpenInputRequest, readRequiredInput } from "../../session/input-required.js";
import { sleep } from "../../session/sleep.js";
import type { AcceptedRequest } from "./input-responder.js";
import type { RetryableCall } from "./retryable-call.js";

/** Milliseconds before a call is repeated whose result requires another round without input requests; doubled each round. */
const firstPause = 100;

/**
 * Answers the input requests in the results of a call: repeats the same call with the input responses and the state of the last
 * round, until its result is complete. Neither goes out with any other call.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export async function answerInputRounds(call: RetryableCall, first: JsonObject): Promise<JsonObject> {
  const { inputResponses: _, requestState: __, ...original } = call.params; // They belong to a round.
  let result = first;
  for (let round = 1; asksForInput(result); round += 1) {
    if (round >= maxRounds) throw call.error("protocol", `the server still asks in round ${maxRounds}`);
    const { questions, requestState } = readRequiredInput(call.method, result);
    const accepted = questions.map((question) => accept(call, question));
    const inputResponses = await call.wait((signal) =>
      accepted.length > 0 ? answerAll(accepted, signal) : nothing(call, round, signal),
    );
    result = await call.make({
      ...original,
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(requestState === undefined ? {} : { requestState }),
    });
  }
  return result;
}

type Answered = (signal: AbortSignal) => Promise<readonly [string, JsonObject]>;

/** Rejects requests for undeclared capabilities and invalid requests before a handler runs. */
function accept(call: RetryableCall, { key, method, params }: OpenInputRequest): Answered {
  const { responder, revision } = call;
  let ask: AcceptedRequest;
  try {
    if (!revision.inputRequests.has(method)) throw new Error(`a server may not ask for ${excerpt(method)}`);
    ask = responder.accept(method, params, revision);
  } catch (error) {
    throw call.error("protocol", `the server asks for what this client cannot answer: ${causeOf(error)}`, error);
  }
  return async (signal) => {
    try {
      return [key, await ask(signal)];
    } catch (error) {
      // The wire has no refusal: a call whose input request fails is not repeated.
      const why = `its question ${excerpt(key)} (${method}) was not answered: ${causeOf(error)}`;
      throw call.error("refused", why, error);
    }
  };
}

async function answerAll(accepted: readonly Answered[], signal: AbortSignal): Promise<JsonObject> {
  return Object.fromEntries(await Promise.all(accepted.map((ask) => ask(signal))));
}

async function nothing({ clock }: RetryableCall, round: number, signal: AbortSignal): Promise<undefined> {
  await sleep(clock, firstPause * 2 ** (round - 1), signal);
}

/** What went wrong, and where if that is known. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return thrownText(error);
  const faults = error instanceof RpcError && isObject(error.data) ? error.data.errors : undefined;
  const [first] = Array.isArray(faults) ? (faults as readonly unknown[]) : [];
  return isObject(first) ? `${error.message}: ${thrownText(first.path)} ${thrownText(first.message)}` : error.message;
}
