import { weightOfValue } from "../../base/byte-budget.js";
import type { MembersOf } from "../../base/check-members.js";
import { deferred } from "../../base/deferred.js";
import { isPromise } from "../../base/maybe-promise.js";
import { settlesWithin } from "../../base/settles-within.js";
import { answerDecoded } from "../../jsonrpc/answerer.js";
import type { Call, Exchange } from "../../jsonrpc/call.js";
import { unfinished } from "../../jsonrpc/calls/responder.js";
import { type Decoded, Problem } from "../../jsonrpc/codec/decode.js";
import { encodeFailure } from "../../jsonrpc/codec/encode.js";
import { codes, internalError, LocalError } from "../../jsonrpc/errors.js";
import { inHook } from "../../jsonrpc/hooks.js";
import type { Id, Message } from "../../jsonrpc/message.js";
import {
  decodeBody,
  type PeerOptions,
  type PeerSettings,
  peerMembers,
  peerSettings,
} from "../../jsonrpc/peer-settings.js";
import { faultOf } from "../../jsonrpc/report.js";
import { ConcurrencyLimit } from "./concurrency-limit.js";
import {
  corsHeaders,
  isPreflight,
  type PageHeaders,
  pageHeaderMembers,
  pageHeaders,
  preflightResponse,
} from "./cors.js";
import type { HttpServerHandler } from "./http-server-handler.js";
import type { AddressOf, Authenticate } from "./options.js";
import { type OriginCheck, type OriginCheckOptions, originCheck, originCheckMembers } from "./origin-check.js";
import { Peers } from "./peers.js";
import { bodyFault } from "./preconditions.js";
import { BodyFault, type HttpHeaders, type HttpRequest, type HttpResponse } from "./request.js";
import { emptyResponse, jsonResponse, withHeaders } from "./responses.js";

/** Options of plain JSON-RPC over HTTP. */
export interface RpcOptions
  extends PeerOptions,
    PageHeaders,
    Pick<OriginCheckOptions, "allowedHosts" | "allowedOrigins"> {
  /** Authenticates callers. Default: every caller with an allowed host is accepted. */
  readonly authenticate?: Authenticate;
  /** The network address of anonymous callers, as in `HttpOptions`. */
  readonly addressOf?: AddressOf;
}

/** The members of `RpcOptions`, to detect unknown options. */
export const rpcMembers: MembersOf<RpcOptions> = {
  ...peerMembers,
  ...originCheckMembers,
  ...pageHeaderMembers,
  authenticate: ["auth", "authorize", "authentication"],
  addressOf: ["trustProxy", "trustedProxy", "clientAddress"],
};

/** The maximum number of concurrent requests. */
const running = { perPrincipal: 512, perAddress: 2_048, total: 8_192 };

/**
 * Serves plain JSON-RPC at one URL. A POST contains a message or a batch; its response is the JSON-RPC response, or 204
 * if there is none.
 */
export class RpcHandler implements HttpServerHandler {
  readonly #call: Call;
  readonly #terms: PeerSettings;
  readonly #guard: OriginCheck;
  readonly #authenticate: RpcOptions["authenticate"];
  /** Request headers that pages may send. */
  readonly #pageHeaders: ReadonlySet<string>;
  readonly #running = new ConcurrencyLimit(running);
  readonly #peers: Peers;
  readonly #addressOf: AddressOf;
  readonly #closing = new AbortController();
  /** Resolves when running requests are no longer awaited. */
  readonly #over = deferred<undefined>();
  /** One per running request. */
  readonly #cancels = new Set<AbortController>();

  /** @throws TypeError for an invalid allowed host, origin or header */
  constructor(call: Call, options: RpcOptions & Pick<OriginCheckOptions, "exposed"> = {}) {
    this.#call = call;
    this.#terms = peerSettings(options);
    this.#peers = new Peers(this.#terms.limits);
    this.#addressOf = options.addressOf ?? (({ address }) => address);
    this.#guard = originCheck({ ...options, anyHost: options.authenticate !== undefined });
    this.#authenticate = options.authenticate;
    this.#pageHeaders = pageHeaders(options.allowedHeaders);
  }

  async handle(request: HttpRequest): Promise<HttpResponse> {
    const origin = request.header("origin");
    const foreign = this.#guard(request.header("host"), origin, request.ends);
    if (foreign !== undefined) return this.#refusal(foreign.status, foreign.reason);
    const answer = await this.#answer(request).catch((error: unknown) => this.#failed(request, error));
    return origin === undefined ? answer : withHeaders(answer, corsHeaders(origin));
  }

