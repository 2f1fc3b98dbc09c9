import type { ByteBudget } from "../../base/byte-budget.js";
import type { Clock } from "../../base/clock.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { andThen, isPromise, markHandled } from "../../base/maybe-promise.js";
import type { Authentication, Exchange, RemoteCall } from "../../jsonrpc/call.js";
import { toErrorObject } from "../../jsonrpc/calls/responder.js";
import type { Connection } from "../../jsonrpc/connection.js";
import { codes, faultyParams, methodNotFound, RpcError } from "../../jsonrpc/errors.js";
import { guarded } from "../../jsonrpc/hooks.js";
import type { ErrorObject, Params } from "../../jsonrpc/message.js";
import { faultOf, type Reporter } from "../../jsonrpc/report.js";
import { namesRevision } from "../../protocol/meta.js";
import { methods, notifications } from "../../protocol/methods.js";
import { latest, latestHandshake } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { InitializeResult } from "../../protocol/types/initialize.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../../protocol/types/logging.js";
import { nameOf, profileOf } from "../../session/mcp-connection.js";
import type { ClientDescription, Servable, ServedSession } from "../servable.js";
import { ChangeNotifier } from "./change-notifier.js";
import {
  initializeResult,
  type NegotiatedSession,
  negotiate,
  offerOf,
  requireShortToken,
} from "./negotiated-session.js";
import { OperationOfRevision, runOperation } from "./operation.js";
import { readStateless } from "./stateless-server.js";

const statelessOnly: ReadonlySet<string> = new Set(
  [...latest.requests.client].filter((method) => !latestHandshake.requests.client.has(method)),
);

/** A method that exists only in requests with a `_meta` that names their revision. */
export function isStatelessOnly(method: string): boolean {
  return statelessOnly.has(method);
}

/** The session of one `initialize` on a connection. The signal of its end is created on first use, because it is expensive. */
class HandshakeConversation implements ServedSession {
  readonly #session: ServerSession;
  #controller: AbortController | undefined;
  #isOver = false;

  constructor(session: ServerSession) {
    this.#session = session;
  }

