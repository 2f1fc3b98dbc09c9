import type { Clock, Timer } from "@parlance/mcp/jsonrpc";

/** A clock that pauses while the user answers, so that the call that waits for the answer does not time out. */
export class PausableClock implements Clock {
  #pausedAt: number | undefined;
  /** Milliseconds of all finished pauses. */
  #paused = 0;

  now(): number {
    return (this.#pausedAt ?? performance.now()) - this.#paused;
  }

  get isPaused(): boolean {
    return this.#pausedAt !== undefined;
  }

  pause(): void {
    this.#pausedAt ??= performance.now();
  }

  resume(): void {
    if (this.#pausedAt !== undefined) this.#paused += performance.now() - this.#pausedAt;
    this.#pausedAt = undefined;
  }

  setTimer(fire: () => void, milliseconds: number): Timer {
    return new PausableTimer(this, fire, milliseconds);
  }

  clearTimer(timer: Timer): void {
    if (timer instanceof PausableTimer) timer.clear();
  }
}

/** Milliseconds between two looks at whether a pause is over. */
const lookAgain = 100;

class PausableTimer implements Timer {
  readonly #clock: PausableClock;
  readonly #fire: () => void;
  readonly #dueAt: number;
  #timeout: NodeJS.Timeout;
  #keepsAlive = true;

  constructor(clock: PausableClock, fire: () => void, milliseconds: number) {
    this.#clock = clock;
    this.#fire = fire;
    this.#dueAt = clock.now() + milliseconds;
    this.#timeout = this.#armed(milliseconds);
  }

  ref(): void {
    this.#keepsAlive = true;
    this.#timeout.ref();
  }

  unref(): void {
    this.#keepsAlive = false;
    this.#timeout.unref();
  }

  clear(): void {
    clearTimeout(this.#timeout);
  }

  #armed(milliseconds: number): NodeJS.Timeout {
    const timeout = setTimeout(() => this.#look(), milliseconds);
    if (!this.#keepsAlive) timeout.unref();
    return timeout;
  }

  #look(): void {
    const left = this.#dueAt - this.#clock.now();
    // Node may fire a fraction of a millisecond early: that is on time.
    if (this.#clock.isPaused) this.#timeout = this.#armed(Math.max(left, lookAgain));
    else if (left >= 1) this.#timeout = this.#armed(left);
    else this.#fire();
  }
}
