import type { Clock } from "../base/clock.js";
import { isPromise } from "../base/later.js";
import type { Exchange, RemoteCall } from "../jsonrpc/call.js";
import { codes, invalidParams, RpcError } from "../jsonrpc/errors.js";
import type { ErrorObject, Params } from "../jsonrpc/message.js";
import type { InitializeResult } from "../protocol/initialize.js";
import type { JsonObject } from "../protocol/json.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../protocol/logging.js";
import { methods, notifications } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import { type Agreement, agreeOn, initializeResult, type Manners, requireAgreed, runAgreed } from "./agreement.js";
import { type Carrier, HandshakeChanges } from "./handshake-changes.js";
import { promisedBy } from "./promised.js";
import type { ClientDescription, OpenConversation, Served } from "./served.js";

/** What the conversation remembers once the server has agreed. */
const subscriptions: ReadonlySet<string> = new Set([methods.subscribe, methods.unsubscribe]);

/** Before a client says otherwise. */
const defaultLogLevel: LoggingLevel = "info";

/** A conversation as its operations see it. The signal of its end is made on first use: it costs more than all the rest. */
class CarriedConversation implements OpenConversation {
  readonly #carrier: Carrier;
  #controller: AbortController | undefined;
  #isOver = false;

  constructor(carrier: Carrier) {
    this.#carrier = carrier;
  }

  get clock(): Clock {
    return this.#carrier.clock;
  }

  get ended(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  get callback(): RemoteCall {
    return this.#carrier.callback;
  }

  close(): void {
    this.#carrier.close();
  }

  notify(method: string, params?: Params): void {
    this.#carrier.notify(method, params);
  }

  drained(): Promise<void> {
    return this.#carrier.drained();
  }

  failure(method: string, thrown: unknown): ErrorObject {
    return this.#carrier.failure(method, thrown);
  }

  end(): void {
    this.#isOver = true;
    this.#controller?.abort();
  }
}

/**
 * The server's side of a conversation that is opened by `initialize`: three steps (initialize, its answer,
 * `notifications/initialized`), and no operation before the second. Two deviations of real clients are served and reported:
 * - A request before the third step opens the operation as the notification would: over HTTP it may overtake it.
 * - A second `initialize` ends the conversation and opens another: gateways share one stdio server among their clients.
 *   Calls that run are answered under the terms that they came in; subscriptions and tasks end.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
export class HandshakeServer {
  readonly #manners: Manners;
  readonly #carrier: Carrier;
  readonly #first: Served;
  #conversation: CarriedConversation;
  #served: Served;
  #phase: "new" | "opening" | "answered" | "open" = "new";
  /** While `opening`: settles when `initialize` has its answer. Never rejects. */
  #opening: Promise<unknown> | undefined;
  #agreement: Agreement | undefined;
  #logLevel: LoggingLevel = defaultLogLevel;
  #changes: HandshakeChanges | undefined;

  constructor(served: Served, manners: Manners, carrier: Carrier) {
    this.#first = served;
    this.#served = served;
    this.#manners = manners;
    this.#carrier = carrier;
    this.#conversation = new CarriedConversation(carrier);
  }

  call(method: string, params: JsonObject, exchange: Exchange): unknown {
    if (method === methods.ping) return {};
    if (this.#opening !== undefined) return this.#opening.then(() => this.call(method, params, exchange));
    if (method === methods.initialize) return this.#initialize(params, exchange);
    const agreement = this.#requireOpen(method);
    requireAgreed(method, agreement);
    if (method === methods.setLevel) return this.#setLevel(agreement, params, exchange);
    const follow = subscriptions.has(method) ? (told: unknown) => this.#follow(method, params, told) : undefined;
    return runAgreed(this.#served, agreement, { method, params, exchange, follow });
  }

  notified(method: string, params: Params | undefined): void {
    if (this.#opening !== undefined) {
      void this.#opening.then(() => this.notified(method, params));
      return;
    }
    if (method === notifications.initialized && this.#phase === "answered" && this.#agreement !== undefined)
      this.#open(this.#agreement);
    if (this.#phase === "open") this.#served.hear?.(method, params);
  }

  #open(agreement: Agreement): void {
    this.#phase = "open";
    const { promised, terms } = agreement;
    this.#changes = new HandshakeChanges(this.#served.changes, promised, terms.revision, this.#carrier);
  }

  /** The carrier is gone. */
  close(): void {
    this.#changes?.stop();
    this.#conversation.end();
  }

  /** The server has agreed: from here on the conversation hears of the resource, or no more. */
  #follow(method: string, { uri }: JsonObject, result: unknown): unknown {
    if (method === methods.subscribe)
      this.#changes?.subscribe(uri as string); // The server has checked it.
    else this.#changes?.unsubscribe(uri as string);
    return result;
  }

  #initialize(params: JsonObject, { principal, peer }: Exchange): InitializeResult | Promise<InitializeResult> {
    const { revision, client } = agreeOn(params, this.#manners);
    if (this.#phase !== "new") this.#startOver();
    const met = this.#first.meet?.({ ...client, revision, principal, peer, conversation: this.#conversation });
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

  /** Another conversation on the same carrier; the calls of the former one keep their terms. */
  #startOver(): void {
    const reason = "the conversation was open already: the former one is over";
    this.#carrier.report({ kind: "tolerated", method: methods.initialize, reason });
    this.close();
    this.#conversation = new CarriedConversation(this.#carrier);
    this.#changes = undefined;
    this.#agreement = undefined;
    this.#logLevel = defaultLogLevel;
    this.#phase = "new";
  }

  #agree(served: Served, revision: Revision, client: ClientDescription): InitializeResult {
    this.#served = served;
    const { promised, unpromised } = promisedBy(served.capabilities());
    const terms = { revision, client, conversation: this.#conversation, logLevel: () => this.#logLevel };
    this.#agreement = { promised, unpromised, terms };
    this.#phase = "answered";
    this.#carrier.agreed(revision);
    return initializeResult(served, revision, promised);
  }

  #requireOpen(method: string): Agreement {
    if (this.#agreement !== undefined) {
      if (this.#phase === "answered") {
        const reason = `it came before ${notifications.initialized}, which a client sends first`;
        this.#carrier.report({ kind: "tolerated", method, reason });
        this.#open(this.#agreement);
      }
      return this.#agreement;
    }
    throw outOfOrder(
      `${method} came before initialize: open the conversation with it, or name a stateless revision in params._meta`,
    );
  }

  #setLevel(agreement: Agreement, params: JsonObject, exchange: Exchange): unknown {
    const { level } = params;
    if (!isLoggingLevel(level)) {
      throw invalidParams("Invalid params", [
        { path: "/level", message: `must be one of ${loggingLevels.join(", ")}` },
      ]);
    }
    this.#logLevel = level;
    return this.#served.knows(methods.setLevel)
      ? runAgreed(this.#served, agreement, { method: methods.setLevel, params, exchange })
      : {};
  }
}

function outOfOrder(reason: string): RpcError {
  return new RpcError(codes.invalidRequest, "Invalid Request", { reason });
}
