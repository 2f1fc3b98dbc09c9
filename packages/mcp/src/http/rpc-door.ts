import { isPromise } from "../base/later.js";
import { settlesWithin } from "../base/settles-within.js";
import { answerDecoded } from "../jsonrpc/answer.js";
import type { Call, Exchange } from "../jsonrpc/call.js";
import { Problem } from "../jsonrpc/check.js";
import { encodeFailure } from "../jsonrpc/codec.js";
import { codes, internalError, LocalError } from "../jsonrpc/errors.js";
import { decodeOn, type Terms, type TermsOptions, termsOf } from "../jsonrpc/terms.js";
import { Admission } from "./admission.js";
import { emptyAnswer, jsonAnswer, withHeaders } from "./answers.js";
import { corsHeaders, isPreflight, preflightAnswer } from "./cors.js";
import type { HttpDoor } from "./door.js";
import { type Guard, type GuardOptions, guardOf } from "./guard.js";
import type { Authenticate } from "./options.js";
import { bodyFault } from "./preconditions.js";
import { BodyFault, type HttpAnswer, type HttpHeaders, type HttpRequest } from "./request.js";

/** What can be set about plain JSON-RPC on HTTP. */
export interface RpcOptions extends TermsOptions, Pick<GuardOptions, "allowedHosts" | "allowedOrigins"> {
  /** Who may call. Default: everybody who reaches this service by an allowed host. */
  readonly authenticate?: Authenticate;
}

/** What runs at the same time. */
const running = { perPrincipal: 512, total: 8_192 };

/** Plain JSON-RPC behind one URL: a frame is posted, and its answer is the answer. Who posts no request is owed none. */
export class RpcDoor implements HttpDoor {
  readonly #call: Call;
  readonly #terms: Terms;
  readonly #guard: Guard;
  readonly #authenticate: RpcOptions["authenticate"];
  readonly #running = new Admission(running);
  readonly #closing = new AbortController();
  /** One for each request that runs. */
  readonly #cancels = new Set<AbortController>();

  /** @throws TypeError for an allowed host or origin that is none */
  constructor(call: Call, options: RpcOptions = {}) {
    this.#call = call;
    this.#terms = termsOf(options);
    this.#guard = guardOf({ ...options, anyHost: options.authenticate !== undefined });
    this.#authenticate = options.authenticate;
  }

  async handle(request: HttpRequest): Promise<HttpAnswer> {
    const origin = request.header("origin");
    const foreign = this.#guard(request.header("host"), origin);
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
    for (const each of this.#cancels) each.abort(new LocalError("closed", "this side is shutting down"));
  }

  async #answer(request: HttpRequest): Promise<HttpAnswer> {
    if (isPreflight(request)) return preflightAnswer(request, "POST");
    if (request.method !== "POST") return this.#refusal(405, "POST is understood here", { allow: "POST" });
    const fault = bodyFault(request);
    if (fault !== undefined) return this.#refusal(415, fault.reason, fault.headers);
    let principal: string | undefined;
    if (this.#authenticate !== undefined) {
      const { method, url } = request;
      const identity = await this.#authenticate({ method, url, header: (name) => request.header(name) });
      if (identity === undefined) return this.#refusal(401, "who calls is not known", { "www-authenticate": "Bearer" });
      principal = identity.principal;
    }
    const frame = await request.text(this.#terms.limits.frameBytes);
    if (this.#closing.signal.aborted) return this.#refusal(503, "this side is shutting down", retryLater);
    if (!this.#running.enter(principal)) return this.#refusal(429, "too many requests are running", retryLater);
    const cancel = new AbortController();
    this.#cancels.add(cancel);
    try {
      return await this.#run(request, frame, principal, cancel);
    } finally {
      this.#cancels.delete(cancel);
      this.#running.leave(principal);
    }
  }

  async #run(
    request: HttpRequest,
    frame: string,
    principal: string | undefined,
    cancel: AbortController,
  ): Promise<HttpAnswer> {
    const exchange: Exchange = {
      signal: cancel.signal,
      principal,
      closing: this.#closing.signal,
      notify: () => undefined, // There is one answer, and nothing before it.
      drained: () => Promise.resolve(),
    };
    const decoded = decodeOn(this.#terms, frame);
    const answer = answerDecoded(this.#call, decoded, frame, exchange, this.#terms);
    if (isPromise(answer)) {
      request.onGone(() => cancel.abort(new LocalError("cancelled", "the client has closed the connection")));
    }
    const text = await answer;
    if (text === undefined) return emptyAnswer(204);
    return jsonAnswer(decoded instanceof Problem ? 400 : 200, text);
  }

  #failed({ method }: HttpRequest, error: unknown): HttpAnswer {
    if (error instanceof BodyFault) return this.#refusal(error.status, error.message);
    this.#terms.report({ kind: "fault", method: `HTTP ${method}`, error });
    return jsonAnswer(500, encodeFailure(undefined, internalError, this.#terms.profile));
  }

  #refusal(status: number, reason: string, headers: HttpHeaders = {}): HttpAnswer {
    const error = { code: codes.invalidRequest, message: "Invalid Request", data: { reason } };
    return withHeaders(jsonAnswer(status, encodeFailure(undefined, error, this.#terms.profile)), headers);
  }
}

/** Seconds. */
const retryLater: HttpHeaders = { "retry-after": "1" };
