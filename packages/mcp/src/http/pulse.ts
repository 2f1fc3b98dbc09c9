import type { Clock, Timer } from "../base/clock.js";

/** Something that has to give a sign of life from time to time. */
export interface Living {
  beat(): void;
}

/** One timer for all streams of a door. It runs only while there is any. */
export class Pulse {
  readonly #clock: Clock;
  readonly #period: number;
  readonly #living = new Set<Living>();
  #timer: Timer | undefined;

  /** @param period in milliseconds */
  constructor(clock: Clock, period: number) {
    this.#clock = clock;
    this.#period = period;
  }

  add(living: Living): void {
    this.#living.add(living);
    if (this.#timer === undefined) this.#start();
  }

  delete(living: Living): void {
    this.#living.delete(living);
    if (this.#living.size > 0 || this.#timer === undefined) return;
    this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#timer = this.#clock.setTimer(() => {
      for (const living of [...this.#living]) living.beat();
      this.#timer = undefined;
      if (this.#living.size > 0) this.#start();
    }, this.#period);
    this.#timer.unref?.();
  }
}
