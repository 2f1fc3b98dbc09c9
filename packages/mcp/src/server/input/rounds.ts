import { isPromise } from "../../base/maybe-promise.js";
import type { Exchange } from "../../jsonrpc/call.js";
import type { JsonObject } from "../../protocol/json.js";
import { maxRounds, mayAskForInput } from "../../session/input-required.js";
import type { OperationCall, Servable } from "../servable.js";
import { errorOfRevision, shapeResult } from "../session/finish-result.js";
import { OperationOfRevision, type OperationSettings } from "../session/operation-of-revision.js";
import type { InputRequests, InputResponses } from "./input-request.js";
import { firstRound, ReplayInput, type Rounds, readResponses, refusedState, tooManyRounds } from "./replay.js";
import type { Binding, StateSeal } from "./request-state.js";

/** Return value of a handler that requests input by returning: the handler runs again with the responses. Made by `inputRequired`. */
export class InputRequired {
  readonly questions: InputRequests;
  readonly state: unknown;

  constructor(questions: InputRequests, state: unknown) {
    this.questions = questions;
    this.state = state;
  }
}

/**
 * Runs an operation of either era and returns what the client receives: the result in the shape of the revision, the input
 * requests of the handler, or its error. A synchronous result is returned without a promise.
 */
export function runOperation(served: Servable, operation: OperationOfRevision): unknown {
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

/** Like `runOperation`, for a stateless request. A request with a `requestState` continues the call of that state. */
export function runRound(
  served: Servable,
  exchange: Exchange,
  terms: OperationSettings,
  method: string,
  params: JsonObject,
): unknown {
  const { stateSeal } = served;
  const { inputResponses, requestState } = params;
  const mayAsk = stateSeal !== undefined && mayAskForInput.has(method);
  if (!mayAsk || (inputResponses === undefined && requestState === undefined)) {
    return runOperation(
      served,
      new OperationOfRevision(exchange, terms, method, params, mayAsk ? firstRound : undefined),
    );
  }
  const responses = readResponses(params); // Refused before the state is opened.
  return openRounds(stateSeal, bindingOf(method, params, exchange.principal), requestState).then((rounds) => {
    const answered = { ...params, inputResponses: responses };
    return runOperation(served, new OperationOfRevision(exchange, terms, method, answered, { rounds, responses }));
  });
}

function succeeded(served: Servable, operation: OperationOfRevision, result: unknown): unknown {
  const { replay } = operation;
  // An input request that the handler did not await takes precedence over its result.
  const asks = result instanceof InputRequired || (replay !== undefined && replay.open.size > 0);
  return asks ? ask(served, operation, result) : shapeResult(result, operation.method, operation.revision, served.info);
}

/** A pending input request stops the handler with an error; it takes precedence over whatever the handler then throws. */
function failed(served: Servable, operation: OperationOfRevision, error: unknown): unknown {
  if (operation.replay?.isStoppedBy(error) === true) return ask(served, operation, undefined);
  throw errorOfRevision(error, operation.revision);
}

/** Ends the round with its input requests (stateless era), or sends them and runs the handler again (handshake era). */
async function ask(served: Servable, operation: OperationOfRevision, asked: unknown): Promise<unknown> {
  const { input, method, revision } = operation;
  try {
    const result =
      input instanceof ReplayInput && served.stateSeal !== undefined
        ? await askByResult(served.stateSeal, operation, input, asked)
        : await askByRequest(served.run, operation, asked);
    return shapeResult(result, method, revision, served.info);
  } catch (error) {
    throw errorOfRevision(error, revision);
  }
}

/** Sends the input requests that a handler returned and runs it again with the responses, until it returns a result. */
export async function askByRequest(
  run: OperationCall,
  operation: OperationOfRevision,
  first: unknown,
): Promise<unknown> {
  const { method, params } = operation;
  let result = first;
  let answers: InputResponses = {};
  for (let round = 1; result instanceof InputRequired; round += 1) {
    if (round > maxRounds) throw new Error(tooManyRounds);
    const { input } = operation;
    if (input === undefined) throw new Error("this transport has no way to send requests to the client");
    answers = { ...answers, ...(await input.request(result.questions)) };
    result = await run(method, params, operation.again({ answers, state: result.state }));
  }
  return result;
}

async function askByResult(
  stateSeal: StateSeal,
  { method, params, principal }: OperationOfRevision,
  input: ReplayInput,
  asked: unknown,
): Promise<JsonObject> {
  if (asked instanceof InputRequired) input.require(asked.questions, asked.state);
  await input.settled();
  const questions = [...input.open].map(([key, question]): [string, JsonObject] => [
    key,
    { method: question.method, params: question.params },
  ]);
  const binding = bindingOf(method, params, principal);
  return {
    resultType: "input_required",
    ...(questions.length === 0 ? {} : { inputRequests: Object.fromEntries(questions) }),
    requestState: await stateSeal.seal(input.next as unknown as JsonObject, binding), // Rounds are JSON.
  };
}

async function openRounds(stateSeal: StateSeal, binding: Binding, requestState: unknown): Promise<Rounds> {
  if (requestState === undefined) return firstRound.rounds; // Input responses without a state belong to no request of this call.
  const opened = typeof requestState === "string" ? await stateSeal.open(requestState, binding) : undefined;
  if (opened === undefined) throw refusedState();
  return opened as unknown as Rounds; // Sealed by this side, so it is what was sealed.
}

/** A state opens only for the call that it was made for: the params without what may differ from round to round. */
function bindingOf(method: string, params: JsonObject, principal: string | undefined): Binding {
  const { _meta, inputResponses, requestState, ...same } = params;
  return { principal, method, params: same };
}
