import { deferred } from "../base/deferred.js";
import type { Clock } from "./clock.js";

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

/** The longest delay of `setTimeout`, which fires immediately for a longer one, such as `Infinity`. */
export const longestTimer: number = 2 ** 31 - 1;
