import type { Clock, Timer } from "../entries/jsonrpc.js";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves the time on and fires every timer that falls due, in order of its time. */
  advance(milliseconds: number): void;
  /** How many timers are armed; zero when nothing leaks. */
  readonly armed: number;
}

interface FakeTimer extends Timer {
  readonly at: number;
  readonly fire: () => void;
}

/** A clock for tests of timeouts: no test waits for real time. */
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
      timers.delete(timer as FakeTimer); // Only timers of this clock come back to it.
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