  get #connection(): Connection {
    return this.#session.connection;
  }

  get clock(): Clock {
    return this.#connection.settings.clock;
  }

  get ended(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  /** A handler need not await the answer. */
  get callback(): RemoteCall {
    return (method, params, how) => markHandled(this.#connection.call(method, params, how));
  }

  notify(method: string, params?: Params): void {
    if (this.#isOver) return;
    try {
      this.#connection.notify(method, params);
    } catch (error) {
      this.#connection.settings.report(faultOf(method, error));
    }
  }

  drained(): Promise<void> {
    return this.#connection.drained();
  }

  failure(method: string, thrown: unknown, params?: Params): ErrorObject {
    const { mapError, report } = this.#connection.settings;
    return toErrorObject(thrown, mapError, (error) => report(faultOf(method, error, nameOf(method, params))));
  }

  close(): void {
    this.#session.close();
  }

  end(): void {
    this.#isOver = true;
    this.#controller?.abort();
  }
}

/** The transport of a session, as the session sees it. */
export interface SessionHost {
  /** Take the version aliases of tutorials for what they stand for. */
  readonly lenient: boolean;
  /** Is charged for what is kept for the client beside its calls. */
  readonly budget: ByteBudget;
  /** Makes a connection, which hands calls and notifications of the client to the session. */
  connect(session: ServerSession): Connection;
  /** Called with the revision before `initialize` is answered. */
  negotiated(revision: Revision): void;
}

/**
 * The server's side of one session. A request that names a revision in `_meta` is answered by itself; any other belongs to the
 * conversation that `initialize` opens in three steps (initialize, its answer, `notifications/initialized`), and no operation may
 * come before the second. Two deviations of real clients are served and reported:
 * - A request before the third step opens the operation as the notification would: over HTTP it may overtake it.
 * - A second `initialize` ends the conversation and opens another: gateways share one stdio server among their clients.
 *   Running calls keep the terms that they came in under; subscriptions and tasks end.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
export class ServerSession {
  readonly #first: Servable;
  readonly #host: SessionHost;
  /** Undefined while the session rests. */
  #connection: Connection | undefined;
  /** The id of the latest request to the client. */
  #lastId = 0;
  #isOver = false;
  #handshake: HandshakeConversation;
  #served: Servable;
  #phase: "new" | "answered" | "open" = "new";
  /** While the server prepares its answer to `initialize`: settles when it has one. Never rejects. */
  #opening: Promise<unknown> | undefined;
  #agreement: NegotiatedSession | undefined;
  #changes: ChangeNotifier | undefined;
  /** The caller of the latest request: over HTTP each request of a session has its own token, and scopes. */
  #auth: Authentication;

  constructor(served: Servable, host: SessionHost) {
    this.#first = served;
    this.#served = served;
    this.#host = host;
    this.#handshake = new HandshakeConversation(this);
  }

  /** The budget of the client. */
  get budget(): ByteBudget {
    return this.#host.budget;
  }

  /** The caller of the latest request. */
  get auth(): Authentication {
    return this.#auth;
  }

  /** Takes what goes wrong. */
  get report(): Reporter {
    return this.connection.settings.report;
  }

  /** The connection; made if there is none. */
  get connection(): Connection {
    this.#connection ??= this.#open();
    return this.#connection;
  }

  /**
   * Lets go of the connection, if nothing is under way on it: the session goes on with a new one when something is to be sent or
   * received, and takes a fifth of the memory until then. Returns whether it has no connection now.
   */
  rest(): boolean {
    if (this.#phase !== "open" || this.#changes?.isPending === true) return false;
    const lastId = this.#connection?.rest();
    if (lastId === undefined) return false;
    this.#lastId = lastId;
    this.#connection = undefined;
    return true;
  }

  /** Ends the session, and its connection. */
  close(): void {
    void this.connection.close();
  }

  #open(): Connection {
    const connection = this.#host.connect(this);
    connection.continueAfter(this.#lastId);
    if (this.#agreement !== undefined) connection.profile = profileOf(this.#agreement.revision);
    void connection.closed.then(() => this.#end());
    if (this.#isOver) void connection.close(); // What is sent on it fails as on any closed connection.
    return connection;
  }

  call(method: string, given: Params | undefined, exchange: Exchange): unknown {
    const sent = isObject(given) ? given : {};
    if ((sent._meta !== undefined && namesRevision(sent)) || statelessOnly.has(method))
      return this.#callStateless(method, sent, exchange);
    this.#auth = exchange.auth;
    if (method === methods.ping) return {};
    if (this.#opening !== undefined) return this.#opening.then(() => this.call(method, sent, exchange));
    if (method === methods.initialize) return this.#initialize(sent, exchange);
    const agreement = this.#phase === "open" && this.#agreement ? this.#agreement : this.#requireOpen(method);
    if (agreement.offer.refused.has(method)) throw methodNotFound(method);
    const params = agreement.revision.up("params", method, sent);
    if (params._meta !== undefined) requireShortToken(params);
    if (method === methods.setLevel) agreement.logLevel = levelOf(params);
    if (method === methods.setLevel && !this.#served.hasMethod(method)) return {};
    const answer = runOperation(this.#served, new OperationOfRevision(exchange, agreement, method, params));
    const isSubscription = method === methods.subscribe || method === methods.unsubscribe;
    return isSubscription ? andThen(answer, (given) => this.#follow(method, params, given)) : answer;
  }

  notified(method: string, params: Params | undefined): void {
    if (this.#opening !== undefined) {
      void this.#opening.then(() => this.notified(method, params));
      return;
    }
    const agreement = this.#agreement;
    if (agreement === undefined) return;
    if (method === notifications.initialized && this.#phase === "answered") this.#begin(agreement);
    if (this.#phase === "open")
      this.#served.onNotification?.(method, agreement.revision.up("notification", method, params));
  }

  /**
   * On a duplex channel the server ends a subscription in both ways that the specification names. It sends nothing for one that the
   * client has ended.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/cancellation
   */
  #callStateless(method: string, params: JsonObject, exchange: Exchange): unknown {
    const result = readStateless(this.#first, method, params).call(method, params, exchange);
    if (method !== methods.listen) return result;
    return andThen(result, (ended) => {
      exchange.notify(notifications.cancelled, { requestId: exchange.id, reason: "the server ends the subscription" });
      return ended;
    });
  }

  #initialize(params: JsonObject, { principal, peer }: Exchange): InitializeResult | Promise<InitializeResult> {
    const { revision, client } = negotiate(params, this.#host.lenient);
    if (this.#phase !== "new") this.#startOver();
    const met = this.#first.serverFor?.({ ...client, revision, principal, peer, session: this.#handshake });
    if (!isPromise(met)) return this.#agree(met ?? this.#first, revision, client);
    const answer = Promise.resolve(met).then((served) => this.#agree(served, revision, client));
    const opened = (): void => {
      this.#opening = undefined;
    };
    this.#opening = answer.then(opened, opened);
    return answer;
  }

  #agree(served: Servable, revision: Revision, client: ClientDescription): InitializeResult {
    this.#served = served;
    const offer = offerOf(served.capabilities(), revision);
    this.#agreement = { offer, revision, client, session: this.#handshake, logLevel: "info" };
    this.#phase = "answered";
    this.connection.profile = profileOf(revision);
    guarded("onNegotiated", () => this.#host.negotiated(revision), this.connection.settings.report);
    return initializeResult(served, revision, offer.capabilities);
  }

  #requireOpen(method: string): NegotiatedSession {
    if (this.#agreement === undefined) {
      const reason = `${method} came before initialize: open the conversation with it, or name a stateless revision in params._meta`;
      throw new RpcError(codes.invalidRequest, "Invalid Request", { reason });
    }
    const reason = `it came before ${notifications.initialized}, which a client sends first`;
    this.connection.settings.report({ kind: "tolerated", method, reason });
    this.#begin(this.#agreement);
    return this.#agreement;
  }

  #begin(agreement: NegotiatedSession): void {
    this.#phase = "open";
    this.#changes = new ChangeNotifier(this.#served.changes, agreement, this);
  }

  /** Another conversation on the same connection; the calls of the former one keep their terms. */
  #startOver(): void {
    const reason = "the conversation was open already: the former one is over";
    this.connection.settings.report({ kind: "tolerated", method: methods.initialize, reason });
    this.#leave();
    this.#handshake = new HandshakeConversation(this);
    this.#changes = undefined;
    this.#agreement = undefined;
    this.#phase = "new";
  }

  /** The server has agreed, and has checked the URI: from here on the client is notified of the resource, or no longer. */
  #follow(method: string, { uri }: JsonObject, answer: unknown): unknown {
    if (method === methods.subscribe) this.#changes?.subscribe(uri as string);
    else this.#changes?.unsubscribe(uri as string);
    return answer;
  }

  #end(): void {
    this.#isOver = true;
    this.#leave();
  }

  #leave(): void {
    this.#changes?.stop();
    this.#handshake.end();
  }
}

function levelOf({ level }: JsonObject): LoggingLevel {
  if (isLoggingLevel(level)) return level;
  throw faultyParams({ path: "/level", message: `must be one of ${loggingLevels.join(", ")}` });
}
