import type { ByteBudget } from "../../../base/byte-budget.js";
import { type Clock, setBackgroundTimer, type Timer } from "../../../base/clock.js";
import { andThen, type MaybePromise } from "../../../base/maybe-promise.js";
import type { Connection } from "../../../jsonrpc/connection.js";
import { guarded } from "../../../jsonrpc/hooks.js";
import { mcpProfile, type Profile } from "../../../jsonrpc/profile.js";
import { mcpHeaders } from "../../../protocol/http-headers.js";
import type { Revision } from "../../../protocol/revisions/revision.js";
import { openSessionConnection } from "../../../server/session/serve-channel.js";
import { ServerSession, type SessionHost } from "../../../server/session/server-session.js";
import { profileOf } from "../../../session/mcp-connection.js";
import type { TransportOptions } from "../../../session/options.js";
import type { HttpCaller } from "../peers.js";
import type { Endpoint } from "../posted-calls.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { closingResponse, emptyResponse, overloadedResponse, refusal, withHeaders } from "../responses.js";
import type { EventStore } from "../streams/event-store.js";
import { ReplayableStreams } from "../streams/replayable-stream.js";
import { foreignVersion, type HandshakeBinding, initializeIn, type Posted, revisionBy } from "./handshake-binding.js";
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
  readonly endpoint: Endpoint;
  readonly config: SessionsConfig;
  readonly #table: SessionTable<Session>;
  readonly awake: AwakeSessions;
  #isDraining = false;

  constructor(endpoint: Endpoint, config: SessionsConfig) {
    this.endpoint = endpoint;
    this.config = config;
    this.#table = new SessionTable(endpoint.settings.clock, config.limits);
    this.awake = new AwakeSessions(endpoint.settings.clock);
  }

  profileOf(request: HttpRequest, caller: HttpCaller): Profile {
    const id = request.header(mcpHeaders.session);
    return (id === undefined ? undefined : this.#table.peek(id, caller)?.profile) ?? mcpProfile;
  }

  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    if (request.header(mcpHeaders.session) === undefined && initializeIn(posted) !== undefined)
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
    return revisionBy(request) === undefined ? foreignVersion() : session;
  }

  /** The server may close a session itself. While draining, the session stays, so that it can reject new calls with a reason. */
  closed({ id }: Session): void {
    if (!this.#isDraining) this.#table.end(id);
  }

  /** Opens a session. It is kept only if the version negotiation succeeds. */
  #open(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    if (this.endpoint.closing.aborted) return closingResponse();
    const full = this.#table.makeRoom(caller);
    if (full !== undefined) return refusal(503, full, { "retry-after": "60" });
    const { budget } = caller;
    if (!budget.take(sessionBytes)) return overloadedResponse(budget.parentFits(sessionBytes));
    const session = new Session(this, crypto.randomUUID(), caller);
    return andThen(session.channel.post(request, frame, posted), (answer) => {
      const mayAgree = session.isNegotiated || session.channel.isBusy; // Busy: a stream may start first.
      if (!mayAgree || this.endpoint.closing.aborted) {
        session.end();
        return answer;
      }
      this.#table.add(session.id, caller, session);
      if (session.isClosed) this.closed(session);
      return withHeaders(answer, { [mcpHeaders.session]: session.id });
    });
  }
}

/** A session. At rest it has neither channel nor connection; both are made again for the next message. */
class Session implements Expirable, SessionHost {
  readonly id: string;
  readonly #sessions: Sessions;
  /** The caller that it belongs to, whose budget is charged with the cost of an idle session. */
  readonly #caller: HttpCaller;
  readonly #streams: ReplayableStreams;
  readonly #conversation: ServerSession;
  /** Whether it was used since this was last set to false. */
  isUsed = true;
  /** Whether its connection is closed, by either side. */
  isClosed = false;
  #channel: SessionChannel | undefined;
  #revision: Revision | undefined;
  #isOver = false;

  constructor(sessions: Sessions, id: string, caller: HttpCaller) {
    const { endpoint, config } = sessions;
    this.id = id;
    this.#sessions = sessions;
    this.#caller = caller;
    this.#streams = new ReplayableStreams(id, config.store, caller.events, endpoint.settings.report);
    this.#conversation = new ServerSession(endpoint.server, this);
  }

  get lenient(): boolean {
    return this.#sessions.config.transport.lenient === true;
  }

  get budget(): ByteBudget {
    return this.#caller.budget;
  }

  connect(session: ServerSession): Connection {
    const { endpoint, config, awake } = this.#sessions;
    const { auth, peer, budget } = this.#caller;
    this.#channel = new SessionChannel(endpoint, this.#streams, budget, () => {
      this.isClosed = true;
      this.#sessions.closed(this);
    });
    if (!this.#isOver) awake.add(this);
    return openSessionConnection(endpoint.server, session, this.#channel, { ...config.transport, auth, peer });
  }

  negotiated(revision: Revision): void {
    this.#revision = revision;
    this.#streams.isPolled = revision.facts.httpPolling === true;
  }

  get isNegotiated(): boolean {
    return this.#revision !== undefined;
  }

  get profile(): Profile {
    return this.#revision === undefined ? mcpProfile : profileOf(this.#revision);
  }

  get channel(): SessionChannel {
    this.isUsed = true;
    void this.#conversation.connection; // Made on a channel.
    return this.#channel as SessionChannel;
  }

  /** The scopes of a caller may differ from message to message; its principal is that of the session. */
  identify({ auth }: HttpCaller): void {
    this.#conversation.connection.auth = auth;
  }

  get isBusy(): boolean {
    return this.#channel?.isBusy === true;
  }

  /** Lets go of channel and connection, if nothing is under way. Returns whether it has none now. */
  rest(): boolean {
    if (this.#channel === undefined) return true;
    if (!this.#channel.isAtRest || !this.#conversation.rest()) return false;
    this.#channel = undefined;
    return true;
  }

  /** Running calls may finish; new ones are rejected, but input responses are still accepted. */
  async drain(grace: number): Promise<void> {
    if (this.#channel !== undefined) await this.#conversation.connection.drain(grace);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { endpoint, config, awake } = this.#sessions;
    awake.delete(this);
    this.#caller.budget.give(sessionBytes);
    this.#conversation.close();
    guarded("EventStore.forget", () => config.store?.forget(this.id), endpoint.settings.report);
  }
}

/** Milliseconds between two checks. A session that was not used since the last one rests. */
const restPeriod = 5_000;

/** The sessions with a connection, checked for those that may rest. */
class AwakeSessions {
  readonly #clock: Clock;
  readonly #sessions = new Set<Session>();
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(session: Session): void {
    this.#sessions.add(session);
    this.#timer ??= this.#watch();
  }

  delete(session: Session): void {
    this.#sessions.delete(session);
    if (this.#sessions.size > 0 || this.#timer === undefined) return;
    this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  #watch(): Timer {
    const check = (): void => {
      for (const session of this.#sessions) {
        if (!session.isUsed && session.rest()) this.#sessions.delete(session);
        session.isUsed = false;
      }
      this.#timer = this.#sessions.size === 0 ? undefined : this.#watch();
    };
    return setBackgroundTimer(this.#clock, check, restPeriod);
  }
}
