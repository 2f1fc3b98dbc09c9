import { bindMethods } from "../../base/bound-methods.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { isPromise, markHandled } from "../../base/maybe-promise.js";
import type { Authentication, Exchange, RemoteCall } from "../../jsonrpc/call.js";
import { encodeValue } from "../../jsonrpc/codec/encode.js";
import { LocalError, RpcError, codes as rpcCodes } from "../../jsonrpc/errors.js";
import { type Id, type Params, RawJson } from "../../jsonrpc/message.js";
import type { Reporter } from "../../jsonrpc/report.js";
import { specCodes } from "../../protocol/errors.js";
import { metaKeys, requireMetaKeys } from "../../protocol/meta.js";
import { cacheable, notifications } from "../../protocol/methods.js";
import { isProtocolMethod, isProtocolNotification } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { Implementation } from "../../protocol/types/implementation.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../../protocol/types/logging.js";
import { maxRounds, mayAskForInput } from "../../session/input-required.js";
import { CallbackInput, type Input } from "../input/input.js";
import { InputRequired, type InputResponses } from "../input/input-request.js";
import {
  firstRound,
  ReplayInput,
  type Round,
  type Rounds,
  readResponses,
  refusedState,
  tooManyRounds,
} from "../input/replay.js";
import type { Binding, StateSeal } from "../input/request-state.js";
import { cannotRequestInput, type InputClient, requireClientCapability } from "../input/require-client-capability.js";
import type { ClientDescription, Operation, OperationCall, Servable, ServedSession } from "../servable.js";
import { ToolError } from "../tool-error.js";

/** Settings of all operations of a session. In the handshake era the client may change the log level during a call. */
export type OperationSettings = Pick<Operation, "revision" | "client" | "session" | "logLevel">;

type Returned = Operation["returned"];

const nothingReturned: Returned = { answers: {}, state: undefined };

/**
 * An operation in its revision: sends only notifications that the revision has, in its shapes, and requests input by requests
 * (handshake era) or by ending the round (stateless era).
 */
export class OperationOfRevision implements Operation {
  readonly revision: Revision;
  readonly client: ClientDescription;
  readonly session: ServedSession | undefined;
  readonly auth: Authentication;
  readonly method: string;
  readonly params: JsonObject;
  /** The input requests of this round; undefined if there are none, or in the handshake era. */
  replay: ReplayInput | undefined;
  /** The input requests of the handshake era, which end with the call; undefined if there are none. */
  callbacks: CallbackInput | undefined;
  readonly #exchange: Exchange;
  readonly #settings: OperationSettings;
  readonly #round: Round | undefined;
  readonly #returned: Returned;

  /**
   * @param round the round of the call, for methods whose result may request input
   * @param returned the responses to the requests that the handler returned, when it runs again
   */
  constructor(
    exchange: Exchange,
    settings: OperationSettings,
    method: string,
    params: JsonObject,
    round?: Round,
    returned: Returned = nothingReturned,
  ) {
    this.revision = settings.revision;
    this.client = settings.client;
    this.session = settings.session;
    this.auth = exchange.auth;
    this.method = method;
    this.params = params;
    this.#exchange = exchange;
    this.#settings = settings;
    this.#round = round;
    this.#returned = returned;
  }

  /** The same operation for another run of its handler. */
  again(returned: Returned): OperationOfRevision {
    const operation = new OperationOfRevision(
      this.#exchange,
      this.#settings,
      this.method,
      this.params,
      undefined,
      returned,
    );
    operation.callbacks = this.callbacks; // It knows what `once` has run.
    return operation;
  }

