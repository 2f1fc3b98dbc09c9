import type { Clock, Timer } from "../base/clock.js";

/** A clock that only a test advances. */
export interface FakeClock extends Clock {
  /** Advances the time, and fires the timers that are due in order. */
  advance(milliseconds: number): void;
  /** The number of active timers; zero if nothing leaks. */
  readonly armed: number;
}

interface FakeTimer extends Timer {
  readonly at: number;
  readonly fire: () => void;
}

/**
 * Creates a clock for tests of timeouts, which then need no real time.
 *
 * @example
 * const clock = createFakeClock();
 * clock.setTimer(() => console.log("due"), 1_000);
 * clock.advance(1_000); // logs "due"
 */
export function createFakeClock(): FakeClock {
  const timers = new Set<FakeTimer>();
  let now = 0;
  const nextDue = (until: number): FakeTimer | undefined =>
    [...timers].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
  return {
    now: () => now,
    setTimer(fire, milliseconds) {
      const timer: FakeTimer = { at: now + milliseconds, fire };
      timers.add(timer);
      return timer;
    },
    clearTimer(timer) {
      timers.delete(timer as FakeTimer); // Timers are only passed back to the clock that created them.
    },
    advance(milliseconds) {
      const until = now + milliseconds;
      for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
        timers.delete(due);
        now = Math.max(now, due.at);
        due.fire();
      }
      now = until;
    },
    get armed() {
      return timers.size;
    },
  };
}
