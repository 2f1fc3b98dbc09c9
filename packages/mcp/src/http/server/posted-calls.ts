import { bindMethods } from "../../base/bound-methods.js";
import { weightOfMessage, weightOfText } from "../../base/byte-budget.js";
import { settlesWithin } from "../../base/clock.js";
import { isPromise, type MaybePromise } from "../../base/maybe-promise.js";
import { joinResponses } from "../../jsonrpc/batch.js";
import type { Authentication, Call, Exchange } from "../../jsonrpc/call.js";
import { fittingResponse, freeAnswerLength, runRequest, unfinished } from "../../jsonrpc/calls/responder.js";
import { encodeFailure, encodeRequest } from "../../jsonrpc/codec/encode.js";
import { LocalError } from "../../jsonrpc/errors.js";
import type { ErrorObject, Id, Params, RpcRequest } from "../../jsonrpc/message.js";
import type { PeerSettings } from "../../jsonrpc/peer-settings.js";
import type { Reporter } from "../../jsonrpc/report.js";
import { specCodes } from "../../protocol/errors.js";
import { methods } from "../../protocol/methods.js";
import { InsufficientScope } from "../../server/required-scopes.js";
import type { Servable } from "../../server/servable.js";
import { lossyNotification } from "../../session/mcp-connection.js";
import type { Authorization } from "./authorization.js";
import { ConcurrencyLimit, type HttpCaller, requestLimits } from "./peers.js";
import { PostResponse } from "./post-response.js";
import type { HttpRequest, HttpResponse } from "./request.js";
import { jsonHeaders, noRoomResponse } from "./responses.js";
import type { KeepAlive, StreamLimits } from "./streams/event-stream.js";

/** The server of one URL, and how it responds; the same for POSTs without a session and for sessions. */
export interface Endpoint {
  readonly server: Servable;
  /** How to read messages and respond outside of sessions. */
  readonly settings: PeerSettings;
  readonly streams: StreamLimits;
  readonly keepAlive: KeepAlive;
  /** Aborts when the server shuts down. */
  readonly closing: AbortSignal;
  /** How callers are identified; undefined if they are anonymous. */
  readonly authorization: Authorization | undefined;
}

/** Turns the response to a call that lacks scopes into a challenge that names them, with status 403. */
export function forbid(response: PostResponse, { scopes }: InsufficientScope, { authorization }: Endpoint): void {
  response.setStatus(403, authorization?.forbid(scopes).headers);
}

/** The maximum number of open subscriptions; `limits.listening` limits those of one peer. */
const maxListening = 5_000;

/** Runs the requests of POSTs that do not belong to a session. */
export class PostedCalls {
  readonly endpoint: Endpoint;
  readonly #calls = new ConcurrencyLimit(requestLimits);
  readonly #subscriptions: ConcurrencyLimit;
  /** The calls that have not returned yet. */
  readonly #running = new Set<PostExchange>();

