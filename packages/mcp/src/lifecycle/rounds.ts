import { isPromise } from "../base/later.js";
import type { Exchange } from "../jsonrpc/call.js";
import type { JsonObject } from "../protocol/json.js";
import { fitError, shapeResult } from "./finish.js";
import { maxRounds, mayAskForInput } from "./input-required.js";
import { type OperationTerms, RevisedOperation } from "./operation.js";
import type { Answers, Questions } from "./question.js";
import { endlessRounds, firstRound, ReplayInput, type Rounds, readResponses, refusedState } from "./replay.js";
import type { OperationCall, Served } from "./served.js";
import type { Binding, StateSeal } from "./state-seal.js";

/** What a handler returns that asks by returning: it is run again with the answers. Made by `inputRequired`. */
export class InputRequired {
  readonly questions: Questions;
  readonly state: unknown;

  constructor(questions: Questions, state: unknown) {
    this.questions = questions;
    this.state = state;
  }
}

/**
 * Runs an operation of either era, and gives what the client gets: its result in the shape of the revision, the questions that its
 * handler asks first, or its error. A result that is there at once is given at once.
 */
export function runOperation(served: Served, operation: RevisedOperation): unknown {
  let result: unknown;
  try {
    result = served.run(operation.method, operation.params, operation);
  } catch (error) {
    return failed(served, operation, error);
  }
  if (!isPromise(result)) return succeeded(served, operation, result);
  return result.then(
    (value) => succeeded(served, operation, value),
    (error: unknown) => failed(served, operation, error),
  );
}

/** As `runOperation`, for a request that says for itself what it speaks. One with a state continues the call that the state is of. */
export function runRound(
  served: Served,
  exchange: Exchange,
  terms: OperationTerms,
  method: string,
  params: JsonObject,
): unknown {
  const { stateSeal } = served;
  const { inputResponses, requestState } = params;
  const mayAsk = stateSeal !== undefined && mayAskForInput.has(method);
  if (!mayAsk || (inputResponses === undefined && requestState === undefined)) {
    return runOperation(served, new RevisedOperation(exchange, terms, method, params, mayAsk ? firstRound : undefined));
  }
  const responses = readResponses(params); // Refused before the state is opened.
  return openRounds(stateSeal, bindingOf(method, params, exchange.principal), requestState).then((rounds) => {
    const answered = { ...params, inputResponses: responses };
    return runOperation(served, new RevisedOperation(exchange, terms, method, answered, { rounds, responses }));
  });
}

function succeeded(served: Served, operation: RevisedOperation, result: unknown): unknown {
  const { replay } = operation;
  // A question that the handler did not wait for comes before its result.
  const asks = result instanceof InputRequired || (replay !== undefined && replay.open.size > 0);
  return asks ? ask(served, operation, result) : shapeResult(result, operation.method, operation.revision, served.info);
}

/** An open question stops a handler by an error; whatever the handler then throws, the question comes first. */
function failed(served: Served, operation: RevisedOperation, error: unknown): unknown {
  if (operation.replay?.isStoppedBy(error) === true) return ask(served, operation, undefined);
  throw fitError(error, operation.revision);
}

/** Ends the round with its questions (stateless era), or asks them and runs the handler again (handshake era). */
async function ask(served: Served, operation: RevisedOperation, asked: unknown): Promise<unknown> {
  const { input, method, revision } = operation;
  try {
    const result =
      input instanceof ReplayInput && served.stateSeal !== undefined
        ? await askByResult(served.stateSeal, operation, input, asked)
        : await askByRequest(served.run, operation, asked);
    return shapeResult(result, method, revision, served.info);
  } catch (error) {
    throw fitError(error, revision);
  }
}

/** Asks what a handler has returned as questions and runs it again with the answers, until it has a result. */
export async function askByRequest(run: OperationCall, operation: RevisedOperation, first: unknown): Promise<unknown> {
  const { method, params } = operation;
  let result = first;
  let answers: Answers = {};
  for (let round = 1; result instanceof InputRequired; round += 1) {
    if (round > maxRounds) throw new Error(endlessRounds);
    const { input } = operation;
    if (input === undefined) throw new Error("this carrier has no way back to ask the client");
    answers = { ...answers, ...(await input.ask(result.questions)) };
    result = await run(method, params, operation.again({ answers, state: result.state }));
  }
  return result;
}

async function askByResult(
  stateSeal: StateSeal,
  { method, params, principal, revision }: RevisedOperation,
  input: ReplayInput,
  asked: unknown,
): Promise<JsonObject> {
  if (asked instanceof InputRequired) input.require(asked.questions, asked.state);
  await input.settled();
  const questions = [...input.open].map(([key, question]): [string, JsonObject] => [
    key,
    { method: question.method, params: revision.down("params", question.method, question.params) },
  ]);
  const binding = bindingOf(method, params, principal);
  return {
    resultType: "input_required",
    ...(questions.length === 0 ? {} : { inputRequests: Object.fromEntries(questions) }),
    requestState: await stateSeal.seal(input.next as unknown as JsonObject, binding), // Rounds are JSON.
  };
}

async function openRounds(stateSeal: StateSeal, binding: Binding, requestState: unknown): Promise<Rounds> {
  if (requestState === undefined) return firstRound.rounds; // Answers without a state answer no question of this call.
  const opened = typeof requestState === "string" ? await stateSeal.open(requestState, binding) : undefined;
  if (opened === undefined) throw refusedState();
  return opened as unknown as Rounds; // Sealed by this side, so it is what was sealed.
}

/** A state opens only for the call that it was made for: the params without what may differ from round to round. */
function bindingOf(method: string, params: JsonObject, principal: string | undefined): Binding {
  const { _meta, inputResponses, requestState, ...same } = params;
  return { principal, method, params: same };
}
