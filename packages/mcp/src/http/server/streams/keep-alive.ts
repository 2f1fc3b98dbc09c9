import type { Clock, Timer } from "../../../base/clock.js";

/** Something that sends keep-alives. */
export interface Pingable {
  /** Sends a keep-alive. Returns false if the stream is over. */
  ping(): boolean;
}

/**
 * Sends keep-alives on streams. Each stream has its own timer: on workers, a timer ends with the request that set it,
 * and a request that waits for nothing of its own is aborted as hung.
 */
export class KeepAlive {
  readonly #clock: Clock;
  readonly #period: number;
  readonly #timers = new Map<Pingable, Timer>();

  /** @param period milliseconds */
  constructor(clock: Clock, period: number) {
    this.#clock = clock;
    this.#period = period;
  }

  add(living: Pingable): void {
    this.delete(living);
    const timer = this.#clock.setTimer(() => {
      this.#timers.delete(living);
      if (living.ping()) this.add(living);
    }, this.#period);
    timer.unref?.();
    this.#timers.set(living, timer);
  }

  delete(living: Pingable): void {
    const timer = this.#timers.get(living);
    if (timer === undefined) return;
    this.#timers.delete(living);
    this.#clock.clearTimer(timer);
  }
}