  constructor(endpoint: Endpoint) {
    const { listening } = endpoint.settings.limits;
    this.endpoint = endpoint;
    this.#subscriptions = new ConcurrencyLimit({
      perPrincipal: listening,
      perAddress: listening,
      total: maxListening,
    });
  }

  /**
   * Runs one request and responds to its POST.
   * @param length the length of the body in characters
   */
  answer(
    request: HttpRequest,
    message: RpcRequest,
    length: number,
    caller: HttpCaller,
    call: Call,
  ): MaybePromise<HttpResponse> {
    const { id, method } = message;
    const bytes = weightOfMessage(message, length);
    const limit = method === methods.listen ? this.#subscriptions : this.#calls;
    const full = limit.enter(caller, bytes);
    if (full !== undefined) return noRoomResponse(full, id);
    const exchange = new PostExchange(this.endpoint, caller, id, bytes, limit);
    const text = runRequest(call, message, exchange, this.endpoint.settings);
    return isPromise(text) ? this.#follow(request, exchange, text) : exchange.conclude(text);
  }

  /** Runs the requests of a batch concurrently. `others` are the responses to its invalid elements. */
  answerBatch(
    request: HttpRequest,
    requests: readonly [RpcRequest, ...RpcRequest[]],
    others: readonly (string | undefined)[],
    caller: HttpCaller,
    call: Call,
  ): MaybePromise<HttpResponse> {
    const { settings } = this.endpoint;
    const bytes = requests.reduce((sum, each) => sum + weightOfMessage(each, Number.POSITIVE_INFINITY), 0);
    const [{ id: first }] = requests;
    const full = this.#calls.enter(caller, bytes);
    if (full !== undefined) return noRoomResponse(full, first);
    const exchange = new PostExchange(this.endpoint, caller, first, bytes, this.#calls);
    const waiting = caller.budget.child(); // Holds responses until the last one is ready.
    const responses = requests.map(async (each) => {
      const text = await runRequest(call, each, exchange, settings);
      const response = fittingResponse(text, each.id, settings.profile, waiting);
      waiting.take(weightOfText(response)); // A short response is sent even without room.
      return response;
    });
    const joined = Promise.all(responses).then((texts) => {
      waiting.close();
      return joinResponses([...texts, ...others]) ?? "";
    });
    return this.#follow(request, exchange, joined);
  }

  /** Waits up to `grace` milliseconds for running calls. */
  async drain(grace: number): Promise<void> {
    const idle = Promise.all([this.#calls.idle(), this.#subscriptions.idle()]);
    await settlesWithin(idle, grace, this.endpoint.settings.clock);
  }

  /** Ends every running call. */
  close(): void {
    for (const exchange of this.#running) exchange.end();
    this.#running.clear();
  }

  /** Keeps the connection of a call alive until its response is known, and cancels the call when the client is gone. */
  #follow(request: HttpRequest, exchange: PostExchange, text: Promise<string>): MaybePromise<HttpResponse> {
    const { keepAlive } = this.endpoint;
    const { response } = exchange;
    keepAlive.add(response);
    this.#running.add(exchange);
    request.onGone(() => {
      exchange.cancel("the client has closed the connection");
      keepAlive.delete(response); // The handler may never finish.
    });
    // Never rejects: errors of the handler become error responses.
    void text.then((finished) => {
      keepAlive.delete(response);
      this.#running.delete(exchange);
      void exchange.conclude(finished); // The response is the one below.
    });
    return response.response;
  }
}

/**
 * The exchange of a call that is one POST: notifications go into its response, and closing the connection cancels it.
 */
class PostExchange implements Exchange {
  readonly id: Id;
  readonly auth: Authentication;
  readonly principal: string | undefined;
  readonly peer: string | undefined;
  readonly #endpoint: Endpoint;
  readonly #caller: HttpCaller;
  readonly #bytes: number;
  readonly #limit: ConcurrencyLimit;
  #response: PostResponse | undefined;
  /** Created on first use: most handlers do not read their signal. */
  #controller: AbortController | undefined;
  #cancelled: LocalError | undefined;
  #hasReturned = false;

  /**
   * @param bytes charged to the budget of the caller until the call has ended
   * @param limit counts the call until it has ended
   */
  constructor(endpoint: Endpoint, caller: HttpCaller, id: Id, bytes: number, limit: ConcurrencyLimit) {
    this.id = id;
    this.auth = caller.auth;
    this.principal = caller.principal;
    this.peer = caller.peer;
    this.#endpoint = endpoint;
    this.#caller = caller;
    this.#bytes = bytes;
    this.#limit = limit;
  }

  /** Created on first use: most calls return at once, and have sent nothing before. */
  get response(): PostResponse {
    this.#response ??= new PostResponse(this.#endpoint.streams, this.#caller.budget);
    return this.#response;
  }

  get closing(): AbortSignal {
    return this.#endpoint.closing;
  }

  get report(): Reporter {
    return this.#endpoint.settings.report;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled);
    }
    return this.#controller.signal;
  }

  get over(): boolean {
    return this.#cancelled !== undefined || this.#hasReturned;
  }

  notify(method: string, params?: Params): void {
    if (this.over) return;
    try {
      const frame = encodeRequest(undefined, method, params);
      const { response } = this;
      const lossy = response.hasRoom ? undefined : lossyNotification(method, params);
      response.send(frame, lossy && { method, ...lossy });
    } catch (error) {
      this.report({ kind: "fault", method, error });
    }
  }

  /** Resolves when the reader has room. */
  drained(): Promise<void> {
    return this.#response?.drained() ?? Promise.resolve();
  }

  /** A missing client capability and a missing scope are the only errors of a handler with HTTP statuses of their own. */
  failed({ code }: ErrorObject, thrown: unknown): void {
    if (code === specCodes.missingRequiredClientCapability) this.response.setStatus(400);
    if (thrown instanceof InsufficientScope) forbid(this.response, thrown, this.#endpoint);
  }

  cancel(why: string): void {
    if (this.over) return;
    this.#cancelled = new LocalError("cancelled", why);
    this.#controller?.abort(this.#cancelled);
  }

  /** The call has returned: responds, unless the call was cancelled. Returns the response to the POST. */
  conclude(text: string): MaybePromise<HttpResponse> {
    const isCancelled = this.#cancelled !== undefined;
    this.#hasReturned = true;
    this.#limit.leave(this.#caller, this.#bytes);
    if (this.#response === undefined && !isCancelled && text.length <= freeAnswerLength)
      return { status: 200, headers: jsonHeaders, body: text };
    const { response } = this;
    if (isCancelled) {
      response.giveUp();
      return response.response;
    }
    const fitting = fittingResponse(text, this.id, this.#endpoint.settings.profile, this.#caller.budget);
    if (fitting !== text) response.setStatus(503);
    response.respond(fitting);
    return response.response;
  }

  /** Cancels the call and responds that it was not finished, because the server shuts down. */
  end(): void {
    this.cancel("the server is closed");
    this.response.setStatus(503);
    this.response.respond(encodeFailure(this.id, unfinished, this.#endpoint.settings.profile));
  }
}

bindMethods(PostExchange.prototype, ["notify", "drained"]);
