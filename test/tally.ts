import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** Leaves the outcome of a run as one line in a file: `N passed, N failed`, and `, N skipped` where some were. */
export class Tally implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === "pending" ? "failed" : state] += 1;
      }
      // A file that does not load, or a hook that throws, takes its tests with it: it must not pass for nothing.
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    }
    const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
    writeFileSync(this.#file, `${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
  }
}
