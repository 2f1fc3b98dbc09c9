import { RpcError, thrownText } from "../jsonrpc/errors.js";
import { excerpt } from "../jsonrpc/report.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import type { AcceptedQuestion } from "./answering.js";
import { asksForInput, type InputQuestion, maxRounds, readRequiredInput } from "./input-required.js";
import { pause } from "./pause.js";
import type { UnhurriedCall } from "./unhurried-call.js";

/** Milliseconds before a call is made again that the server wants again without asking; doubled from round to round. */
const firstPause = 100;

/**
 * Answers what the results of a call ask: the very same call is made again with the answers and with the state of the last
 * round, until its result is complete. Neither goes out with any other call.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export async function answerRounds(call: UnhurriedCall, first: JsonObject): Promise<JsonObject> {
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

/** What was not offered is not answered, and what cannot be answered bothers nobody. */
function accept(call: UnhurriedCall, { key, method, params }: InputQuestion): Answered {
  const { answering, revision } = call;
  let ask: AcceptedQuestion;
  try {
    if (!revision.inputRequests.has(method)) throw new Error(`a server may not ask for ${excerpt(method)}`);
    ask = answering.accept(method, params, revision);
  } catch (error) {
    throw call.error("protocol", `the server asks for what this client cannot answer: ${causeOf(error)}`, error);
  }
  return async (signal) => {
    try {
      return [key, await ask(signal)];
    } catch (error) {
      // There is no word for it on the wire: a call whose question is not answered is not made again.
      const why = `its question ${excerpt(key)} (${method}) was not answered: ${causeOf(error)}`;
      throw call.error("refused", why, error);
    }
  };
}

async function answerAll(accepted: readonly Answered[], signal: AbortSignal): Promise<JsonObject> {
  return Object.fromEntries(await Promise.all(accepted.map((ask) => ask(signal))));
}

async function nothing({ clock }: UnhurriedCall, round: number, signal: AbortSignal): Promise<undefined> {
  await pause(clock, firstPause * 2 ** (round - 1), signal);
}

/** What went wrong, and where if that is known. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return thrownText(error);
  const faults = error instanceof RpcError && isObject(error.data) ? error.data.errors : undefined;
  const [first] = Array.isArray(faults) ? (faults as readonly unknown[]) : [];
  return isObject(first) ? `${error.message}: ${thrownText(first.path)} ${thrownText(first.message)}` : error.message;
}