  /** Created on first use: most operations request no input. */
  get input(): Input | undefined {
    if (this.#round !== undefined) return this.#replayOf(this.#round);
    const { callback } = this.#exchange; // Undefined on a one-way transport.
    if (callback !== undefined && this.revision.era === "handshake")
      this.callbacks ??= new CallbackInput(callback, this, this.#exchange.signal);
    return this.callbacks;
  }

  get returned(): Returned {
    if (this.#round === undefined) return this.#returned;
    return { answers: this.#replayOf(this.#round).answers, state: this.#round.rounds.state };
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#settings.logLevel;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get id(): Id | undefined {
    return this.#exchange.id;
  }

  get closing(): AbortSignal | undefined {
    return this.#exchange.closing;
  }

  get principal(): string | undefined {
    return this.#exchange.principal;
  }

  get peer(): string | undefined {
    return this.#exchange.peer;
  }

  get report(): Reporter | undefined {
    return this.#exchange.report;
  }

  /** The way back, where the revision lets a server send requests. */
  get callback(): RemoteCall | undefined {
    const { callback } = this.#exchange;
    if (callback === undefined || this.revision.era !== "handshake") return undefined;
    return declaredCallback(callback, this);
  }

  notify(method: string, params?: Params): void {
    if (isProtocolNotification(method) && !this.revision.notifications.server.has(method)) return;
    requireMetaKeys(params, method);
    if (method !== notifications.message) this.#send(method, params);
    else if (!this.#logs(params)) return;
    else if (this.#round === undefined || this.#round === firstRound) this.#send(method, params);
    else this.#replayOf(this.#round).log(() => this.#send(method, params));
  }

  #send(method: string, params: Params | undefined): void {
    this.#exchange.notify(method, this.revision.down("notification", method, params));
  }

  #replayOf(round: Round): ReplayInput {
    this.replay ??= new ReplayInput(round, this);
    return this.replay;
  }

  /** Whether the client requested log messages of this level. */
  #logs(params: Params | undefined): boolean {
    const level = isObject(params) ? params.level : undefined;
    const { logLevel } = this;
    return (
      logLevel !== undefined && isLoggingLevel(level) && loggingLevels.indexOf(level) >= loggingLevels.indexOf(logLevel)
    );
  }

  drained(): Promise<void> {
    return this.#exchange.drained();
  }

  release(retry: number): void {
    this.#exchange.release?.(retry);
  }
}

bindMethods(OperationOfRevision.prototype, ["notify", "drained", "release"]);

/** The texts of prepared results, by revision. A text contains the info of its server, so another server does not use it. */
const prepared = new WeakMap<JsonObject, Map<Revision, PreparedText>>();

interface PreparedText {
  readonly serverInfo: Implementation;
  readonly text: RawJson;
}

/** Freezes a result that its owner does not change, so that it is serialised once per revision. Middleware gets an ordinary object. */
export function prepareResult(result: JsonObject): JsonObject {
  prepared.set(result, new Map());
  return Object.freeze(result);
}

/** Converts a result from the newest shape to that of `revision`, with the members that every result of the revision has. */
export function shapeResult(settled: unknown, method: string, revision: Revision, serverInfo: Implementation): unknown {
  const value = isObject(settled) ? settled : {};
  const texts = prepared.get(value);
  if (texts !== undefined) return textOf(value, texts, method, revision, serverInfo);
  const shaped = revision.down("result", method, value);
  if (revision.era === "handshake") return shaped;
  const { resultType = "complete", _meta } = shaped;
  // A hot path, and V8 is many times slower with members after a spread.
  const stamp = { resultType, _meta: { ...(isObject(_meta) ? _meta : undefined), [metaKeys.serverInfo]: serverInfo } };
  const stamped = Object.assign({}, shaped, stamp);
  if (!cacheable.has(method) || resultType !== "complete") return stamped;
  return { ttlMs: 0, cacheScope: "private", ...stamped };
}

function textOf(
  value: JsonObject,
  texts: Map<Revision, PreparedText>,
  method: string,
  revision: Revision,
  serverInfo: Implementation,
): RawJson {
  const known = texts.get(revision);
  if (known?.serverInfo === serverInfo) return known.text;
  const text = new RawJson(encodeValue(shapeResult({ ...value }, method, revision, serverInfo)));
  texts.set(revision, { serverInfo, text });
  return text;
}

/** Codes whose meaning only the specification may define. */
function isReserver(code: number): boolean {
  return (code >= -32_099 && code <= -32_020) || code === specCodes.resourceNotFound;
}

/**
 * Converts an error to a revision. Codes of the specification are sent only in revisions that define them: *resource not found* gets
 * the code of the revision, and any other code is a bug of the handler. A `ToolError` outside of a tool, whose message is meant for
 * the client, is an error with that message.
 * https://modelcontextprotocol.io/specification/latest/basic#error-codes
 */
export function errorOfRevision(error: unknown, { codes, version }: Revision): unknown {
  if (error instanceof ToolError)
    return new RpcError(rpcCodes.internalError, error.message, undefined, { cause: error });
  if (!(error instanceof RpcError) || !isReserver(error.code)) return error;
  const { code, message, data } = error;
  if (Object.values(codes).includes(code)) return error;
  if (code === specCodes.resourceNotFound) return new RpcError(codes.resourceNotFound, message, data, { cause: error });
  const remedy = "MCP reserves −32099 to −32020, so throw an RpcError with a code outside of −32768 to −32000";
  return new Error(`revision ${version} has no error ${code} (${JSON.stringify(message)}): ${remedy}`, {
    cause: error,
  });
}

/**
 * Runs an operation of either era and returns what the client receives: the result in the shape of the revision, the input
 * requests of the handler, or its error. A synchronous result is returned without a promise.
 */
export function runOperation(server: Servable, operation: OperationOfRevision): unknown {
  let result: unknown;
  try {
    result = server.run(operation.method, operation.params, operation);
  } catch (error) {
    return failed(server, operation, error);
  }
  if (!isPromise(result)) return succeeded(server, operation, result);
  return result.then(
    (value) => succeeded(server, operation, value),
    (error: unknown) => failed(server, operation, error),
  );
}

/** Like `runOperation`, for a stateless request. A request with a `requestState` continues the call of that state. */
export function runRound(
  server: Servable,
  exchange: Exchange,
  settings: OperationSettings,
  method: string,
  params: JsonObject,
): unknown {
  const { stateSeal } = server;
  const { inputResponses, requestState } = params;
  const mayAsk = stateSeal !== undefined && mayAskForInput.has(method);
  if (!mayAsk || (inputResponses === undefined && requestState === undefined)) {
    return runOperation(
      server,
      new OperationOfRevision(exchange, settings, method, params, mayAsk ? firstRound : undefined),
    );
  }
  const responses = readResponses(params); // Refused before the state is opened.
  return openRounds(stateSeal, bindingOf(method, params, exchange.principal), requestState).then((rounds) => {
    const answered = { ...params, inputResponses: responses };
    return runOperation(server, new OperationOfRevision(exchange, settings, method, answered, { rounds, responses }));
  });
}

function succeeded(server: Servable, operation: OperationOfRevision, result: unknown): unknown {
  const { replay } = operation;
  replay?.sendHeld();
  // An input request that the handler did not await takes precedence over its result.
  const asks = result instanceof InputRequired || (replay !== undefined && replay.open.size > 0);
  if (asks) return ask(server, operation, result);
  operation.callbacks?.end();
  return shapeResult(result, operation.method, operation.revision, server.info);
}

/** A pending input request stops the handler with an error; it takes precedence over whatever the handler then throws. */
function failed(server: Servable, operation: OperationOfRevision, error: unknown): unknown {
  operation.replay?.sendHeld();
  if (operation.replay?.isStoppedBy(error) === true) return ask(server, operation, undefined);
  operation.callbacks?.end();
  throw errorOfRevision(error, operation.revision);
}

/** Ends the round with its input requests (stateless era), or sends them and runs the handler again (handshake era). */
async function ask(server: Servable, operation: OperationOfRevision, asked: unknown): Promise<unknown> {
  const { input, method, revision } = operation;
  try {
    const result =
      input instanceof ReplayInput && server.stateSeal !== undefined
        ? await askByResult(server.stateSeal, operation, input, asked)
        : await askByRequest(server.run, operation, asked);
    return shapeResult(result, method, revision, server.info);
  } catch (error) {
    throw errorOfRevision(error, revision);
  } finally {
    operation.callbacks?.end();
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
    if (input === undefined) throw cannotRequestInput(operation.revision);
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

/**
 * Calls the client, with the same capability checks as `ctx.requestInput`.
 * Custom methods are not checked. A handler may ignore the returned promise.
 */
function declaredCallback(callback: RemoteCall, asked: InputClient): RemoteCall {
  const call: RemoteCall = async (method, params, options) => {
    const { revision } = asked;
    const isRequest = revision.requests.server.has(method);
    if (isProtocolMethod(method) && !isRequest) {
      throw new LocalError("refused", `${method}: revision ${revision.version} has no such request of a server`);
    }
    if (isRequest) requireClientCapability({ [method]: { method, params: isObject(params) ? params : {} } }, asked);
    return callback(method, params, options);
  };
  return (method, params, options) => markHandled(call(method, params, options));
}
