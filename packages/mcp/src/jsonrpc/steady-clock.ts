import { type Clock, systemClock, type Timer } from "../base/clock.js";
import { isPromise } from "../base/maybe-promise.js";
import { answered, guarded, reporterOf } from "./hooks.js";
import { faultsToConsole, type Reporter } from "./report.js";

/**
 * The clock of an application, as one that does not fail: the machine's takes the place of a call that throws or does not return a time
 * or a timer, and the failure is reported as `Clock.now`, `Clock.setTimer` or `Clock.clearTimer`. Timers fire where no call could fail
 * with the error, so without this a clock could end the process, or leave a call without its timeout.
 *
 * @param report default: the failures go to the console
 */
export function steadyClock(
  clock: Clock | undefined,
  report: ((report: Parameters<Reporter>[0]) => unknown) | undefined = faultsToConsole,
): Clock {
  if (clock === undefined || clock === systemClock) return systemClock;
  return clock instanceof SteadyClock ? clock : new SteadyClock(clock, reporterOf(report));
}

class SteadyClock implements Clock {
  readonly #clock: Clock;
  readonly #report: Reporter;
  /** The last time that was returned. */
  #last = 0;
  /** The machine's time then; undefined before the first call. */
  #machineLast: number | undefined;
  /** The offset that is added to the times of the clock; undefined before the first one. */
  #shift: number | undefined;

  constructor(clock: Clock, report: Reporter) {
    this.#clock = clock;
    this.#report = report;
  }

  now(): number {
    const own = answered("Clock.now", () => requireTime(this.#clock.now()), this.#report);
    const machine = systemClock.now();
    // Where the clock fails, time goes on from the last one at the machine's pace.
    const next = this.#last + machine - (this.#machineLast ?? machine);
    if (own !== undefined) this.#shift ??= this.#machineLast === undefined ? 0 : next - own;
    this.#last = own === undefined ? next : own + (this.#shift ?? 0);
    this.#machineLast = machine;
    return this.#last;
  }

  setTimer(fire: () => void, milliseconds: number): Timer {
    const timer = new SteadyTimer(fire, this.#report);
    const run = (): void => timer.fire();
    timer.own = answered("Clock.setTimer", () => requireTimer(this.#clock.setTimer(run, milliseconds)), this.#report);
    if (timer.own === undefined) timer.machine = systemClock.setTimer(run, milliseconds);
    return timer;
  }

  clearTimer(timer: Timer): void {
    if (!(timer instanceof SteadyTimer)) return;
    const { own, machine } = timer;
    timer.isOver = true;
    if (machine !== undefined) systemClock.clearTimer(machine);
    if (own !== undefined) guarded("Clock.clearTimer", () => this.#clock.clearTimer(own), this.#report);
  }
}

/** A timer that fires at most once, and never after it was cleared, whatever the clock does. */
class SteadyTimer implements Timer {
  readonly #fire: () => void;
  readonly #report: Reporter;
  /** The timer of the clock; undefined where that has failed. */
  own: Timer | undefined;
  /** The timer of the machine in its place. */
  machine: Timer | undefined;
  isOver = false;

  constructor(fire: () => void, report: Reporter) {
    this.#fire = fire;
    this.#report = report;
  }

  fire(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#fire();
  }

  ref(): void {
    guarded("Timer.ref", () => (this.own ?? this.machine)?.ref?.(), this.#report);
  }

  unref(): void {
    guarded("Timer.unref", () => (this.own ?? this.machine)?.unref?.(), this.#report);
  }
}

/** @throws TypeError for a value with which no timeout can be computed; a promise is returned, and refused as one */
function requireTime(now: number): number {
  if (!Number.isFinite(now) && !isPromise(now)) throw new TypeError(`Clock.now has returned ${now}`);
  return now;
}

/** @throws TypeError for nothing; a promise is returned, and refused as one */
function requireTimer(timer: Timer): Timer {
  if (timer === undefined || timer === null) throw new TypeError(`Clock.setTimer has returned ${timer}`);
  return timer;
}
