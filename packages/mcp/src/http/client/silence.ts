import type { Clock, Timer } from "../../base/clock.js";

/** Milliseconds without a byte, after which the server of a stream that had keep-alives is given up. */
const shortestBound = 30_000;

/**
 * Notices that a stream has gone silent: behind a server that vanished nothing ends it. Only a server that has sent keep-alives
 * (comments) promises more of them, and may leave out one: the bound is 30 s, or twice the longest time between two.
 */
export class Silence {
  readonly #clock: Clock;
  readonly #noticed: () => void;
  #heardAt: number;
  #bound = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;
  #isPaused = false;
  #isOver = false;

  /** `noticed` is called once. */
  constructor(clock: Clock, noticed: () => void) {
    this.#clock = clock;
    this.#noticed = noticed;
    this.#heardAt = clock.now();
  }

  /** Milliseconds that are too long. */
  get bound(): number {
    return this.#bound;
  }

  /** Bytes have come; `isKeepAlive`: there was a comment among them. */
  heard(isKeepAlive: boolean): void {
    const now = this.#clock.now();
    if (isKeepAlive) {
      const known = this.#bound === Number.POSITIVE_INFINITY ? shortestBound : this.#bound;
      this.#bound = Math.max(known, 2 * (now - this.#heardAt));
    }
    this.#heardAt = now;
    if (this.#timer === undefined && this.#bound < Number.POSITIVE_INFINITY) this.#watch();
  }

  /** While this side does not read, it hears nothing. */
  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused;
    this.#heardAt = this.#clock.now();
  }

  /** The stream has ended. */
  end(): void {
    this.#isOver = true;
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
  }

  #watch(): void {
    if (this.#isOver) return;
    const left = this.#heardAt + this.#bound - this.#clock.now();
    this.#timer = this.#clock.setTimer(
      () => {
        const isSilent = !this.#isPaused && this.#clock.now() - this.#heardAt >= this.#bound;
        if (isSilent) this.#noticed();
        else this.#watch();
      },
      this.#isPaused ? this.#bound : left,
    );
    this.#timer.unref?.();
  }
}
