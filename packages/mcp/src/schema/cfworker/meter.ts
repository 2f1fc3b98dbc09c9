import type { Clock } from "../../base/clock.js";

/** A check that costs too much. It never leaves the validator. */
export class OverBounds extends Error {}

/** Counts the steps of a run. The library has no such counter: see `Preparation` for how it comes to use this one. */
export class Meter {
  readonly #clock: Pick<Clock, "now">;
  readonly #milliseconds: number;
  #left = 0;
  #allowed = 0;
  #until = 0;

  constructor(clock: Pick<Clock, "now">, milliseconds: number) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
  }

  start(steps: number): void {
    this.#left = steps;
    this.#allowed = steps;
    this.#until = this.#clock.now() + this.#milliseconds;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new OverBounds(`expected a value that can be checked in ${this.#allowed} steps`);
    // One step can take long, and a look at the clock never does.
    if (this.#until !== Number.POSITIVE_INFINITY && this.#clock.now() > this.#until) {
      throw new OverBounds(`expected a value that can be checked in ${this.#milliseconds} ms`);
    }
  }
}
