import { setImmediate as nextTurn } from "node:timers/promises";
import { Failure } from "./failure.js";
import type { Interrupt } from "./interrupt.js";

/** Milliseconds of work between two turns of the event loop: short enough to notice signals, long enough to be cheap. */
const slice = 25;

/** Lets long work be interrupted: Node sees a signal only between two turns of the event loop. */
export class Pace {
  readonly #interrupt: Interrupt;
  readonly #undone: string;
  #next = performance.now() + slice;

  /** @param undone the message when the work is interrupted: what is not done */
  constructor(interrupt: Interrupt, undone: string) {
    this.#interrupt = interrupt;
    this.#undone = undone;
  }

  /** Aborted once the program is to end. */
  get stop(): AbortSignal {
    return this.#interrupt.stop;
  }

  /** Whether it is time for `turn`. */
  get isDue(): boolean {
    return performance.now() >= this.#next;
  }

  /** Lets the event loop turn. @throws Failure once the program is to end */
  async turn(): Promise<void> {
    await nextTurn();
    this.#next = performance.now() + slice;
    this.check();
  }

  /** @throws Failure once the program is to end */
  check(): void {
    const { stop, exitCode } = this.#interrupt;
    if (stop.aborted) throw new Failure(`interrupted: ${this.#undone}`, { exitCode });
  }

  /** Yields the items of a source, and lets the event loop turn in between. @throws Failure once the program is to end */
  async *steps<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
    for await (const item of items) {
      yield item;
      if (this.isDue) await this.turn();
    }
  }

  /** Runs work that yields between its steps. @throws Failure once the program is to end */
  async run<Result>(steps: Generator<void, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (this.isDue) await this.turn();
    }
  }
}
