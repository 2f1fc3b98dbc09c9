import { type Clock, systemClock } from "../../base/clock.js";
import { andThen, isPromise, type MaybePromise } from "../../base/maybe-promise.js";
import { settlesWithin } from "../../base/settles-within.js";
import { Problem } from "../../jsonrpc/codec/decode.js";
import { internalError } from "../../jsonrpc/errors.js";
import { inHook } from "../../jsonrpc/hooks.js";
import { isRequest, isResponse, type Message } from "../../jsonrpc/message.js";
import { decodeBody, peerSettings } from "../../jsonrpc/peer-settings.js";
import { mcpProfile } from "../../jsonrpc/profile.js";
import { faultOf } from "../../jsonrpc/report.js";
import { mcpHeaders } from "../../protocol/http-headers.js";
import { isObject } from "../../protocol/json.js";
import { revisionOf } from "../../protocol/revisions/all.js";
import type { Servable } from "../../server/servable.js";
import { isStatelessOnly, namesRevision } from "../../server/session/server-session.js";
import { nameOf } from "../../session/mcp-connection.js";
import { ConcurrencyLimit } from "./concurrency-limit.js";
import { corsHeaders, isPreflight, pageHeaders, preflightResponse } from "./cors.js";
import type { HandlerState } from "./handler-state.js";
import type { HttpServerHandler } from "./http-server-handler.js";
import type { HttpOptions } from "./options.js";
import { type OriginCheck, type OriginCheckOptions, originCheck } from "./origin-check.js";
import { type HttpCaller, Peers } from "./peers.js";
import { preconditionOf } from "./preconditions.js";
import { BodyFault, type HttpRequest, type HttpResponse } from "./request.js";
import { bodyFaultResponse, emptyResponse, errorResponse, problemResponse, refusal, withHeaders } from "./responses.js";
import { elementsOf, type HandshakeBinding, type Posted } from "./sessions/handshake-binding.js";
import { isLegacyPost, LegacySse } from "./sessions/legacy-sse.js";
import { defaultSessionLimits } from "./sessions/session-table.js";
import { Sessionless } from "./sessions/sessionless.js";
import { Sessions, type SessionsHost } from "./sessions/sessions.js";
import { answerStateless } from "./stateless.js";
import { statelessOnly } from "./stateless-only.js";
import { MemoryEventStore } from "./streams/event-store.js";
import { KeepAlive } from "./streams/keep-alive.js";

/** The maximum number of concurrent POSTs without a session. */
const running = { perPrincipal: 512, perAddress: 2_048, total: 8_192 };

/** The maximum number of open subscriptions; `limits.listening` limits those of one peer. */
const maxListening = 5_000;

/** The limits for a reader that does not read: queued bytes, and milliseconds without progress. */
const maxQueuedBytes = 8 * 1024 * 1024;
const stallTimeout = 30_000;

const defaultKeepAlive = 15_000;

/**
 * Serves MCP clients of every revision at one URL. Each message shows which revision family it belongs to.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http
 */
export class McpHandler implements HttpServerHandler {
  readonly #guard: OriginCheck;
  readonly #authenticate: HttpOptions["authenticate"];
  readonly #addressOf: NonNullable<HttpOptions["addressOf"]>;
  /** Request headers that pages may send. */
  readonly #pageHeaders: ReadonlySet<string>;
  readonly #host: HandlerState;
  readonly #closing = new AbortController();
  readonly #handshake: HandshakeBinding;
  readonly #methods: readonly string[];
  readonly #legacySse: boolean;

