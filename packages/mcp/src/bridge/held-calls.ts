import { type Clock, setBackgroundTimer, type Timer } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import { isObject, type JsonObject } from "../base/json.js";
import { onAbort, whenAborted } from "../jsonrpc/abort-listeners.js";
import { codes, RpcError } from "../jsonrpc/errors.js";
import { sleep } from "../jsonrpc/sleep.js";
import type { ClientRequest } from "../server/input/input-request.js";
import { readResponses, refusedState } from "../server/input/replay.js";
import { canonical } from "../server/input/request-state.js";
import { type InputClient, requireClientCapability } from "../server/input/require-client-capability.js";
import type { Operation } from "../server/servable.js";
import { translateClientRequest } from "./translate.js";

/** Sends an input request to the downstream client. The signal aborts when the response is no longer needed. */
export type RequestInput = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

/** A downstream request: a call, or its repetition with input responses. */
export interface Round {
  readonly operation: Operation;
  /** As received. */
  readonly params: JsonObject;
}

/** A call on its way upstream. */
export interface ProxiedCall {
  /** Sends an input request to the caller; undefined if that is not possible. */
  readonly requestInput?: RequestInput;
  readonly signal: AbortSignal;
  /** The call's current downstream request. */
  readonly round: () => Round;
}

/** Forwards a call upstream. */
export type ForwardCall = (call: ProxiedCall) => Promise<JsonObject>;

/** Milliseconds until input responses must arrive. Long, because a user may have to think. */
const responseTime = 600_000;

/**
 * The maximum number of held calls. Each keeps an upstream call open, and a client could abandon any number of them.
 */
const maxHeld = 1_000;

interface OpenRequest extends ClientRequest {
  respond(response: JsonObject): void;
}

/**
 * Forwards calls between a handshake server, which sends input requests, and stateless clients, which get them in
 * results. The upstream call stays open between two rounds; `requestState` is only its key.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export class HeldCalls {
  readonly #clock: Clock;
  readonly #held = new Map<string, HeldCall>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Handles one round: starts the call, or continues the one that `requestState` names. */
  async run(method: string, round: Round, forward: ForwardCall): Promise<JsonObject> {
    const call = this.#resumed(method, round) ?? new HeldCall(bindingOf(method, round), forward, round, this.#clock);
    call.respond(readResponses(round.params));
    const result = await call.run(round);
    if (result !== undefined) return result;
    if (this.#held.size >= maxHeld) {
      const reason = "too many calls wait for input responses";
      call.stop(reason);
      throw new RpcError(codes.tooManyRequests, "Too many requests", { reason });
    }
    const requestState = crypto.randomUUID();
    this.#held.set(requestState, call);
    call.expire(responseTime, () => this.#held.delete(requestState));
    return { resultType: "input_required", inputRequests: call.inputRequests, requestState };
  }

  /** Ends all held calls. */
  close(): void {
    for (const call of this.#held.values()) call.stop("the bridge is closed");
    this.#held.clear();
  }

  #resumed(method: string, round: Round): HeldCall | undefined {
    const { requestState } = round.params;
    if (requestState === undefined) return undefined;
    const call = typeof requestState === "string" ? this.#held.get(requestState) : undefined;
    if (call === undefined || call.binding !== bindingOf(method, round)) throw refusedState();
    this.#held.delete(String(requestState)); // Valid once: two rounds would share the requests.
    return call;
  }
}

/** Identifies the call and its caller. Params that may differ between rounds are left out. */
function bindingOf(method: string, { params, operation }: Round): string {
  const { _meta, inputResponses, requestState, ...same } = params;
  return canonical([operation.principal ?? null, method, same]);
}

/** @throws RpcError −32602, which every revision has, if the client did not declare the capability */
function requireDeclared(request: ClientRequest, client: InputClient): void {
  try {
    requireClientCapability({ request }, client);
  } catch (error) {
    throw error instanceof RpcError ? invalid(error) : error;
  }
}

function invalid(error: RpcError): RpcError {
  return new RpcError(codes.invalidParams, error.message, error.data, { cause: error });
}

/** An upstream call, and its pending input requests. */
class HeldCall {
  readonly binding: string;
  readonly #inputRequests = new Map<string, OpenRequest>();
  readonly #stop = new AbortController();
  readonly #forward: ForwardCall;
  readonly #clock: Clock;
  #outcome: Promise<JsonObject> | undefined;
  #round: Round;
  #requested = deferred<undefined>();
  #lastKey = 0;
  #expiry: Timer | undefined;

  constructor(binding: string, forward: ForwardCall, first: Round, clock: Clock) {
    this.binding = binding;
    this.#forward = forward;
    this.#round = first;
    this.#clock = clock;
  }

  /** The `inputRequests` of the result. */
  get inputRequests(): JsonObject {
    return Object.fromEntries([...this.#inputRequests].map(([key, { method, params }]) => [key, { method, params }]));
  }

  respond(responses: JsonObject): void {
    for (const [key, request] of [...this.#inputRequests]) {
      const response = responses[key];
      if (!isObject(response)) continue;
      this.#inputRequests.delete(key);
      request.respond(response);
    }
  }

  /** Waits for the result; undefined if input requests come first. */
  async run(round: Round): Promise<JsonObject | undefined> {
    if (this.#expiry !== undefined) this.#clock.clearTimer(this.#expiry);
    this.#round = round;
    const { operation } = round;
    const forget = whenAborted(operation.signal, () => this.#stop.abort(operation.signal.reason));
    try {
      this.#outcome ??= this.#forward({
        requestInput: this.#requestInput,
        signal: this.#stop.signal,
        round: () => this.#round,
      });
      if (this.#inputRequests.size === 0) {
        const result = await Promise.race([this.#outcome, this.#requested.promise]);
        if (result !== undefined) return result;
      }
      await sleep(this.#clock, 0, this.#stop.signal); // Collect simultaneous input requests into one result.
      return this.#inputRequests.size > 0 ? undefined : await this.run(round);
    } finally {
      forget();
    }
  }

  expire(milliseconds: number, expired: () => void): void {
    this.#outcome?.catch(() => undefined); // The client may never repeat the call.
    const late = (): void => {
      expired();
      this.stop("the client did not send its input responses in time");
    };
    this.#expiry = setBackgroundTimer(this.#clock, late, milliseconds);
  }

  stop(why: string): void {
    if (this.#expiry !== undefined) this.#clock.clearTimer(this.#expiry);
    this.#stop.abort(new Error(why));
  }

  readonly #requestInput: RequestInput = async (method, params, signal) => {
    const { operation } = this.#round;
    requireDeclared({ method, params }, operation);
    this.#lastKey += 1;
    const key = `q${this.#lastKey}`;
    const translated = translateClientRequest(method, params, operation.revision);
    return new Promise((resolve, reject) => {
      const forget = onAbort(signal, () => {
        this.#inputRequests.delete(key);
        reject(new RpcError(codes.internalError, "Internal error", { reason: "the input request was cancelled" }));
      });
      const respond = (response: JsonObject): void => {
        forget();
        resolve(response);
      };
      this.#inputRequests.set(key, { method, params: translated, respond });
      this.#requested.resolve(undefined);
      this.#requested = deferred();
    });
  };
}
