import type { Clock } from "../../base/clock.js";

/** Thrown when a check exceeds its limits. The validator catches it. */
export class OverBounds extends Error {}

/**
 * Counts the steps of one check. One step is one subschema applied to one value. Long lists and strings cost fractions
 * of a step more, charged before the work.
 */
export class Meter {
  readonly #clock: Pick<Clock, "now">;
  readonly #milliseconds: number;
  readonly #until: number;
  #allowed: number;
  #left: number;
  /** Reads the clock once per full step, not for each fraction. */
  #lookBelow: number;

  constructor(clock: Pick<Clock, "now">, milliseconds: number, steps: number) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#until = clock.now() + milliseconds;
    this.#allowed = steps;
    this.#left = steps;
    this.#lookBelow = steps;
  }

  /** Sets the step budget for a second run. The time limit continues to count from the start. */
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

  /** Charges for reading a list of names or items. */
  list(length: number): void {
    this.spend(length / 8);
  }

  /** Charges for reading a string `times` times. */
  text(length: number, times = 1): void {
    this.spend((length * times) / 64);
  }
}
