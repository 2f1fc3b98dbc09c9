import { deferred } from "../base/deferred.js";
import { isPromise } from "../base/later.js";
import type { MembersOf } from "../base/members.js";
import { settlesWithin } from "../base/settles-within.js";
import { answerDecoded } from "../jsonrpc/answer.js";
import type { Call, Exchange } from "../jsonrpc/call.js";
import { Problem } from "../jsonrpc/check.js";
import { type Decoded, encodeFailure } from "../jsonrpc/codec.js";
import { codes, internalError, LocalError } from "../jsonrpc/errors.js";
import { inHook } from "../jsonrpc/hooks.js";
import type { Id, Message } from "../jsonrpc/message.js";
import { faultOf } from "../jsonrpc/report.js";
import { unfinished } from "../jsonrpc/responder.js";
import { decodeBody, type Terms, type TermsOptions, termsMembers, termsOf } from "../jsonrpc/terms.js";
import { weightOfValue } from "../jsonrpc/weight.js";
import { Admission } from "./admission.js";
import { emptyAnswer, jsonAnswer, withHeaders } from "./answers.js";
import { corsHeaders, isPreflight, type PageHeaders, pageHeaderMembers, pageHeaders, preflightAnswer } from "./cors.js";
import type { HttpDoor } from "./door.js";
import { type Guard, type GuardOptions, guardMembers, guardOf } from "./guard.js";
import type { AddressOf, Authenticate } from "./options.js";
import { Peers } from "./peers.js";
import { bodyFault } from "./preconditions.js";
import { BodyFault, type HttpAnswer, type HttpHeaders, type HttpRequest } from "./request.js";

/** Options of plain JSON-RPC over HTTP. */
export interface RpcOptions extends TermsOptions, PageHeaders, Pick<GuardOptions, "allowedHosts" | "allowedOrigins"> {
  /** Authenticates callers. Default: every caller with an allowed host is accepted. */
  readonly authenticate?: Authenticate;
  /** The network address of anonymous callers, as in `HttpOptions`. */
  readonly addressOf?: AddressOf;
}

/** The members of `RpcOptions`, to detect unknown options. */
export const rpcMembers: MembersOf<RpcOptions> = {
  ...termsMembers,
  ...guardMembers,
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
export class RpcDoor implements HttpDoor {
  readonly #call: Call;
  readonly #terms: Terms;
  readonly #guard: Guard;
  readonly #authenticate: RpcOptions["authenticate"];
  /** Request headers that pages may send. */
  readonly #pageHeaders: ReadonlySet<string>;
  readonly #running = new Admission(running);
  readonly #peers: Peers;
  readonly #addressOf: AddressOf;
  readonly #closing = new AbortController();
  /** Resolves when running requests are no longer awaited. */
  readonly #over = deferred<undefined>();
  /** One per running request. */
  readonly #cancels = new Set<AbortController>();

  /** @throws TypeError for an invalid allowed host, origin or header */
  constructor(call: Call, options: RpcOptions & Pick<GuardOptions, "exposed"> = {}) {
    this.#call = call;
    this.#terms = termsOf(options);
    this.#peers = new Peers(this.#terms.limits);
    this.#addressOf = options.addressOf ?? (({ address }) => address);
    this.#guard = guardOf({ ...options, anyHost: options.authenticate !== undefined });
    this.#authenticate = options.authenticate;
    this.#pageHeaders = pageHeaders(options.allowedHeaders);
  }

  async handle(request: HttpRequest): Promise<HttpAnswer> {
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

  async #answer(request: HttpRequest): Promise<HttpAnswer> {
    if (isPreflight(request)) return preflightAnswer(request, "POST", this.#pageHeaders);
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
  ): Promise<HttpAnswer> {
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
      return jsonAnswer(503, encodeFailure(id, unfinished, this.#terms.profile));
    }
    if (text === undefined) return emptyAnswer(204);
    return jsonAnswer(decoded instanceof Problem ? 400 : 200, text);
  }

  #failed({ method }: HttpRequest, error: unknown): HttpAnswer {
    if (error instanceof BodyFault) return this.#refusal(error.status, error.message);
    this.#terms.report(faultOf(`HTTP ${method}`, error));
    return jsonAnswer(500, encodeFailure(undefined, internalError, this.#terms.profile));
  }

  #refusal(status: number, reason: string, headers: HttpHeaders = {}): HttpAnswer {
    const error = { code: codes.invalidRequest, message: "Invalid Request", data: { reason } };
    return withHeaders(jsonAnswer(status, encodeFailure(undefined, error, this.#terms.profile)), headers);
  }
}

/** Marks a call without a result yet. */
const late = Symbol("late");

function idOf(message: Message): Id | undefined {
  return "id" in message ? message.id : undefined;
}

/** In seconds. */
const retryLater: HttpHeaders = { "retry-after": "1" };
