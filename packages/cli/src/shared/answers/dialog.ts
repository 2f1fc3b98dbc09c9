import type { Clock } from "@parlance/mcp/jsonrpc";
import type { Output } from "../output/terminal.js";

type Timer = ReturnType<Clock["setTimer"]>;

/** The input ended (Ctrl-D), or the request was cancelled. */
export class DialogEnded extends Error {}

/** One dialog at the terminal. */
export interface Talk {
  readonly output: Output;
  /** Asks for one line. @throws DialogEnded */
  ask(prompt: string): Promise<string>;
}

/** Runs one dialog at a time at the terminal, and pauses the clock of the conversation during it. */
export class Dialogs {
  readonly #output: Output;
  readonly #clock: PausableClock;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(output: Output, clock: PausableClock) {
    this.#output = output;
    this.#clock = clock;
  }

  /** Runs a dialog after all earlier ones. @throws DialogEnded */
  hold<Answer>(talk: (talk: Talk) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    this.#waiting += 1;
    this.#clock.pause();
    const held = this.#last.then(() => this.#hold(talk, signal));
    this.#last = held
      .catch(() => undefined) // The caller of that dialog handles its failure.
      .then(() => {
        this.#waiting -= 1;
        if (this.#waiting === 0) this.#clock.resume();
      });
    return held;
  }

  async #hold<Answer>(talk: (talk: Talk) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    const { createInterface } = await import("node:readline/promises"); // Most conversations have no dialog.
    if (signal.aborted) throw new DialogEnded();
    const lines = createInterface({
      input: process.stdin,
      output: this.#output.stream,
      terminal: true,
      historySize: 0,
    });
    const over = new AbortController();
    const end = (): void => over.abort();
    lines.once("close", end);
    // In raw mode Ctrl-C is a key, not a signal.
    lines.on("SIGINT", () => process.emit("SIGINT", "SIGINT"));
    signal.addEventListener("abort", end, { once: true });
    const ask = async (prompt: string): Promise<string> => {
      try {
        return await lines.question(prompt, { signal: over.signal });
      } catch (error) {
        throw new DialogEnded("the dialog is over", { cause: error });
      }
    };
    try {
      return await talk({ output: this.#output, ask });
    } finally {
      signal.removeEventListener("abort", end);
      if (over.signal.aborted) this.#output.print(""); // End the line of the prompt.
      lines.close();
    }
  }
}

/** A clock that pauses while the user answers, so that the call that waits for the answer does not time out. */
export class PausableClock implements Clock {
  #pausedAt: number | undefined;
  /** The objects that have paused the clock. */
  readonly #pausers = new Set<object>();
  /** Milliseconds of all finished pauses. */
  #paused = 0;

  now(): number {
    return (this.#pausedAt ?? performance.now()) - this.#paused;
  }

  get isPaused(): boolean {
    return this.#pausedAt !== undefined;
  }

  /** Pauses the clock until every object that has paused it resumes it. */
  pause(by: object = this): void {
    this.#pausers.add(by);
    this.#pausedAt ??= performance.now();
  }

  resume(by: object = this): void {
    this.#pausers.delete(by);
    if (this.#pausers.size > 0) return;
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

/** Milliseconds between two checks whether a pause is over. */
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
    // Node may fire a fraction of a millisecond early.
    if (this.#clock.isPaused) this.#timeout = this.#armed(Math.max(left, lookAgain));
    else if (left >= 1) this.#timeout = this.#armed(left);
    else this.#fire();
  }
}
