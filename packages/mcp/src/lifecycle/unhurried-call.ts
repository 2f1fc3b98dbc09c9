import type { Clock } from "../base/clock.js";
import { longestTimer } from "../base/settles-within.js";
import { onAbort } from "../jsonrpc/abort-listeners.js";
import { LocalError, type LocalReason } from "../jsonrpc/errors.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import type { JsonObject } from "../protocol/json.js";
import type { Revision } from "../revisions/revision.js";
import type { Answering } from "./answering.js";
import type { OpenedCall } from "./opened.js";

/** What calls need that go on while a person answers, and what bounds them. */
export interface UnhurriedHost {
  readonly answering: Answering;
  readonly clock: Clock;
  /** Milliseconds for all of a call that says nothing else; the time in which a person answers counts. */
  readonly totalTimeout: number;
  /** Aborted when the conversation is over. */
  readonly over: AbortSignal;
}

/** A call that is made more than once, with a person in between: all of it has one time, one signal and one outcome. */
export class UnhurriedCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly revision: Revision;
  readonly answering: Answering;
  readonly clock: Clock;
  readonly #call: OpenedCall;
  readonly #options: CallOptions;
  readonly #over: AbortSignal;
  readonly #totalTimeout: number;
  readonly #endsAt: number;

  constructor(
    opened: { readonly call: OpenedCall; readonly revision: Revision },
    { answering, clock, totalTimeout, over }: UnhurriedHost,
    made: { readonly method: string; readonly params: JsonObject; readonly options: CallOptions },
  ) {
    this.method = made.method;
    this.params = made.params;
    this.revision = opened.revision;
    this.answering = answering;
    this.clock = clock;
    this.#call = opened.call;
    this.#options = made.options;
    this.#over = over;
    this.#totalTimeout = made.options.totalTimeout ?? totalTimeout;
    this.#endsAt = clock.now() + this.#totalTimeout;
  }

  /** Makes the call, for what is left of its time. */
  make(params: JsonObject): Promise<JsonObject> {
    return this.#call(this.method, params, { ...this.#options, totalTimeout: this.#left() });
  }

  /** Milliseconds that its caller waits for a sign of the server; `Infinity` where the caller has not said. */
  get patience(): number {
    return this.#options.timeout ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Waits for `work`, but not longer than `within` milliseconds, the call may take, its caller wants it, or the conversation lasts.
   * @throws LocalError `cancelled`, `timeout` or `closed`; what `work` throws
   */
  wait<Value>(
    work: (signal: AbortSignal) => Promise<Value>,
    within: number = Number.POSITIVE_INFINITY,
  ): Promise<Value> {
    const { signal } = this.#options;
    const stop = new AbortController();
    return new Promise((resolve, reject) => {
      const releases: (() => void)[] = [];
      const release = (): void => {
        for (const each of releases.splice(0)) each();
      };
      const fail = (error: unknown): void => {
        release();
        reject(error);
        stop.abort(error); // Whoever still answers can stop.
      };
      const cancelled = (): void => fail(this.error("cancelled", "cancelled by the caller", signal?.reason));
      const closed = (): void => fail(this.error("closed", "the connection was closed"));
      if (signal?.aborted === true) return cancelled();
      if (this.#over.aborted) return closed();
      if (signal !== undefined) releases.push(onAbort(signal, cancelled));
      releases.push(onAbort(this.#over, closed), this.#watch(fail, within));
      work(stop.signal).then((value) => {
        release();
        resolve(value);
      }, fail);
    });
  }

  error(reason: LocalReason, why: string, cause?: unknown): LocalError {
    return new LocalError(reason, `${this.method}: ${why}`, cause === undefined ? {} : { cause });
  }

  #left(): number {
    return Math.max(0, this.#endsAt - this.clock.now());
  }

  /** Gives back what ends the watch. */
  #watch(fail: (error: LocalError) => void, within: number): () => void {
    const left = this.#left();
    const wait = Math.min(left, within);
    if (wait > longestTimer) return () => undefined; // Nobody waits for weeks.
    const why =
      within < left ? `no sign of the server for ${within} ms` : `no answer within ${this.#totalTimeout} ms in all`;
    const timer = this.clock.setTimer(() => fail(this.error("timeout", why)), wait);
    return () => this.clock.clearTimer(timer);
  }
}
