import type { Clock } from "../base/clock.js";

/** A check that costs too much. It never leaves the validator. */
export class OverBounds extends Error {}

/**
 * Counts the steps of one check. A step is one subschema applied to one value; what a step costs beyond that, because a
 * list is long or a string is, is charged in fractions of a step, before the work is done.
 */
export class Meter {
  readonly #clock: Pick<Clock, "now">;
  readonly #milliseconds: number;
  readonly #until: number;
  #allowed: number;
  #left: number;
  /** The clock is read once a step, not once a fraction. */
  #lookBelow: number;

  constructor(clock: Pick<Clock, "now">, milliseconds: number, steps: number) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#until = clock.now() + milliseconds;
    this.#allowed = steps;
    this.#left = steps;
    this.#lookBelow = steps;
  }

  /** Allows so many steps for what follows. The time of the check goes on. */
  restart(steps: number): void {
    this.#allowed = steps;
    this.#left = steps;
    this.#lookBelow = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new OverBounds(`expected a value that can be checked in ${this.#allowed} steps`);
    if (this.#until === Number.POSITIVE_INFINITY || this.#left >= this.#lookBelow) return;
    this.#lookBelow = this.#left - 1;
    if (this.#clock.now() > this.#until) {
      throw new OverBounds(`expected a value that can be checked in ${this.#milliseconds} ms`);
    }
  }

  /** Goes through a list of names or items. */
  list(length: number): void {
    this.spend(length / 8);
  }

  /** Goes through a text so many times. */
  text(length: number, times = 1): void {
    this.spend((length * times) / 64);
  }
}
