import type { Clock, Timer } from "../../base/clock.js";

/** The minimum silence in milliseconds after which the stream counts as dead. */
const shortestBound = 30_000;

/**
 * Detects a dead event stream: if a server vanishes, TCP does not report it. Applies only to servers that have sent
 * keep-alives (comments), and tolerates one missing: the limit is 30 s, or twice the longest distance of two.
 */
export class IdleTimeout {
  readonly #clock: Clock;
  readonly #noticed: () => void;
  #heardAt: number;
  #bound = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;
  #isPaused = false;
  #isOver = false;

  /** @param noticed called once */
  constructor(clock: Clock, noticed: () => void) {
    this.#clock = clock;
    this.#noticed = noticed;
    this.#heardAt = clock.now();
  }

  /** The maximum silence in milliseconds. */
  get bound(): number {
    return this.#bound;
  }

  /** Records received bytes. `isKeepAlive`: they contained a comment. */
  emitter(isKeepAlive: boolean): void {
    const now = this.#clock.now();
    if (isKeepAlive) {
      const known = this.#bound === Number.POSITIVE_INFINITY ? shortestBound : this.#bound;
      this.#bound = Math.max(known, 2 * (now - this.#heardAt));
    }
    this.#heardAt = now;
    if (this.#timer === undefined && this.#bound < Number.POSITIVE_INFINITY) this.#watch();
  }

  /** While reading is paused, silence is not measured. */
  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused;
    this.#heardAt = this.#clock.now();
  }

  /** Stops measuring. */
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
