import { deferred } from "../base/deferred.js";
import type { Clock } from "./clock.js";

/** True when the promise settles within so many milliseconds; false as soon as they are over. */
export async function settlesWithin(promise: Promise<unknown>, milliseconds: number, clock: Clock): Promise<boolean> {
  const timeout = deferred<boolean>();
  const timer = clock.setTimer(() => timeout.resolve(false), Math.min(milliseconds, longestTimer));
  try {
    return await Promise.race([promise.then(() => true), timeout.promise]);
  } finally {
    clock.clearTimer(timer);
  }
}

/** The longest delay of `setTimeout`, which fires at once for a longer one, such as `Infinity`. */
export const longestTimer: number = 2 ** 31 - 1;
