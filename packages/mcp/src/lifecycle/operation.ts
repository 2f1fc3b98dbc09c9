import type { Exchange, RemoteCall } from "../jsonrpc/call.js";
import type { Id, Params } from "../jsonrpc/message.js";
import type { JsonObject } from "../protocol/json.js";
import type { LoggingLevel } from "../protocol/logging.js";
import { requireMetaKeys } from "../protocol/meta-keys.js";
import type { Revision } from "../revisions/revision.js";
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

  /** The way back, where the revision lets a server send requests. */
  get callback(): RemoteCall | undefined {
    return this.revision.era === "handshake" ? this.#exchange.callback : undefined;
  }

  notify(method: string, params?: Params): void {
    if (!this.revision.notifications.server.has(method)) return;
    requireMetaKeys(params, method);
    // A reshape of an object gives an object.
    this.#exchange.notify(method, this.revision.down("notification", method, params) as JsonObject | undefined);
  }

  drained(): Promise<void> {
    return this.#exchange.drained();
  }
}
