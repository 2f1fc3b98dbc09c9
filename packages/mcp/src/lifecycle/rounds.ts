import { isPromise } from "../base/later.js";
import type { Exchange } from "../jsonrpc/call.js";
import type { JsonObject } from "../protocol/json.js";
import { methods } from "../protocol/methods.js";
import type { Asked } from "./answerable.js";
import { callbackInput, type Input } from "./input.js";
import { type Asking, type OperationTerms, RevisedOperation } from "./operation.js";
import type { Answers, Questions } from "./question.js";
import {
  endlessRounds,
  firstRound,
  maxRounds,
  ReplayInput,
  type Rounds,
  readResponses,
  refusedState,
} from "./replay.js";
import type { Operation, OperationCall, Served } from "./served.js";
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

/** The methods that may ask. https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr */
const mayAsk: ReadonlySet<string> = new Set([methods.callTool, methods.getPrompt, methods.readResource]);

const nothingReturned: Operation["returned"] = { answers: {}, state: undefined };

/** A call of the handshake era. */
interface AskingCall {
  readonly exchange: Exchange;
  readonly terms: OperationTerms;
}

/** Runs an operation that can ask at any time; one that asks by returning is run again here. */
export function runAsking(
  run: OperationCall,
  method: string,
  params: JsonObject,
  { exchange, terms }: AskingCall,
): unknown {
  let made: Input | undefined;
  const input = (): Input | undefined => {
    made ??= callbackInput(exchange, { revision: terms.revision, capabilities: terms.client.capabilities });
    return made;
  };
  const runWith = (returned: Operation["returned"]): unknown =>
    run(method, params, new RevisedOperation(exchange, terms, { input, returned: () => returned }));
  const first = runWith(nothingReturned);
  if (isPromise(first)) return first.then((result) => askReturned(result, input, runWith));
  return first instanceof InputRequired ? askReturned(first, input, runWith) : first;
}

async function askReturned(
  first: unknown,
  inputOf: () => Input | undefined,
  run: (returned: Operation["returned"]) => unknown,
): Promise<unknown> {
  let result = first;
  let answers: Answers = {};
  for (let round = 1; result instanceof InputRequired; round += 1) {
    if (round > maxRounds) throw new Error(endlessRounds);
    const input = inputOf();
    if (input === undefined) throw new Error("this carrier has no way back to ask the client");
    answers = { ...answers, ...(await input.ask(result.questions)) };
    result = await run({ answers, state: result.state });
  }
  return result;
}

interface RoundsCall {
  readonly asked: Asked;
  readonly principal: string | undefined;
  operation(asking: Asking): Operation;
}

/** Runs one round of an operation that asks by ending it: its result, or the questions that are open. */
export function runRounds(served: Served, method: string, params: JsonObject, call: RoundsCall): unknown {
  if (!mayAsk.has(method) || served.stateSeal === undefined) return served.run(method, params, call.operation(silent));
  const { stateSeal } = served;
  const { inputResponses, requestState } = params;
  if (inputResponses === undefined && requestState === undefined)
    return runRound(served.run, method, params, { ...call, stateSeal }, firstRound);
  const responses = readResponses(params); // Refused before the state is looked at.
  return openRounds(stateSeal, bindingOf(method, params, call), requestState).then((rounds) =>
    runRound(served.run, method, { ...params, inputResponses: responses }, { ...call, stateSeal }, rounds),
  );
}

const silent: Asking = { input: () => undefined, returned: () => nothingReturned };

interface SealedCall extends RoundsCall {
  readonly stateSeal: StateSeal;
}

function runRound(run: OperationCall, method: string, params: JsonObject, call: SealedCall, rounds: Rounds): unknown {
  const responses = readResponses(params);
  let made: ReplayInput | undefined;
  const input = (): ReplayInput => {
    made ??= new ReplayInput(rounds, responses, call.asked);
    return made;
  };
  const asking: Asking = { input, returned: () => ({ answers: input().answers, state: rounds.state }) };
  const conclude = (result: unknown): unknown => {
    if (result instanceof InputRequired) input().require(result.questions, result.state);
    else if (made === undefined || made.open.size === 0) return result;
    return askAgain(call.stateSeal, bindingOf(method, params, call), input(), call.asked);
  };
  // Whatever a handler does after it has asked, even if it swallows what was thrown: the question comes first.
  const fail = (error: unknown): unknown => {
    if (made?.isStoppedBy(error) !== true) throw error;
    return conclude(undefined);
  };
  try {
    const result = run(method, params, call.operation(asking));
    return isPromise(result) ? Promise.resolve(result).then(conclude, fail) : conclude(result);
  } catch (error) {
    return fail(error);
  }
}

async function askAgain(
  stateSeal: StateSeal,
  binding: Binding,
  input: ReplayInput,
  { revision }: Asked,
): Promise<JsonObject> {
  await input.settled();
  const questions = [...input.open].map(([key, { method, params }]): [string, JsonObject] => [
    key,
    { method, params: revision.down("params", method, params) },
  ]);
  return {
    resultType: "input_required",
    ...(questions.length === 0 ? {} : { inputRequests: Object.fromEntries(questions) }),
    requestState: await stateSeal.seal(input.next as unknown as JsonObject, binding), // Rounds are JSON.
  };
}

async function openRounds(stateSeal: StateSeal, binding: Binding, requestState: unknown): Promise<Rounds> {
  if (requestState === undefined) return firstRound; // Answers to nothing: they count for nothing.
  const opened = typeof requestState === "string" ? await stateSeal.open(requestState, binding) : undefined;
  if (opened === undefined) throw refusedState();
  return opened as unknown as Rounds; // Sealed by this side, so it is what was sealed.
}

/** The state opens only for the same call: what may differ between its rounds is left out. */
function bindingOf(method: string, params: JsonObject, { principal }: RoundsCall): Binding {
  const { _meta, inputResponses, requestState, ...same } = params;
  return { principal, method, params: same };
}
