import { handled } from "../base/later.js";
import type { Exchange, RemoteCall } from "./call.js";
import { LocalError } from "./errors.js";
import { type ErrorObject, type Id, idKey, type Params } from "./message.js";
import type { CallOptions } from "./outgoing-call.js";
import type { Reporter } from "./report.js";

/** What a running call of the peer needs from its connection. */
export interface IncomingHost {
  call(
    method: string,
    params: Params | undefined,
    options: CallOptions | undefined,
    relatedTo: Id | undefined,
  ): Promise<unknown>;
  readonly principal: string | undefined;
  readonly peer: string | undefined;
  readonly report: Reporter;
  /** The request is answered with an error that stands for `thrown`. */
  failed(request: Id, thrown: unknown): void;
  tell(method: string, params: Params | undefined, relatedTo: Id | undefined): void;
  drained(relatedTo: Id | undefined): Promise<void>;
  release(request: Id, retry: number): void;
}

/** Where the answer of a call goes; undefined where there is none, because it is a notification or was cancelled. */
export type Reply = (answer: string | undefined) => void;

export type CallKey = string | number | null | symbol;

/** A request or notification of the peer from its arrival to its answer, and the Exchange that its handler sees. */
export class IncomingCall implements Exchange {
  readonly id: Id | undefined;
  /** What it is found by while it is in flight; a notification has a key of its own. */
  readonly key: CallKey;
  readonly method: string;
  readonly params: Params | undefined;
  readonly reply: Reply;
  /** What the budget of the peer is charged for it, until its handler has come to its end. */
  bytes = 0;
  /** It stays open until somebody ends it, and takes no place of those that run. */
  isLasting = false;
  readonly #host: IncomingHost;
  #controller: AbortController | undefined;
  #closing: AbortController | undefined;
  #isClosing = false;
  #cancelled: LocalError | undefined;
  #over = false;

  constructor(host: IncomingHost, id: Id | undefined, method: string, params: Params | undefined, reply: Reply) {
    this.#host = host;
    this.id = id;
    this.key = id === undefined ? Symbol(method) : idKey(id);
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

  get principal(): string | undefined {
    return this.#host.principal;
  }

  get peer(): string | undefined {
    return this.#host.peer;
  }

  get report(): Reporter {
    return this.#host.report;
  }

  failed(_error: ErrorObject, thrown: unknown): void {
    if (!this.#over && this.id !== undefined) this.#host.failed(this.id, thrown);
  }

  /** What is asked for the sake of a request goes where its answer will go. */
  get callback(): RemoteCall {
    return (method, params, options) => handled(this.#host.call(method, params, options, this.id));
  }

  notify(method: string, params?: Params): void {
    if (!this.#over) this.#host.tell(method, params, this.id);
  }

  drained(): Promise<void> {
    return handled(this.#host.drained(this.id));
  }

  release(retry: number): void {
    if (!this.#over && this.id !== undefined) this.#host.release(this.id, retry);
  }

  /** True once it is answered or cancelled: nothing of it goes out any more. */
  get over(): boolean {
    return this.#over;
  }

  end(): void {
    this.#over = true;
  }

  /** The connection takes nothing new, and waits for this call. */
  close(): void {
    this.#isClosing = true;
    this.#closing?.abort();
  }

  cancel(reason: string): void {
    this.#over = true;
    this.#cancelled = new LocalError("cancelled", reason);
    this.#controller?.abort(this.#cancelled);
  }
}
