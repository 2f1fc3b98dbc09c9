import { createInterface } from "node:readline/promises";
import type { Output } from "../output/terminal.js";
import type { PausableClock } from "./pausable-clock.js";

/** The input ended (Ctrl-D), or the request was cancelled. */
export class DialogEnded extends Error {}

/** One dialog at the terminal. */
export interface Talk {
  readonly output: Output;
  /** Asks for one line. @throws DialogEnded */
  ask(prompt: string): Promise<string>;
}

/** Runs one dialog after the other at the terminal, and pauses the clock of the conversation meanwhile. */
export class Dialogs {
  readonly #output: Output;
  readonly #clock: PausableClock;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(output: Output, clock: PausableClock) {
    this.#output = output;
    this.#clock = clock;
  }

  /** Runs a dialog after those before it. @throws DialogEnded */
  hold<Answer>(talk: (talk: Talk) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    this.#waiting += 1;
    this.#clock.pause();
    const held = this.#last.then(() => this.#hold(talk, signal));
    this.#last = held
      .catch(() => undefined) // Its caller takes the failure.
      .then(() => {
        this.#waiting -= 1;
        if (this.#waiting === 0) this.#clock.resume();
      });
    return held;
  }

  async #hold<Answer>(talk: (talk: Talk) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
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
      if (over.signal.aborted) this.#output.print(""); // The line of the prompt was not ended.
      lines.close();
    }
  }
}
