import { markHandled } from "../../base/maybe-promise.js";
import type { Exchange, RemoteCall } from "../../jsonrpc/call.js";
import type { Id, Params } from "../../jsonrpc/message.js";
import type { Reporter } from "../../jsonrpc/report.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { requireMetaKeys } from "../../protocol/meta-keys.js";
import { notifications } from "../../protocol/methods.js";
import { isProtocolNotification } from "../../protocol/revisions/all.js";
import type { Revision } from "../../protocol/revisions/revision.js";
import { isLoggingLevel, type LoggingLevel, loggingLevels } from "../../protocol/types/logging.js";
import { declaredCallback } from "../input/declared-callback.js";
import { callbackInput, type Input } from "../input/input.js";
import { ReplayInput, type Round } from "../input/replay.js";
import type { ClientDescription, Operation, ServedSession } from "../servable.js";

/** Settings of all operations of a session. */
export interface OperationSettings {
  readonly revision: Revision;
  readonly client: ClientDescription;
  readonly conversation?: ServedSession | undefined;
  /** Read for every message: in the handshake era the client may change it during a call. */
  logLevel(): LoggingLevel | undefined;
}

type Returned = Operation["returned"];

const nothingReturned: Returned = { answers: {}, state: undefined };

/**
 * An operation in its revision: sends only notifications that the revision has, in its shapes, and requests input by requests
 * (handshake era) or by ending the round (stateless era).
 */
export class OperationOfRevision implements Operation {
  readonly revision: Revision;
  readonly client: ClientDescription;
  readonly session: ServedSession | undefined;
  readonly method: string;
  readonly params: JsonObject;
  /** The input requests of this round; undefined if there are none, or in the handshake era. */
  replay: ReplayInput | undefined;
  readonly #exchange: Exchange;
  readonly #terms: OperationSettings;
  readonly #round: Round | undefined;
  readonly #returned: Returned;
  #input: Input | undefined;

  /**
   * @param round the round of the call, for methods whose result may request input
   * @param returned the responses to the requests that the handler returned, when it runs again
   */
  constructor(
    exchange: Exchange,
    terms: OperationSettings,
    method: string,
    params: JsonObject,
    round?: Round,
    returned: Returned = nothingReturned,
  ) {
    this.revision = terms.revision;
    this.client = terms.client;
    this.session = terms.conversation;
    this.method = method;
    this.params = params;
    this.#exchange = exchange;
    this.#terms = terms;
    this.#round = round;
    this.#returned = returned;
  }

  /** The same operation for another run of its handler. */
  again(returned: Returned): OperationOfRevision {
    const operation = new OperationOfRevision(
      this.#exchange,
      this.#terms,
      this.method,
      this.params,
      undefined,
      returned,
    );
    operation.#input = this.input; // It knows what `once` has run.
    return operation;
  }

  /** Created on first use: most operations request no input. */
  get input(): Input | undefined {
    const asked = { revision: this.revision, capabilities: this.client.capabilities };
    if (this.#round !== undefined) this.replay ??= new ReplayInput(this.#round, asked);
    else if (this.revision.era === "handshake") this.#input ??= callbackInput(this.#exchange, asked);
    return this.replay ?? this.#input;
  }

  get returned(): Returned {
    if (this.#round === undefined) return this.#returned;
    const asked = { revision: this.revision, capabilities: this.client.capabilities };
    this.replay ??= new ReplayInput(this.#round, asked);
    return { answers: this.replay.answers, state: this.#round.rounds.state };
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
    if (method === notifications.message && !this.#logs(params)) return;
    requireMetaKeys(params, method);
    this.#exchange.notify(method, this.revision.down("notification", method, params));
  }

  /** Whether the client requested log messages of this level. */
  #logs(params: Params | undefined): boolean {
    const level = isObject(params) ? params.level : undefined;
    const { logLevel } = this;
    return (
      logLevel !== undefined && isLoggingLevel(level) && loggingLevels.indexOf(level) >= loggingLevels.indexOf(logLevel)
    );
  }

  drained(): Promise<void> {
    return markHandled(this.#exchange.drained());
  }

  release(retry: number): void {
    this.#exchange.release?.(retry);
  }
}
