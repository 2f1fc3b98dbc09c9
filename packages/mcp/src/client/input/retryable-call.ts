import { longestTimer } from "../../base/clock.js";
import type { JsonObject } from "../../base/json.js";
import { onAbort } from "../../jsonrpc/abort-listeners.js";
import type { CallOptions } from "../../jsonrpc/call.js";
import { LocalError, type LocalReason } from "../../jsonrpc/errors.js";
import type { SessionCall } from "../session/client-session.js";
import type { ReconnectingSession } from "../session/reconnecting-session.js";

/** A call that may be made several times, with user input in between: all attempts share one timeout, one signal and one outcome. */
export class RetryableCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly session: ReconnectingSession;
  readonly #call: SessionCall;
  readonly #options: CallOptions;
  readonly #totalTimeout: number;
  readonly #endsAt: number;

  /** @param call makes one attempt */
  constructor(
    session: ReconnectingSession,
    call: SessionCall,
    made: { readonly method: string; readonly params: JsonObject; readonly options: CallOptions },
  ) {
    this.method = made.method;
    this.params = made.params;
    this.session = session;
    this.#call = call;
    this.#options = made.options;
    this.#totalTimeout = made.options.totalTimeout ?? session.totalTimeout; // The time of user input counts.
    this.#endsAt = session.clock.now() + this.#totalTimeout;
  }

  /** Makes the call within the time that is left. */
  make(params: JsonObject): Promise<JsonObject> {
    return this.#call(this.method, params, { ...this.#options, totalTimeout: this.#left() });
  }

  /** Idle timeout of the caller in milliseconds; `Infinity` if it gave none. */
  get idleTimeout(): number {
    return this.#options.timeout ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Waits for `work`, limited by `within` milliseconds, the timeout of the call, its signal and the end of the session.
   * @throws LocalError `cancelled`, `timeout` or `closed`; what `work` throws
   */
  wait<Value>(
    work: (signal: AbortSignal) => Promise<Value>,
    within: number = Number.POSITIVE_INFINITY,
  ): Promise<Value> {
    const { signal } = this.#options;
    const { ended } = this.session;
    const stop = new AbortController();
    return new Promise((resolve, reject) => {
      const releases: (() => void)[] = [];
      const release = (): void => {
        for (const each of releases.splice(0)) each();
      };
      const fail = (error: unknown): void => {
        release();
        reject(error);
        stop.abort(error); // Handlers that still run can stop.
      };
      const cancelled = (): void => fail(this.error("cancelled", "cancelled by the caller", signal?.reason));
      const closed = (): void => fail(this.error("closed", "the connection was closed"));
      if (signal?.aborted === true) return cancelled();
      if (ended.aborted) return closed();
      if (signal !== undefined) releases.push(onAbort(signal, cancelled));
      releases.push(onAbort(ended, closed), this.#startTimer(fail, within));
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
    return Math.max(0, this.#endsAt - this.session.clock.now());
  }

  /** Returns the function that stops the timer. */
  #startTimer(fail: (error: LocalError) => void, within: number): () => void {
    const { clock } = this.session;
    const left = this.#left();
    const wait = Math.min(left, within);
    if (wait > longestTimer) return () => undefined; // Longer than a timer can wait.
    const why =
      within < left
        ? `no message of the server for ${within} ms`
        : `no response within ${this.#totalTimeout} ms (totalTimeout)`;
    const timer = clock.setTimer(() => fail(this.error("timeout", why)), wait);
    return () => clock.clearTimer(timer);
  }
}
