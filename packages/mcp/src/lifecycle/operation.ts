import type { Exchange, RemoteCall } from "../jsonrpc/call.js";
import type { Id, Params } from "../jsonrpc/message.js";
import type { JsonObject } from "../protocol/json.js";
import type { LoggingLevel } from "../protocol/logging.js";
import type { Revision } from "../revisions/revision.js";
import type { Input } from "./input.js";
import type { ClientDescription, Operation } from "./served.js";

/** How an operation asks; made when it does, because most never ask. */
export interface Asking {
  input(): Input | undefined;
  returned(): Operation["returned"];
}

/** An exchange that speaks a revision: notifications go out in its shape, and only those that it has. */
export class RevisedOperation implements Operation {
  readonly revision: Revision;
  readonly client: ClientDescription;
  readonly #exchange: Exchange;
  readonly #asking: Asking;
  readonly #logLevel: () => LoggingLevel | undefined;

  /** @param logLevel asked for every message: in the handshake era the client may change it during a call */
  constructor(
    exchange: Exchange,
    revision: Revision,
    client: ClientDescription,
    logLevel: () => LoggingLevel | undefined,
    asking: Asking,
  ) {
    this.#asking = asking;
    this.#exchange = exchange;
    this.revision = revision;
    this.client = client;
    this.#logLevel = logLevel;
  }

  get input(): Input | undefined {
    return this.#asking.input();
  }

  get returned(): Operation["returned"] {
    return this.#asking.returned();
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#logLevel();
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
    // A reshape of an object gives an object.
    this.#exchange.notify(method, this.revision.down("notification", method, params) as JsonObject | undefined);
  }

  drained(): Promise<void> {
    return this.#exchange.drained();
  }
}
