/** A pending timer. Runtimes that can, let an idle timer not keep the process alive. */
export interface Timer {
  /** Keeps the process alive while the timer is set. Only timers of Node have it. */
  ref?(): unknown;
  /** Lets the process exit although the timer is set. Only timers of Node have it. */
  unref?(): unknown;
}

/** Time, injected, so that a test can drive it. */
export interface Clock {
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Calls `fire` once, after so many milliseconds. */
  setTimer(fire: () => void, milliseconds: number): Timer;
  /** Cancels a timer. Does nothing for one that has fired. */
  clearTimer(timer: Timer): void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer: (fire, milliseconds) => setTimeout(fire, milliseconds) as unknown as Timer,
  // The runtimes disagree on the type of a timer handle; it only ever goes back where it came from.
  clearTimer: (timer) => clearTimeout(timer as unknown as number),
};