  async drain(grace: number): Promise<void> {
    this.#closing.abort();
    await settlesWithin(this.#running.idle(), grace, this.#terms.clock);
    this.close();
  }

  close(): void {
    this.#closing.abort();
    this.#over.resolve(undefined);
    for (const each of this.#cancels) each.abort(new LocalError("closed", "this side is shutting down"));
  }

  async #answer(request: HttpRequest): Promise<HttpResponse> {
    if (isPreflight(request)) return preflightResponse(request, "POST", this.#pageHeaders);
    if (request.method !== "POST") return this.#refusal(405, "supported methods: POST", { allow: "POST" });
    const fault = bodyFault(request);
    if (fault !== undefined) return this.#refusal(415, fault.reason, fault.headers);
    let principal: string | undefined;
    if (this.#authenticate !== undefined) {
      const { method, url } = request;
      const authenticate = this.#authenticate;
      const asked = { method, url, header: (name: string) => request.header(name) };
      const identity = await inHook("authenticate", () => authenticate(asked));
      if (identity === undefined)
        return this.#refusal(401, "authentication is required", { "www-authenticate": "Bearer" });
      principal = identity.principal;
    }
    const caller = this.#peers.caller(principal, principal === undefined ? this.#addressOf(request) : undefined);
    const { budget } = caller;
    const frame = await request.text(this.#terms.limits.frameBytes, budget);
    if (this.#closing.signal.aborted) return this.#refusal(503, "this side is shutting down", retryLater);
    const decoded = decodeBody(this.#terms, frame);
    const bytes = weightOfValue(decoded);
    if (!this.#running.enter(caller)) return this.#refusal(429, "too many requests are running", retryLater);
    if (!budget.take(bytes)) {
      this.#running.leave(caller);
      return this.#refusal(budget.parentFits(bytes) ? 429 : 503, "there is no room for the request", retryLater);
    }
    const cancel = new AbortController();
    this.#cancels.add(cancel);
    try {
      return await this.#run(request, { frame, decoded }, principal, cancel);
    } finally {
      this.#cancels.delete(cancel);
      this.#running.leave(caller);
      budget.give(bytes);
    }
  }

  async #run(
    request: HttpRequest,
    { frame, decoded }: { readonly frame: string; readonly decoded: Decoded },
    principal: string | undefined,
    cancel: AbortController,
  ): Promise<HttpResponse> {
    const exchange: Exchange = {
      signal: cancel.signal,
      principal,
      closing: this.#closing.signal,
      report: this.#terms.report,
      notify: () => undefined, // The response is a single message, with nothing before it.
      drained: () => Promise.resolve(),
    };
    const answer = answerDecoded(this.#call, decoded, frame, exchange, this.#terms);
    if (isPromise(answer)) {
      request.onGone(() => cancel.abort(new LocalError("cancelled", "the client has closed the connection")));
    }
    const text = await Promise.race([answer, this.#over.promise.then(() => late)]);
    if (typeof text === "symbol") {
      const id = decoded instanceof Problem || Array.isArray(decoded) ? undefined : idOf(decoded as Message);
      return jsonResponse(503, encodeFailure(id, unfinished, this.#terms.profile));
    }
    if (text === undefined) return emptyResponse(204);
    return jsonResponse(decoded instanceof Problem ? 400 : 200, text);
  }

  #failed({ method }: HttpRequest, error: unknown): HttpResponse {
    if (error instanceof BodyFault) return this.#refusal(error.status, error.message);
    this.#terms.report(faultOf(`HTTP ${method}`, error));
    return jsonResponse(500, encodeFailure(undefined, internalError, this.#terms.profile));
  }

  #refusal(status: number, reason: string, headers: HttpHeaders = {}): HttpResponse {
    const error = { code: codes.invalidRequest, message: "Invalid Request", data: { reason } };
    return withHeaders(jsonResponse(status, encodeFailure(undefined, error, this.#terms.profile)), headers);
  }
}

/** Marks a call without a result yet. */
const late = Symbol("late");

function idOf(message: Message): Id | undefined {
  return "id" in message ? message.id : undefined;
}

/** In seconds. */
const retryLater: HttpHeaders = { "retry-after": "1" };
