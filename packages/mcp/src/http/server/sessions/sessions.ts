import type { ByteBudget } from "../../../base/byte-budget.js";
import { andThen, type MaybePromise } from "../../../base/maybe-promise.js";
import { membersOf } from "../../../jsonrpc/codec/scan.js";
import type { Connection } from "../../../jsonrpc/connection.js";
import { guarded } from "../../../jsonrpc/hooks.js";
import { mcpProfile, type Profile } from "../../../jsonrpc/profile.js";
import type { Reporter } from "../../../jsonrpc/report.js";
import { mcpHeaders } from "../../../protocol/http-headers.js";
import type { Revision } from "../../../protocol/revisions/revision.js";
import { serveChannel } from "../../../server/session/serve-channel.js";
import type { TransportOptions } from "../../../session/options.js";
import type { HandlerState } from "../handler-state.js";
import type { HttpCaller } from "../peers.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { closingResponse, emptyResponse, overloadedResponse, refusal, withHeaders } from "../responses.js";
import { type EventStore, MemoryEventStore } from "../streams/event-store.js";
import { foreignVersion, type HandshakeBinding, isForeignVersion, opens, type Posted } from "./handshake-binding.js";
import { SessionChannel, type SessionChannelHost } from "./session-channel.js";
import { type Expirable, type SessionLimits, SessionTable, sessionBytes } from "./session-table.js";

export interface SessionsHost extends HandlerState {
  readonly transport: TransportOptions;
  readonly limits: SessionLimits;
  readonly store: EventStore | undefined;
}

/**
 * HTTP sessions: clients send the session id with each request.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export class Sessions implements HandshakeBinding {
  readonly methods: readonly string[] = ["GET", "DELETE"];
  readonly #host: SessionsHost;
  readonly #table: SessionTable<Session>;
  #isDraining = false;

  constructor(host: SessionsHost) {
    this.#host = host;
    this.#table = new SessionTable(host.terms.clock, host.limits);
  }

  profileOf(request: HttpRequest, caller: HttpCaller): Profile {
    const id = request.header(mcpHeaders.session);
    return (id === undefined ? undefined : this.#table.find(id, caller)?.profile) ?? mcpProfile;
  }

  post(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    const id = request.header(mcpHeaders.session);
    if (id === undefined && opens(posted)) return this.#open(request, frame, posted, caller);
    return this.#inSession(request, caller, (session) => session.channel.post(request, frame, posted));
  }

  get(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpResponse> {
    return this.#inSession(request, caller, (session) => session.channel.get(request));
  }

  delete(request: HttpRequest, caller: HttpCaller): MaybePromise<HttpResponse> {
    return this.#inSession(request, caller, ({ session }) => {
      this.#table.end(session);
      return emptyResponse(204);
    });
  }

  async drain(grace: number): Promise<void> {
    this.#isDraining = true;
    await Promise.all(Array.from(this.#table.sessions(), (session) => session.drain(grace)));
  }

  close(): void {
    this.#table.endAll();
  }

  /** A session of another caller is reported like an unknown one. */
  #inSession(
    request: HttpRequest,
    caller: HttpCaller,
    use: (session: Session) => MaybePromise<HttpResponse>,
  ): MaybePromise<HttpResponse> {
    const id = request.header(mcpHeaders.session);
    if (id === undefined) return refusal(400, "Mcp-Session-Id is missing: open a session with initialize");
    const session = this.#table.find(id, caller);
    if (session === undefined) return refusal(404, "there is no such session: open one with initialize");
    return isForeignVersion(request) ? foreignVersion() : use(session);
  }

  /** Opens a session. It is kept only if the version negotiation succeeds. */
  #open(request: HttpRequest, frame: string, posted: Posted, caller: HttpCaller): MaybePromise<HttpResponse> {
    if (this.#host.closing.aborted) return closingResponse();
    const full = this.#table.makeRoom(caller);
    if (full !== undefined) return refusal(503, full, { "retry-after": "60" });
    const { budget } = caller;
    if (!budget.take(sessionBytes)) return overloadedResponse(budget.parentFits(sessionBytes));
    const session = new Session(this.#host, crypto.randomUUID(), caller);
    return andThen(session.channel.post(request, frame, posted), (answer) => {
      const mayAgree = session.revision !== undefined || session.channel.isBusy; // Busy: a stream may start first.
      if (!mayAgree || this.#host.closing.aborted) {
        session.end();
        return answer;
      }
      this.#table.add(session.session, caller, session);
      // The server may close the connection itself. While draining, the session stays, so that it can reject new calls
      // with a reason.
      void session.closed.then(() => this.#isDraining || this.#table.end(session.session));
      return withHeaders(answer, { [mcpHeaders.session]: session.session });
    });
  }
}

/** A session, with its connection and channel. */
class Session implements Expirable, SessionChannelHost {
  readonly session: string;
  readonly channel: SessionChannel;
  /** Undefined before the version is negotiated. */
  revision: Revision | undefined;
  readonly #host: SessionsHost;
  readonly #connection: Connection;
  /** The budget of its owner, charged with the cost of an idle session. */
  readonly budget: ByteBudget;
  #isOver = false;

  constructor(host: SessionsHost, id: string, { principal, peer, budget, events }: HttpCaller) {
    this.#host = host;
    this.session = id;
    this.budget = budget;
    if (host.store instanceof MemoryEventStore) host.store.charge(id, events);
    this.channel = new SessionChannel(this);
    this.#connection = serveChannel(host.served, this.channel, {
      ...host.transport,
      principal,
      peer,
      budget,
      onNegotiated: (revision) => {
        this.revision = revision;
      },
    });
  }

  get profile(): Profile {
    return this.#connection.profile;
  }

  get closed(): Promise<unknown> {
    return this.#connection.closed;
  }

  get store(): EventStore | undefined {
    return this.#host.store;
  }

  get streams(): SessionsHost["streams"] {
    return this.#host.streams;
  }

  get pulse(): SessionsHost["pulse"] {
    return this.#host.pulse;
  }

  get report(): Reporter {
    return this.#host.terms.report;
  }

  get isPolled(): boolean {
    return this.revision?.facts.httpPolling === true;
  }

  get isBusy(): boolean {
    return this.channel.isBusy;
  }

  dropped(frame: string): void {
    const method = membersOf(frame).get("method") ?? "an answer";
    const error = new Error(
      `${method} was dropped: too many messages are queued for a client that does not read the stream of its session`,
    );
    this.#host.terms.report({ kind: "fault", method: "HTTP GET", error });
  }

  /** Running calls may finish; new ones are rejected, but input responses are still accepted. */
  drain(grace: number): Promise<void> {
    return this.#connection.drain(grace);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.budget.give(sessionBytes);
    void this.#connection.close();
    guarded("EventStore.forget", () => this.#host.store?.forget(this.session), this.report);
  }
}
