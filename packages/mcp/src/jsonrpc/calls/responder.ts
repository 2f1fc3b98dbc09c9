import { bindMethods } from "../../base/bound-methods.js";
import { type ByteBudget, weightOfMessage, weightOfText } from "../../base/byte-budget.js";
import { isPromise, markHandled } from "../../base/maybe-promise.js";
import { type Authentication, type Call, type Exchange, identityOf, type RemoteCall } from "../call.js";
import { isInexact, Problem } from "../codec/decode.js";
import { encodeFailure, encodeSuccess } from "../codec/encode.js";
import { membersOf, membersOfElements } from "../codec/scan.js";
import { codes, type ErrorMapper, HookError, internalError, LocalError, RpcError } from "../errors.js";
import { atOnce } from "../hooks.js";
import {
  type ErrorObject,
  ExactNumber,
  type Id,
  idKey,
  type Params,
  type RpcNotification,
  type RpcRequest,
} from "../message.js";
import type { Outbound } from "../outbound.js";
import { type PeerSettings, responseToProblem } from "../peer-settings.js";
import type { Profile } from "../profile.js";
import { faultOf, type Reporter } from "../report.js";
import { type Cancellation, cancelledError, type Routing } from "../routing.js";
import type { Caller } from "./caller.js";
import type { CallKey, InFlight } from "./in-flight.js";
import type { OutgoingCall } from "./outgoing-call.js";

/** The requests that this side receives: their admission, handlers, responses and cancellation. */
export class Responder {
  readonly #parts: ConnectionParts;
  readonly #handle: Call;
  /** Methods of calls that stay open until one side ends them. */
  readonly #longLived: ReadonlySet<string> | undefined;
  /** The error response to a cancelled request; undefined for none. */
  readonly #cancelled: ErrorObject | undefined;
  #filling = false;

  constructor(parts: ConnectionParts, handle: Call, { longLived, cancellation }: Routing) {
    this.#parts = parts;
    this.#handle = handle;
    this.#longLived = longLived;
    this.#cancelled = cancellation && cancelledError(cancellation);
  }

