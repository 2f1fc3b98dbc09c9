import { deferred } from "./deferred.js";

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

/** The longest delay of `setTimeout`, which fires immediately for a longer one, such as `Infinity`. */
export const longestTimer: number = 2 ** 31 - 1;

/** True when the promise settles within a number of milliseconds; false as soon as they have passed. */
export async function settlesWithin(promise: Promise<unknown>, milliseconds: number, clock: Clock): Promise<boolean> {
  const timeout = deferred<boolean>();
  const timer = clock.setTimer(() => timeout.resolve(false), Math.min(milliseconds, longestTimer));
  try {
    return await Promise.race([promise.then(() => true), timeout.promise]);
  } finally {
    clock.clearTimer(timer);
  }
}
