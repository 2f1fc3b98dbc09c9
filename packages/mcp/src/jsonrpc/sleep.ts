import type { Clock } from "../base/clock.js";
import { onAbort } from "./abort-listeners.js";

/** Waits, or until the signal aborts. Never rejects. */
export function sleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = clock.setTimer(() => {
      forget();
      resolve();
    }, milliseconds);
    const forget = onAbort(signal, () => {
      clock.clearTimer(timer);
      forget();
      resolve();
    });
  });
}
