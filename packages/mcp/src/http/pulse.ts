import type { Clock, Timer } from "../base/clock.js";

/** Something that has to give a sign of life from time to time. */
export interface Living {
  /** False when it is over, and need not give one again. */
  beat(): boolean;
}

/**
 * Makes streams give signs of life. Each has a timer of its own: on workers a timer ends with the request that has set it,
 * and a request that waits for nothing of its own is taken for hung.
 */
export class Pulse {
  readonly #clock: Clock;
  readonly #period: number;
  readonly #timers = new Map<Living, Timer>();

  /** @param period in milliseconds */
  constructor(clock: Clock, period: number) {
    this.#clock = clock;
    this.#period = period;
  }

  add(living: Living): void {
    this.delete(living);
    const timer = this.#clock.setTimer(() => {
      this.#timers.delete(living);
      if (living.beat()) this.add(living);
    }, this.#period);
    timer.unref?.();
    this.#timers.set(living, timer);
  }

  delete(living: Living): void {
    const timer = this.#timers.get(living);
    if (timer === undefined) return;
    this.#timers.delete(living);
    this.#clock.clearTimer(timer);
  }
}
