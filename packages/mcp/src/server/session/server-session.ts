import type { ByteBudget } from "../../base/byte-budget.js";
import type { Clock } from "../../base/clock.js";
import { andThen, isPromise, markHandled } from "../../base/maybe-promise.js";
import type { Authentication, Call, Exchange, RemoteCall } from "../../jsonrpc/call.js";
import { toErrorObject } from "../../jsonrpc/calls/responder.js";
import type { Connection } from "../../jsonrpc/connection.js";
import { codes, invalidParams, methodNotFound, type ParamsFault, RpcError } from "../../jsonrpc/errors.js";
import { guarded } from "../../jsonrpc/hooks.js";
import type { ErrorObject, Params } from "../../jsonrpc/message.js";
import { faultOf } from "../../jsonrpc/report.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { namesRevision, readRequestMeta } from "../../protocol/meta.js";
import { methods, notifications } from "../../protocol/methods.js";
import { latest, latestHandshake } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import type { InitializeResult } from "../../protocol/types/initialize.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../../protocol/types/logging.js";
import { nameOf, profileOf } from "../../session/mcp-connection.js";
import type { ClientDescription, Servable, ServedSession } from "../servable.js";
import { ChangeNotifier } from "./change-notifier.js";
import {
  agreementOf,
  initializeResult,
  type NegotiatedSession,
  negotiate,
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
  readonly #connection: Connection;
  #controller: AbortController | undefined;
  #isOver = false;

  constructor(connection: Connection) {
    this.#connection = connection;
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
  readonly callback: RemoteCall = (method, params, how) => markHandled(this.#connection.call(method, params, how));

  notify(method: string, params?: Params): void {
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
    void this.#connection.close();
  }

  end(): void {
    this.#isOver = true;
    this.#controller?.abort();
  }
}

/** How a server takes part in a conversation. */
export interface ConversationTerms {
  /** Take the version aliases of tutorials for what they stand for. */
  readonly lenient: boolean;
  /** Is charged for what is kept for the client beside its calls. */
  readonly budget: ByteBudget;
  /** Called with the revision before `initialize` is answered. */
  readonly onNegotiated: ((revision: Revision) => void) | undefined;
}

/** Before a client sets another. */
const defaultLogLevel: LoggingLevel = "info";

/**
 * The server's side of one connection. A request that names a revision in `_meta` is answered by itself; any other belongs to the
 * conversation that `initialize` opens in three steps (initialize, its answer, `notifications/initialized`), and no operation may
 * come before the second. Two deviations of real clients are served and reported:
 * - A request before the third step opens the operation as the notification would: over HTTP it may overtake it.
 * - A second `initialize` ends the conversation and opens another: gateways share one stdio server among their clients.
 *   Running calls keep the terms that they came in under; subscriptions and tasks end.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
export class ServerSession {
  readonly #first: Servable;
  readonly #terms: ConversationTerms;
  readonly connection: Connection;
  #handshake: HandshakeConversation;
  #served: Servable;
  #phase: "new" | "opening" | "answered" | "open" = "new";
  /** While `opening`: settles when `initialize` has its answer. Never rejects. */
  #opening: Promise<unknown> | undefined;
  #agreement: NegotiatedSession | undefined;
  #logLevel: LoggingLevel = defaultLogLevel;
  #changes: ChangeNotifier | undefined;
  /** The caller of the latest request: over HTTP each request of a session has its own token, and scopes. */
  #auth: Authentication;

  /** @param connect makes the connection, which hands calls and notifications of the client to this conversation */
  constructor(served: Servable, terms: ConversationTerms, connect: (conversation: ServerSession) => Connection) {
    this.#first = served;
    this.#served = served;
    this.#terms = terms;
    this.connection = connect(this);
    this.#handshake = new HandshakeConversation(this.connection);
    void this.connection.closed.then(() => this.#end());
  }

  readonly call: Call = (method, given, exchange) => {
    const sent = isObject(given) ? given : {};
    if (sent._meta !== undefined && namesRevision(sent)) return this.#callStateless(method, sent, exchange);
    if (statelessOnly.has(method)) throw invalidParams("Invalid params", missingMeta(sent));
    this.#auth = exchange.auth;
    if (method === methods.ping) return {};
    if (this.#opening !== undefined) return this.#opening.then(() => this.call(method, sent, exchange));
    if (method === methods.initialize) return this.#initialize(sent, exchange);
    const agreement = this.#phase === "open" && this.#agreement ? this.#agreement : this.#requireOpen(method);
    if (agreement.refused.has(method)) throw methodNotFound(method);
    const params = agreement.terms.revision.up("params", method, sent);
    if (params._meta !== undefined) requireShortToken(params);
    if (method === methods.setLevel) this.#setLevel(params);
    if (method === methods.setLevel && !this.#served.hasMethod(method)) return {};
    const answer = runOperation(this.#served, new OperationOfRevision(exchange, agreement.terms, method, params));
    const isSubscription = method === methods.subscribe || method === methods.unsubscribe;
    return isSubscription ? andThen(answer, (given) => this.#follow(method, params, given)) : answer;
  };

  readonly notified = (method: string, params: Params | undefined): void => {
    if (this.#opening !== undefined) {
      void this.#opening.then(() => this.notified(method, params));
      return;
    }
    if (method === notifications.initialized && this.#phase === "answered" && this.#agreement !== undefined)
      this.#open(this.#agreement);
    if (this.#phase === "open") {
      const { revision } = this.#agreement?.terms ?? {};
      this.#served.onNotification?.(
        method,
        revision === undefined ? params : revision.up("notification", method, params),
      );
    }
  };

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
    const { revision, client } = negotiate(params, this.#terms.lenient);
    if (this.#phase !== "new") this.#startOver();
    const met = this.#first.serverFor?.({ ...client, revision, principal, peer, session: this.#handshake });
    if (!isPromise(met)) return this.#agree(met ?? this.#first, revision, client);
    this.#phase = "opening";
    const answer = Promise.resolve(met).then(
      (served) => this.#agree(served, revision, client),
      (error: unknown) => {
        this.#phase = "new";
        throw error;
      },
    );
    const opened = (): void => {
      this.#opening = undefined;
    };
    this.#opening = answer.then(opened, opened);
    return answer;
  }

  #agree(served: Servable, revision: Revision, client: ClientDescription): InitializeResult {
    this.#served = served;
    const capabilities = served.capabilities();
    const settings = { revision, client, session: this.#handshake, logLevel: () => this.#logLevel };
    this.#agreement = agreementOf(capabilities, settings);
    this.#phase = "answered";
    this.connection.profile = profileOf(revision);
    guarded("onNegotiated", () => this.#terms.onNegotiated?.(revision), this.connection.settings.report);
    return initializeResult(served, revision, capabilities);
  }

  #requireOpen(method: string): NegotiatedSession {
    if (this.#agreement === undefined) {
      const reason = `${method} came before initialize: open the conversation with it, or name a stateless revision in params._meta`;
      throw new RpcError(codes.invalidRequest, "Invalid Request", { reason });
    }
    const reason = `it came before ${notifications.initialized}, which a client sends first`;
    this.connection.settings.report({ kind: "tolerated", method, reason });
    this.#open(this.#agreement);
    return this.#agreement;
  }

  #open(agreement: NegotiatedSession): void {
    this.#phase = "open";
    const { report } = this.connection.settings;
    const subscriber = { budget: this.#terms.budget, auth: () => this.#auth, report };
    this.#changes = new ChangeNotifier(this.#served.changes, agreement, this.#handshake, subscriber);
  }

  /** Another conversation on the same connection; the calls of the former one keep their terms. */
  #startOver(): void {
    const reason = "the conversation was open already: the former one is over";
    this.connection.settings.report({ kind: "tolerated", method: methods.initialize, reason });
    this.#end();
    this.#handshake = new HandshakeConversation(this.connection);
    this.#changes = undefined;
    this.#agreement = undefined;
    this.#logLevel = defaultLogLevel;
    this.#phase = "new";
  }

  #setLevel({ level }: JsonObject): void {
    if (!isLoggingLevel(level)) {
      const message = `must be one of ${loggingLevels.join(", ")}`;
      throw invalidParams("Invalid params", [{ path: "/level", message }]);
    }
    this.#logLevel = level;
  }

  /** The server has agreed, and has checked the URI: from here on the client is notified of the resource, or no longer. */
  #follow(method: string, { uri }: JsonObject, answer: unknown): unknown {
    if (method === methods.subscribe) this.#changes?.subscribe(uri as string);
    else this.#changes?.unsubscribe(uri as string);
    return answer;
  }

  #end(): void {
    this.#changes?.stop();
    this.#handshake.end();
  }
}

function missingMeta(params: Params): readonly ParamsFault[] {
  const reading = readRequestMeta(params);
  return "faults" in reading ? reading.faults : [];
}
