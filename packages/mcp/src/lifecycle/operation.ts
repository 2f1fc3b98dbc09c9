import { handled } from "../base/later.js";
import type { Exchange, RemoteCall } from "../jsonrpc/call.js";
import type { Id, Params } from "../jsonrpc/message.js";
import type { Reporter } from "../jsonrpc/report.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../protocol/logging.js";
import { requireMetaKeys } from "../protocol/meta-keys.js";
import { isProtocolNotification, notifications } from "../protocol/methods.js";
import type { Revision } from "../revisions/revision.js";
import { declaredCallback } from "./declared-callback.js";
import type { Input } from "./input.js";
import type { ClientDescription, OpenConversation, Operation } from "./served.js";

/** How an operation asks; made when it does, because most never ask. */
export interface Asking {
  input(): Input | undefined;
  returned(): Operation["returned"];
}

/** What holds for every operation of a conversation. */
export interface OperationTerms {
  readonly revision: Revision;
  readonly client: ClientDescription;
  readonly conversation?: OpenConversation | undefined;
  /** Asked for every message: in the handshake era the client may change it during a call. */
  logLevel(): LoggingLevel | undefined;
}

/** An exchange that speaks a revision: notifications go out in its shape, and only those that it has. */
export class RevisedOperation implements Operation {
  readonly #exchange: Exchange;
  readonly #terms: OperationTerms;
  readonly #asking: Asking;

  constructor(exchange: Exchange, terms: OperationTerms, asking: Asking) {
    this.#exchange = exchange;
    this.#terms = terms;
    this.#asking = asking;
  }

  get revision(): Revision {
    return this.#terms.revision;
  }

  get client(): ClientDescription {
    return this.#terms.client;
  }

  get conversation(): OpenConversation | undefined {
    return this.#terms.conversation;
  }

  get input(): Input | undefined {
    return this.#asking.input();
  }

  get returned(): Operation["returned"] {
    return this.#asking.returned();
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#terms.logLevel();
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get id(): Id | undefined {
    return this.#exchange.id;
  }

  get closing(): AbortSignal | undefined {
    return this.#exchange.closing;
  }

  get principal(): string | undefined {
    return this.#exchange.principal;
  }

  get peer(): string | undefined {
    return this.#exchange.peer;
  }

  get report(): Reporter | undefined {
    return this.#exchange.report;
  }

  /** The way back, where the revision lets a server send requests. */
  get callback(): RemoteCall | undefined {
    const { callback } = this.#exchange;
    if (callback === undefined || this.revision.era !== "handshake") return undefined;
    return declaredCallback(callback, { revision: this.revision, capabilities: this.client.capabilities });
  }

  notify(method: string, params?: Params): void {
    if (isProtocolNotification(method) && !this.revision.notifications.server.has(method)) return;
    if (method === notifications.message && !this.#wants(params)) return;
    requireMetaKeys(params, method);
    // A reshape of an object gives an object.
    this.#exchange.notify(method, this.revision.down("notification", method, params) as JsonObject | undefined);
  }

  /** The client decides which log messages it hears. */
  #wants(params: Params | undefined): boolean {
    const level = isObject(params) ? params.level : undefined;
    const { logLevel } = this;
    return (
      logLevel !== undefined && isLoggingLevel(level) && loggingLevels.indexOf(level) >= loggingLevels.indexOf(logLevel)
    );
  }

  drained(): Promise<void> {
    return handled(this.#exchange.drained());
  }

  release(retry: number): void {
    this.#exchange.release?.(retry);
  }
}
