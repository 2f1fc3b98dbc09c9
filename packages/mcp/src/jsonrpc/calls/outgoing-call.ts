import { onAbort } from "../abort-listeners.js";
import { LocalError, type LocalReason } from "../errors.js";
import type { Params } from "../message.js";

/** Milliseconds: `idle` without a sign of the peer, `total` whatever happens. `Infinity` waits for ever. */
export interface Timeouts {
  readonly idle: number;
  readonly total: number;
}

/** Those of a call that says nothing else, on a connection that does not either. */
export const defaultTimeouts: Timeouts = { idle: 60_000, total: 600_000 };

/** Options of one call. An `Exchange` is valid here, so a handler can forward a call with its own exchange. */
export interface CallOptions {
  /** Cancels the call: the peer is notified, and the promise rejects with a `LocalError` of reason `cancelled`. */
  readonly signal?: AbortSignal;
  /** Receives what the peer sends for this call before its result. Resets `timeout`. Its failure is reported. */
  notify?(method: string, params?: Params): unknown;
  /** Milliseconds without an answer or a notification for this call. Default: the connection's, 60,000. */
  readonly timeout?: number;
  /** Milliseconds that the whole call may take, however often the peer gives a sign. Default: the connection's, 600,000. */
  readonly totalTimeout?: number;
  /** The tag that the peer's notifications for this call carry, unique among running calls; see `ConnectionOptions.relatedTo`. */
  readonly tag?: string | number;
  /** False for a request that the peer must not be asked to cancel. Default: true. */
  readonly cancellable?: boolean;
  /**
   * Whether an element of a list in the result that breaks a bound spoils only itself: an `OutOfBounds` stands in its place.
   * Default: false, the call fails with the bound.
   */
  readonly partial?: boolean;
}

/** How a call ended. */
export type Outcome = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: Error };

/** A call of this side from its start to its one outcome. */
export class OutgoingCall {
  readonly id: number;
  readonly method: string;
  readonly options: CallOptions;
  /** False while nothing of the call has gone out: the peer need not hear of its end. */
  sent = false;
  /** Times on the connection's clock. */
  idleAt: number;
  readonly totalAt: number;
  /** Milliseconds, as `Timeouts` has them. */
  readonly idle: number;
  readonly total: number;
  #settle: ((outcome: Outcome) => void) | undefined;
  #unlisten: (() => void) | undefined;

  constructor(
    id: number,
    method: string,
    options: CallOptions,
    now: number,
    defaults: Timeouts,
    settle: (outcome: Outcome) => void,
  ) {
    this.id = id;
    this.method = method;
    this.options = options;
    this.idle = options.timeout ?? defaults.idle;
    this.total = options.totalTimeout ?? defaults.total;
    this.idleAt = now + this.idle;
    this.totalAt = now + this.total;
    this.#settle = settle;
  }

  /** When the clock must look at this call again. */
  get dueAt(): number {
    return Math.min(this.idleAt, this.totalAt);
  }

  listen(stop: () => void): void {
    if (this.options.signal !== undefined) this.#unlisten = onAbort(this.options.signal, stop);
  }

  /** The peer has given a sign. */
  touch(now: number): void {
    this.idleAt = now + this.idle;
  }

  /** The first outcome stands; a later one is not heard. */
  settle(outcome: Outcome): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#unlisten?.();
    settle?.(outcome);
  }

  fail(reason: LocalReason, why: string, cause?: unknown): void {
    this.settle({ ok: false, error: this.error(reason, why, cause) });
  }

  error(reason: LocalReason, why: string, cause?: unknown): LocalError {
    return new LocalError(reason, `${this.method} (id ${this.id}): ${why}`, cause === undefined ? {} : { cause });
  }
}
