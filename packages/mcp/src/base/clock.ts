/** A pending timer. */
export interface Timer {
  /** Keeps the process alive while the timer is pending. Only on Node. */
  ref?(): unknown;
  /** Lets the process exit while the timer is pending. Only on Node. */
  unref?(): unknown;
}

/** Time, injected, so that a test can drive it. */
export interface Clock {
  /** The milliseconds of a monotonic clock. */
  now(): number;
  /** Calls `fire` once, after a number of milliseconds. */
  setTimer(fire: () => void, milliseconds: number): Timer;
  /** Cancels a timer. Does nothing if it has fired. */
  clearTimer(timer: Timer): void;
}

/** Sets a timer that lets the process exit while it is pending. */
export function setBackgroundTimer(clock: Clock, fire: () => void, milliseconds: number): Timer {
  const timer = clock.setTimer(fire, milliseconds);
  timer.unref?.();
  return timer;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer: (fire, milliseconds) => setTimeout(fire, milliseconds) as unknown as Timer,
  // The type of a timer handle differs between runtimes; each handle is only passed back to its own runtime.
  clearTimer: (timer) => clearTimeout(timer as unknown as number),
};
