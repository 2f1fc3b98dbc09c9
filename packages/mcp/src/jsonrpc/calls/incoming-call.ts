import { markHandled } from "../../base/maybe-promise.js";
import type { Exchange, RemoteCall } from "../call.js";
import { LocalError } from "../errors.js";
import { type ErrorObject, type Id, idKey, type Params } from "../message.js";
import type { Outbound } from "../outbound.js";
import type { PeerSettings } from "../peer-settings.js";
import type { Reporter } from "../report.js";
import type { Caller } from "./caller.js";
import type { CallKey, InFlight } from "./in-flight.js";
import type { OutgoingCall } from "./outgoing-call.js";

/** The parts of a connection, which its halves and its calls share. */
export interface ConnectionParts {
  readonly terms: PeerSettings;
  readonly inFlight: InFlight<OutgoingCall, IncomingCall>;
  readonly out: Outbound;
  readonly caller: Caller;
  /** Who the channel has authenticated. */
  readonly principal: string | undefined;
  readonly peer: string | undefined;
}

/** Takes the answer of a call that came in a batch; undefined where there is none, because it was cancelled. */
export type SendResponse = (answer: string | undefined) => void;

/** A request or notification of the peer from its arrival to its answer, and the Exchange that its handler sees. */
export class IncomingCall implements Exchange {
  readonly id: Id | undefined;
  /** What it is found by while it is in flight; a notification has a key of its own. */
  readonly key: CallKey;
  readonly method: string;
  readonly params: Params | undefined;
  /** Undefined for a call whose answer is a frame of its own. */
  readonly reply: SendResponse | undefined;
  readonly principal: string | undefined;
  readonly peer: string | undefined;
  readonly report: Reporter;
  /** What the budget of the peer is charged for it, until its handler has come to its end. */
  bytes = 0;
  /** It stays open until somebody ends it, and takes no place of those that run. */
  isLongLived = false;
  /** True once it is answered or cancelled: nothing of it goes out any more. */
  over = false;
  readonly #parts: ConnectionParts;
  #controller: AbortController | undefined;
  #closing: AbortController | undefined;
  #isClosing = false;
  #cancelled: LocalError | undefined;

  constructor(
    parts: ConnectionParts,
    id: Id | undefined,
    method: string,
    params: Params | undefined,
    reply: SendResponse | undefined,
  ) {
    this.#parts = parts;
    this.principal = parts.principal;
    this.peer = parts.peer;
    this.report = parts.terms.report;
    this.id = id;
    this.key = typeof id === "number" ? id : id === undefined ? Symbol(method) : idKey(id);
    this.method = method;
    this.params = params;
    this.reply = reply;
  }

  /** Made on first use: most handlers never look, and a controller costs more than a short call. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled);
    }
    return this.#controller.signal;
  }

  get closing(): AbortSignal {
    if (this.#closing === undefined) {
      this.#closing = new AbortController();
      if (this.#isClosing) this.#closing.abort();
    }
    return this.#closing.signal;
  }

  failed(_error: ErrorObject, thrown: unknown): void {
    if (!this.over && this.id !== undefined) this.#parts.out.failedBy(this.id, thrown);
  }

  /** What is asked for the sake of a request goes where its answer will go. */
  get callback(): RemoteCall {
    const { caller, out } = this.#parts;
    const write = (frame: string): void => out.write(frame, this.id);
    return (method, params, options = {}) => markHandled(caller.call(method, params, options, write));
  }

  notify(method: string, params?: Params): void {
    if (!this.over) this.#parts.out.notifyRelated(method, params, this.id);
  }

  drained(): Promise<void> {
    return markHandled(this.#parts.out.drained(this.id));
  }

  release(retry: number): void {
    if (!this.over && this.id !== undefined) this.#parts.out.release(this.id, retry);
  }

  /** The connection takes nothing new, and waits for this call. */
  close(): void {
    this.#isClosing = true;
    this.#closing?.abort();
  }

  cancel(reason: string): void {
    this.over = true;
    this.#cancelled = new LocalError("cancelled", reason);
    this.#controller?.abort(this.#cancelled);
  }
}