  /**
   * Runs a request or queues it. False if it is refused before it runs.
   * @param length the characters of its frame
   * @param reply receives the response to a request of a batch
   */
  request(request: RpcRequest, length: number, reply?: SendResponse): boolean {
    const { inFlight, settings } = this.#parts;
    const { id } = request;
    const call = new IncomingCall(this.#parts, request, reply);
    if (inFlight.incoming(call.key) !== undefined) {
      this.#answer(call, responseToProblem(inFlightProblem(id), settings.profile));
      return false;
    }
    const verdict = inFlight.phase === "open" ? this.#admit(call, weightOfMessage(request, length)) : shuttingDown;
    if (verdict === "run") this.#run(call);
    else if (verdict === "wait") inFlight.wait(call);
    else this.#answer(call, encodeFailure(id, verdict, settings.profile));
    return typeof verdict === "string";
  }

  /** @param length the characters of its frame */
  notification(message: RpcNotification, length: number): void {
    const call = new IncomingCall(this.#parts, message);
    const verdict = this.#admit(call, weightOfMessage(message, length));
    if (verdict === "run") this.#run(call);
    else if (verdict === "wait") this.#parts.inFlight.wait(call);
    else this.#parts.settings.report({ kind: "dropped", method: message.method });
  }

  /** Sends the error response to an invalid message, unless the profile has none for it. */
  problem(problem: Problem): void {
    const answer = responseToProblem(problem, this.#parts.settings.profile);
    if (answer !== undefined) this.#parts.out.write(answer, problem.id, true);
  }

  /**
   * Cancels a request of the peer. An unknown id is no error: the notification may cross the response on its way.
   * @param frame the frame of the notification; with `index`, it is an element of a batch
   */
  cancelRequested({ idMember }: Cancellation, params: Params | undefined, frame: string, index?: number): void {
    const { inFlight, settings } = this.#parts;
    const { [idMember]: given, reason } = (params ?? {}) as Readonly<Record<string, unknown>>;
    let id = given;
    if (isInexact(given)) {
      const members = index === undefined ? membersOf(frame) : membersOfElements(frame)[index];
      const literal = membersOf(members?.get("params") ?? "").get(idMember);
      if (literal !== undefined) id = new ExactNumber(literal);
    }
    const call = isId(id) ? inFlight.incoming(idKey(id)) : undefined;
    if (call === undefined) {
      settings.report({ kind: "unknown-cancel", id: isId(id) ? id : undefined });
      return;
    }
    const cancelled = this.#cancelled;
    const response =
      cancelled && call.id !== undefined ? encodeFailure(call.id, cancelled, settings.profile) : undefined;
    const why = typeof reason === "string" ? reason : "cancelled by the peer";
    this.#cancel(call, new LocalError("cancelled", why), response);
  }

  /** Aborts the `closing` signal of every running call, so that long-lived calls end. */
  closeAll(): void {
    for (const call of [...this.#parts.inFlight.incomingCalls()]) call.close();
  }

  /** Cancels every received request and sends an error response: it was not finished in time. */
  failAll(reason: string): void {
    const { inFlight, settings } = this.#parts;
    for (const call of [...inFlight.incomingCalls()]) {
      const answer = call.id === undefined ? undefined : encodeFailure(call.id, unfinished, settings.profile);
      this.#cancel(call, new LocalError("closed", reason), answer);
    }
  }

  /** Cancels every received request without a response. */
  cancelAll(reason: string): void {
    for (const call of [...this.#parts.inFlight.incomingCalls()]) this.#cancel(call, new LocalError("closed", reason));
  }

  /** A handler that ignores its signal still counts as running, so a peer cannot start more of them by cancelling. */
  #cancel(call: IncomingCall, reason: LocalError, answer?: string): void {
    const { inFlight, settings } = this.#parts;
    if (inFlight.isWaiting(call)) settings.budget.give(call.bytes);
    inFlight.cancel(call);
    call.cancel(reason);
    this.#answer(call, answer);
  }

  /** Charges the budget for a call and returns whether it runs, waits, or is refused because a limit is reached. */
  #admit(call: IncomingCall, bytes: number): "run" | "wait" | ErrorObject {
    const { inFlight, settings, out } = this.#parts;
    const { limits } = settings;
    call.isLongLived = this.#longLived?.has(call.message.method) === true;
    if (call.isLongLived && inFlight.longLived >= limits.listening) return tooManyRequests;
    const mayRun = call.isLongLived || (inFlight.running < limits.running && inFlight.waiting === 0 && out.mayAnswer);
    if (!mayRun && inFlight.waiting >= limits.waiting) return tooManyRequests;
    if (!settings.budget.take(bytes)) return tooManyBytes;
    call.bytes = bytes;
    return mayRun ? "run" : "wait";
  }

  #run(call: IncomingCall): void {
    const { inFlight, settings } = this.#parts;
    const { message } = call;
    inFlight.run(call);
    const answer =
      "id" in message
        ? runRequest(this.#handle, message, call, settings)
        : runNotification(this.#handle, message, call, settings);
    if (typeof answer === "object")
      void answer.then((text) => this.#finish(call, text)); // Never rejects.
    else this.#finish(call, answer);
  }

  #finish(call: IncomingCall, answer: string | undefined): void {
    const { inFlight, settings } = this.#parts;
    settings.budget.give(call.bytes);
    const wasCancelled = call.over;
    inFlight.settle(call); // Before writing: the peer may reuse the id as soon as it sees the response.
    if (!wasCancelled) {
      const isShort = answer === undefined || answer.length <= freeAnswerLength;
      this.#answer(call, isShort ? answer : fittingResponse(answer, call.id, settings.profile, settings.budget));
    }
    if (inFlight.waiting > 0) this.runWaiting();
  }

  /** Sends the response to a request, or adds it to the response to its batch. Undefined: there is no response. */
  #answer({ id, reply }: IncomingCall, answer: string | undefined): void {
    if (reply !== undefined) reply(answer);
    else if (answer !== undefined) this.#parts.out.write(answer, id, true);
    else if (id !== undefined) this.#parts.out.unanswered(id);
  }

  /** Runs waiting calls up to the limit. A loop, not a recursion, because any number of them may finish at once. */
  runWaiting(): void {
    const { inFlight, settings, out } = this.#parts;
    if (this.#filling || inFlight.waiting === 0) return;
    this.#filling = true;
    for (let next = inFlight.nextWaiting(); next !== undefined; next = inFlight.nextWaiting()) {
      if (inFlight.running >= settings.limits.running || !out.mayAnswer) break;
      this.#run(next);
    }
    this.#filling = false;
  }
}

/** The problem of a request whose id is that of a running one. The running request continues. */
export function inFlightProblem(id: Id): Problem {
  return new Problem(codes.invalidRequest, "id belongs to a request that is still in flight", "/id", id, "request");
}

/** An exchange that may know that it has ended. Errors after its end are not reported: a cancelled handler stops by throwing. */
export interface Endable extends Exchange {
  readonly over?: boolean;
  /** Called with the error of the response and the thrown value. */
  failed?(error: ErrorObject, thrown: unknown): void;
}

/** Runs a request and returns its response. A result that cannot be serialised is answered with an error. */
export function runRequest(
  handle: Call,
  request: RpcRequest,
  exchange: Endable,
  settings: PeerSettings,
): string | Promise<string> {
  try {
    const result = handle(request.method, request.params, exchange);
    if (!isPromise(result)) return encodeSuccess(request.id, result, settings.profile);
    return Promise.resolve(result).then(
      (value) => finish(request, value, exchange, settings),
      (error: unknown) => fail(request, error, exchange, settings),
    );
  } catch (error) {
    return fail(request, error, exchange, settings);
  }
}

function finish(request: RpcRequest, result: unknown, exchange: Endable, settings: PeerSettings): string {
  try {
    return encodeSuccess(request.id, result, settings.profile);
  } catch (error) {
    return fail(request, error, exchange, settings);
  }
}

function fail(request: RpcRequest, thrown: unknown, exchange: Endable, settings: PeerSettings): string {
  const fault = (error: unknown): void => reportFault(request, error, exchange, settings);
  const told = toErrorObject(thrown, settings.mapError, fault);
  exchange.failed?.(told, thrown);
  return encodeFailure(request.id, told, settings.profile);
}

function reportFault(
  { method, params }: RpcRequest | RpcNotification,
  error: unknown,
  { over }: Endable,
  { report, nameOf }: PeerSettings,
): void {
  if (over !== true) report(faultOf(method, error, nameOf?.(method, params)));
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
  message: RpcNotification,
  exchange: Endable,
  settings: PeerSettings,
): undefined | Promise<undefined> {
  const fault = (error: unknown): undefined => void reportFault(message, error, exchange, settings);
  try {
    const result = handle(message.method, message.params, exchange);
    return isPromise(result) ? Promise.resolve(result).then(() => undefined, fault) : undefined;
  } catch (error) {
    return fault(error);
  }
}

/** Most hosts show the message alone. */
const isShuttingDown = "Internal error: the receiver is shutting down";

/** The response to a call that is still running when its server closes. */
export const unfinished: ErrorObject = {
  code: internalError.code,
  message: isShuttingDown,
  data: { reason: "the receiver is shutting down, and the call was not finished: it may have had effects" },
};

function isId(value: unknown): value is Id {
  return typeof value === "string" || typeof value === "number" || value === null || value instanceof ExactNumber;
}

const shuttingDown: ErrorObject = {
  code: internalError.code,
  message: isShuttingDown,
  data: { reason: "the receiver is shutting down: send it again elsewhere or later" },
};

/** Responses up to this length are sent whatever is queued: their number is limited by the limits on calls. */
export const freeAnswerLength: number = 64 * 1024;

/** The response, or an error response instead if the budget of the peer has no room to queue it. */
export function fittingResponse(answer: string, id: Id | undefined, profile: Profile, budget: ByteBudget): string {
  if (answer.length <= freeAnswerLength || budget.fits(weightOfText(answer))) return answer;
  return encodeFailure(id, noRoomForAnswer, profile);
}

// The call has run.
const noRoomForAnswer: ErrorObject = {
  ...internalError,
  data: { reason: "no room to queue the answer: read what was sent before, or ask for less" },
};

/** The response to a message that the budget has no room for. */
export const tooManyBytes: ErrorObject = {
  code: codes.tooManyRequests,
  message: "Too many requests",
  data: { reason: "too many bytes are in flight: read and wait for responses, then retry" },
};

const tooManyRequests: ErrorObject = {
  code: codes.tooManyRequests,
  message: "Too many requests",
  data: { reason: "too many requests are in flight: wait for responses, then retry" },
};

/** The parts of a connection that its calls share. */
export interface ConnectionParts {
  readonly settings: PeerSettings;
  readonly inFlight: InFlight<OutgoingCall, IncomingCall>;
  readonly out: Outbound;
  readonly caller: Caller;
  /** The peer, as the transport has authenticated its latest message. */
  auth: Authentication;
  readonly peer: string | undefined;
}

/** Receives the response to a request of a batch; undefined if it was cancelled. */
export type SendResponse = (answer: string | undefined) => void;

/** A received request or notification until its response, and the `Exchange` of its handler. */
export class IncomingCall implements Exchange {
  readonly id: Id | undefined;
  /** The key of the call in `InFlight`; unique for a notification. */
  readonly key: CallKey;
  readonly message: RpcRequest | RpcNotification;
  /** Undefined for a call whose response is a frame of its own. */
  readonly reply: SendResponse | undefined;
  readonly auth: Authentication;
  /** Bytes charged to the budget until the handler has ended. */
  bytes = 0;
  /** It stays open until one side ends it, and does not count as running. */
  isLongLived = false;
  /** True after its response or its cancellation: nothing more is sent for it. */
  over = false;
  readonly #parts: ConnectionParts;
  #controller: AbortController | undefined;
  #closing: AbortController | undefined;
  #isClosing = false;
  #cancelled: LocalError | undefined;

  constructor(parts: ConnectionParts, message: RpcRequest | RpcNotification, reply?: SendResponse) {
    const id = "id" in message ? message.id : undefined;
    this.#parts = parts;
    this.auth = parts.auth;
    this.id = id;
    this.key = typeof id === "number" ? id : id === undefined ? Symbol(message.method) : idKey(id);
    this.message = message;
    this.reply = reply;
  }

  get principal(): string | undefined {
    return identityOf(this.auth)?.principal;
  }

  get peer(): string | undefined {
    return this.#parts.peer;
  }

  get report(): Reporter {
    return this.#parts.settings.report;
  }

  /** Created on first use: most handlers do not use it, and a controller costs more than a short call. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled);
    }
    return this.#controller.signal;
  }

  get closing(): AbortSignal {
    if (this.#closing === undefined) {
      this.#closing = new AbortController();
      if (this.#isClosing) this.#closing.abort();
    }
    return this.#closing.signal;
  }

  failed(_error: ErrorObject, thrown: unknown): void {
    if (!this.over && this.id !== undefined) this.#parts.out.failedBy(this.id, thrown);
  }

  /** Sends requests that belong to this one, on the stream of its response. */
  get callback(): RemoteCall {
    const { caller, out } = this.#parts;
    const write = (frame: string): void => out.write(frame, this.id);
    return (method, params, options = {}) => markHandled(caller.call(method, params, options, write, this));
  }

  notify(method: string, params?: Params): void {
    if (!this.over) this.#parts.out.notifyRelated(method, params, this.id);
  }

  drained(): Promise<void> {
    return this.#parts.out.drained(this.id);
  }

  release(retry: number): void {
    if (!this.over && this.id !== undefined) this.#parts.out.release(this.id, retry);
  }

  /** The connection accepts no more calls and waits for this one. */
  close(): void {
    this.#isClosing = true;
    this.#closing?.abort();
  }

  cancel(reason: LocalError): void {
    this.#cancelled = reason;
    this.#controller?.abort(reason);
  }
}

bindMethods(IncomingCall.prototype, ["notify", "drained", "release"]);
