import { onAbort } from "../abort-listeners.js";
import type { CallOptions } from "../call.js";
import { LocalError, type LocalReason } from "../errors.js";
import type { Id } from "../message.js";

/** Milliseconds: `idle` without a message for the call, `total` in any case. `Infinity`: no limit. */
export interface Timeouts {
  readonly idle: number;
  readonly total: number;
}

/** The defaults of connections and calls. */
export const defaultTimeouts: Timeouts = { idle: 60_000, total: 600_000 };

/** The outcome of a call. */
export type Outcome =
  | {
      readonly ok: true;
      /** The result of the call. */
      readonly result: unknown;
    }
  | {
      readonly ok: false;
      /** The error that the call rejects with. */
      readonly error: Error;
    };

/** A request of the peer, during which this side calls the peer. */
export interface Asker {
  readonly id: Id | undefined;
  /** Whether it was answered or cancelled. Its stream may be closed then. */
  readonly over: boolean;
}

/** A call of this side from its start to its one outcome. */
export class OutgoingCall {
  readonly id: number;
  readonly method: string;
  readonly options: CallOptions;
  /** True after the request was written: before that, the peer need not be notified of its cancellation. */
  sent = false;
  /** True after a notification came whose tag is the text of this call's number. */
  hasTextTag = false;
  /** The request of the peer that it belongs to; undefined for none. */
  asker: Asker | undefined;
  /** Times on the connection's clock. */
  idleAt: number;
  readonly totalAt: number;
  /** Milliseconds, as `Timeouts` has them. */
  readonly idle: number;
  readonly total: number;
  /** How often it is paused, and since when. */
  #pauses = 0;
  #pausedAt = 0;
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

  /** The time at which the call expires. */
  get dueAt(): number {
    return this.#pauses > 0 ? this.totalAt : Math.min(this.idleAt, this.totalAt);
  }

  /** Stops the idle timeout, until `resume` was called as often. */
  pause(now: number): void {
    if (this.#pauses === 0) this.#pausedAt = now;
    this.#pauses += 1;
  }

  /** Continues the idle timeout with the time that remained when it was paused. */
  resume(now: number): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.idleAt += now - this.#pausedAt;
  }

  listen(stop: () => void): void {
    if (this.options.signal !== undefined) this.#unlisten = onAbort(this.options.signal, stop);
  }

  /** Restarts the idle timeout. */
  touch(now: number): void {
    this.idleAt = now + this.idle;
    this.#pausedAt = now;
  }

  /** Only the first outcome counts. */
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
