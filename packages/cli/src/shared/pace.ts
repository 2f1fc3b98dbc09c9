import { setImmediate as nextTurn } from "node:timers/promises";
import { Failure } from "./failure.js";
import type { Interrupt } from "./interrupt.js";

/** The milliseconds of work between two turns of the event loop: short enough to notice signals, long enough to be cheap. */
const slice = 25;

/** Lets long work be interrupted: Node sees a signal only between two turns of the event loop. */
export class Pace {
  readonly #interrupt: Interrupt;
  readonly #undone: string;
  #next = performance.now() + slice;

  /** @param undone the message of the failure after an interrupt, which names the unfinished work */
  constructor(interrupt: Interrupt, undone: string) {
    this.#interrupt = interrupt;
    this.#undone = undone;
  }

  /** Aborted by an interrupt. */
  get stop(): AbortSignal {
    return this.#interrupt.stop;
  }

  /** Whether it is time for `turn`. */
  get isDue(): boolean {
    return performance.now() >= this.#next;
  }

  /** Lets the event loop turn. @throws Failure after an interrupt */
  async turn(): Promise<void> {
    await nextTurn();
    this.#next = performance.now() + slice;
    this.check();
  }

  /** @throws Failure after an interrupt */
  check(): void {
    const { stop, exitCode } = this.#interrupt;
    if (stop.aborted) throw new Failure(`interrupted: ${this.#undone}`, { exitCode });
  }

  /** Yields the items of a source, and lets the event loop turn in between. @throws Failure after an interrupt */
  async *steps<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
    for await (const item of items) {
      yield item;
      if (this.isDue) await this.turn();
    }
  }

  /** Runs work that yields between its steps. @throws Failure after an interrupt */
  async run<Result>(steps: Generator<void, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (this.isDue) await this.turn();
    }
  }
}