  /** @throws TypeError for an invalid allowed host, origin or header */
  constructor(served: Servable, options: HttpOptions & Pick<OriginCheckOptions, "exposed"> = {}) {
    const { authenticate, legacySse = false, keepAlive = defaultKeepAlive } = options;
    const clock = options.clock ?? systemClock;
    this.#guard = originCheck({ ...options, anyHost: authenticate !== undefined });
    this.#authenticate = authenticate;
    this.#addressOf = options.addressOf ?? (({ address }) => address);
    const terms = peerSettings({ ...options, nameOf, profile: mcpProfile, exactNumbers: served.exactNumbers === true });
    const { listening } = terms.limits;
    this.#pageHeaders = pageHeaders(options.allowedHeaders);
    this.#host = {
      served,
      terms,
      peers: new Peers(terms.limits),
      streams: { clock, maxQueuedBytes, stallTimeout, report: terms.report },
      pulse: new KeepAlive(clock, keepAlive),
      calls: new ConcurrencyLimit(running),
      subscriptions: new ConcurrencyLimit({ perPrincipal: listening, perAddress: listening, total: maxListening }),
      running: new Set(),
      closing: this.#closing.signal,
    };
    this.#legacySse = legacySse;
    this.#handshake = bindingOf(this.#host, { ...options, clock });
    this.#methods = ["POST", ...this.#handshake.methods];
  }

  async handle(request: HttpRequest): Promise<HttpResponse> {
    const origin = request.header("origin");
    const foreign = this.#guard(request.header("host"), origin, request.ends);
    if (foreign !== undefined) return refusal(foreign.status, foreign.reason);
    let answer: HttpResponse;
    try {
      answer = await this.#answer(request);
    } catch (error) {
      this.#host.terms.report(faultOf(`HTTP ${request.method}`, error));
      answer = errorResponse(500, internalError);
    }
    return origin === undefined ? answer : withHeaders(answer, corsHeaders(origin));
  }

  async drain(grace: number): Promise<void> {
    this.#closing.abort();
    const { calls, subscriptions, terms } = this.#host;
    const idle = Promise.all([calls.idle(), subscriptions.idle()]);
    await Promise.all([settlesWithin(idle, grace, terms.clock), this.#handshake.drain(grace)]);
    this.close();
  }

  close(): void {
    this.#closing.abort();
    this.#handshake.close();
    for (const end of [...this.#host.running]) end();
  }

  #answer(request: HttpRequest): MaybePromise<HttpResponse> {
    if (isPreflight(request)) return preflightResponse(request, this.#methods.join(", "), this.#pageHeaders);
    const unmet = preconditionOf(request, this.#methods, this.#legacySse && isLegacyPost(request));
    if (unmet !== undefined) return unmet;
    if (this.#authenticate === undefined) return this.#admitted(request, undefined);
    const { method, url } = request;
    const authenticate = this.#authenticate;
    const asked = { method, url, header: (name: string) => request.header(name) };
    return andThen(
      inHook("authenticate", () => authenticate(asked)),
      (identity) =>
        identity === undefined
          ? refusal(401, "authentication is required", { "www-authenticate": "Bearer" })
          : this.#admitted(request, identity.principal),
    );
  }

  #admitted(request: HttpRequest, principal: string | undefined): MaybePromise<HttpResponse> {
    const address = principal === undefined ? this.#addressOf(request) : undefined;
    const caller = this.#host.peers.caller(principal, address);
    if (request.method === "GET") return this.#handshake.get(request, caller);
    if (request.method === "DELETE") return this.#handshake.delete(request, caller);
    return this.#post(request, caller);
  }

  async #post(request: HttpRequest, caller: HttpCaller): Promise<HttpResponse> {
    const { limits, report } = this.#host.terms;
    let frame: string;
    try {
      const body = request.text(limits.frameBytes, caller.budget);
      frame = isPromise(body) ? await body : body;
    } catch (fault) {
      if (fault instanceof BodyFault) return bodyFaultResponse(fault);
      throw fault;
    }
    const posted = decodeBody(this.#host.terms, frame, this.#handshake.profileOf(request, caller));
    if (!(posted instanceof Problem)) return this.#message(request, frame, posted, caller);
    report({ kind: "invalid", problem: posted, frame });
    return problemResponse(posted);
  }

  #message(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    if (this.#legacySse && isLegacyPost(request)) return this.#handshake.post(request, frame, posted, caller);
    if (Array.isArray(posted)) {
      if (elementsOf(posted).some((each) => !(each instanceof Problem) && claims(each)))
        return refusal(400, "a message with a revision in _meta cannot be part of a batch");
    } else if (isStateless(request, posted as Message)) {
      const message = posted as Message;
      if (isRequest(message)) return answerStateless(this.#host, request, message, frame.length, caller);
      if (!isResponse(message)) return emptyResponse(202);
      return refusal(400, "unexpected response: servers of this revision send no requests");
    }
    return this.#handshake.post(request, frame, posted, caller);
  }
}

/**
 * A message is stateless if it declares a revision. If it does not, the header or the method may show that it should.
 */
function isStateless(request: HttpRequest, message: Message): boolean {
  if (claims(message) || ("method" in message && isStatelessOnly(message.method))) return true;
  const version = request.header(mcpHeaders.protocolVersion);
  return version !== undefined && revisionOf(version)?.era === "stateless";
}

function claims(message: Message): boolean {
  return "method" in message && isObject(message.params) && namesRevision(message.params);
}

function bindingOf(host: HandlerState, options: HttpOptions & { readonly clock: Clock }): HandshakeBinding {
  const { sessions = {}, legacySse = false, clock } = options;
  const { eventStore = new MemoryEventStore(clock), ...limits } = typeof sessions === "object" ? sessions : {};
  const sessionsHost: SessionsHost = {
    ...host,
    transport: transportOf(options),
    limits: { ...defaultSessionLimits, ...limits },
    store: eventStore === false ? undefined : eventStore,
  };
  const later = typeof sessions === "object" ? new Sessions(sessionsHost) : withoutSessions(host, sessions);
  return legacySse ? new LegacySse(sessionsHost, later) : later;
}

function withoutSessions(host: HandlerState, sessions: false | "none"): HandshakeBinding {
  return sessions === "none" ? statelessOnly : new Sessionless(host);
}

/** The options for the connection of a session. */
function transportOf({ limits, report, clock, mapError, timeout, totalTimeout, lenient }: HttpOptions): HttpOptions {
  return {
    ...(limits && { limits }),
    ...(report && { report }),
    ...(clock && { clock }),
    ...(mapError && { mapError }),
    ...(timeout !== undefined && { timeout }),
    ...(totalTimeout !== undefined && { totalTimeout }),
    ...(lenient !== undefined && { lenient }),
  };
}
