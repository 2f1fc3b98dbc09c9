import type { ByteBudget } from "../../../base/byte-budget.js";
import { andThen, type MaybePromise } from "../../../base/maybe-promise.js";
import type { Connection } from "../../../jsonrpc/connection.js";
import { guarded } from "../../../jsonrpc/hooks.js";
import { mcpProfile, type Profile } from "../../../jsonrpc/profile.js";
import type { Reporter } from "../../../jsonrpc/report.js";
import { mcpHeaders } from "../../../protocol/http-headers.js";
import type { Revision } from "../../../protocol/revisions/revision.js";
import { serveChannel } from "../../../server/session/serve-channel.js";
import type { TransportOptions } from "../../../session/options.js";
import type { HttpCaller } from "../peers.js";
import type { Endpoint } from "../posted-calls.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { closingResponse, emptyResponse, overloadedResponse, refusal, withHeaders } from "../responses.js";
import { type EventStore, MemoryEventStore } from "../streams/event-store.js";
import { ReplayableStreams } from "../streams/replayable-stream.js";
import { foreignVersion, type HandshakeBinding, isForeignVersion, opens, type Posted } from "./handshake-binding.js";
import { SessionChannel } from "./session-channel.js";
import { type Expirable, type SessionLimits, SessionTable, sessionBytes } from "./session-table.js";

/** Settings of sessions. */
export interface SessionsConfig {
  /** The options for the connection of a session. */
  readonly transport: TransportOptions;
  readonly limits: SessionLimits;
  /** Undefined: streams cannot be resumed. */
  readonly store: EventStore | undefined;
}

/**
 * HTTP sessions: clients send the session id with each request.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export class Sessions implements HandshakeBinding {
  readonly methods: readonly string[] = ["GET", "DELETE"];
  readonly #endpoint: Endpoint;
  readonly #config: SessionsConfig;
  readonly #table: SessionTable<Session>;
  #isDraining = false;

  constructor(endpoint: Endpoint, config: SessionsConfig) {
    this.#endpoint = endpoint;
    this.#config = config;
    this.#table = new SessionTable(endpoint.settings.clock, config.limits);
  }

  profileOf(request: HttpRequest, caller: HttpCaller): Profile {
    const id = request.header(mcpHeaders.session);
    return (id === undefined ? undefined : this.#table.peek(id, caller)?.profile) ?? mcpProfile;
  }

  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    if (request.header(mcpHeaders.session) === undefined && opens(posted))
      return this.#open(request, frame, posted, caller);
    const session = this.#find(request, caller);
    if (!(session instanceof Session)) return session;
    session.identify(caller);
    return session.channel.post(request, frame, posted);
  }

  get(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpResponse> {
    const session = this.#find(request, caller);
    return session instanceof Session ? session.channel.get(request) : session;
  }

  delete(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpResponse> {
    const session = this.#find(request, caller);
    if (!(session instanceof Session)) return session;
    this.#table.end(session.id);
    return emptyResponse(204);
  }

  async drain(grace: number): Promise<void> {
    this.#isDraining = true;
    await Promise.all(Array.from(this.#table.sessions(), (session) => session.drain(grace)));
  }

  close(): void {
    this.#table.endAll();
  }

  /** The session of a request, or an error response. A session of another caller is reported like an unknown one. */
  #find(request: HttpRequest, caller: HttpCaller): Session | HttpResponse {
    const id = request.header(mcpHeaders.session);
    if (id === undefined) return refusal(400, "Mcp-Session-Id is missing: open a session with initialize");
    const session = this.#table.find(id, caller);
    if (session === undefined) return refusal(404, "there is no such session: open one with initialize");
    return isForeignVersion(request) ? foreignVersion() : session;
  }

  /** Opens a session. It is kept only if the version negotiation succeeds. */
  #open(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    if (this.#endpoint.closing.aborted) return closingResponse();
    const full = this.#table.makeRoom(caller);
    if (full !== undefined) return refusal(503, full, { "retry-after": "60" });
    const { budget } = caller;
    if (!budget.take(sessionBytes)) return overloadedResponse(budget.parentFits(sessionBytes));
    const session = new Session(this.#endpoint, this.#config, crypto.randomUUID(), caller);
    return andThen(session.channel.post(request, frame, posted), (answer) => {
      const mayAgree = session.isNegotiated || session.channel.isBusy; // Busy: a stream may start first.
      if (!mayAgree || this.#endpoint.closing.aborted) {
        session.end();
        return answer;
      }
      this.#table.add(session.id, caller, session);
      // The server may close the connection itself. While draining, the session stays, so that it can reject new calls
      // with a reason.
      void session.closed.then(() => this.#isDraining || this.#table.end(session.id));
      return withHeaders(answer, { [mcpHeaders.session]: session.id });
    });
  }
}

/** A session, with its connection and channel. */
class Session implements Expirable {
  readonly id: string;
  readonly channel: SessionChannel;
  isNegotiated = false;
  readonly #config: SessionsConfig;
  readonly #report: Reporter;
  readonly #connection: Connection;
  /** The budget of its owner, charged with the cost of an idle session. */
  readonly #budget: ByteBudget;
  #isOver = false;

  constructor(endpoint: Endpoint, config: SessionsConfig, id: string, { auth, peer, budget, events }: HttpCaller) {
    const { store, transport } = config;
    this.id = id;
    this.#config = config;
    this.#report = endpoint.settings.report;
    this.#budget = budget;
    if (store instanceof MemoryEventStore) store.charge(id, events);
    const streams = new ReplayableStreams(id, store, this.#report);
    const onNegotiated = (revision: Revision): void => {
      this.isNegotiated = true;
      streams.isPolled = revision.facts.httpPolling === true;
    };
    this.channel = new SessionChannel(endpoint, streams, budget);
    this.#connection = serveChannel(endpoint.server, this.channel, {
      ...transport,
      auth,
      peer,
      budget,
      onNegotiated,
    });
  }

  get profile(): Profile {
    return this.#connection.profile;
  }

  get closed(): Promise<unknown> {
    return this.#connection.closed;
  }

  /** The scopes of a caller may differ from message to message; its principal is that of the session. */
  identify({ auth }: HttpCaller): void {
    this.#connection.auth = auth;
  }

  get isBusy(): boolean {
    return this.channel.isBusy;
  }

  /** Running calls may finish; new ones are rejected, but input responses are still accepted. */
  drain(grace: number): Promise<void> {
    return this.#connection.drain(grace);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#budget.give(sessionBytes);
    void this.#connection.close();
    guarded("EventStore.forget", () => this.#config.store?.forget(this.id), this.#report);
  }
}
