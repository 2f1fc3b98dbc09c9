import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** The most characters of a failure's line. */
const maxLine = 300;

/**
 * Writes the outcome of a run into a file: a line for each failure, and `N passed, N failed` as the last line, with `, N skipped` where
 * some were. The end of a long log is what remains of it, so the failures are named there.
 */
export class Tally implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, skipped: 0 };
    const failures = unhandled.map(({ message }) => line("unhandled", message));
    for (const module of modules) {
      const at = module.relativeModuleId;
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === "passed" || state === "skipped") counts[state] += 1;
        else failures.push(line(`${at} > ${test.fullName}`, errors?.[0]?.message ?? "did not end"));
      }
      // A file that does not load, or a hook that throws, takes its tests with it: it must not pass for nothing.
      const suites = [module, ...module.children.allSuites()];
      for (const { message } of suites.flatMap((suite) => suite.errors())) failures.push(line(at, message));
    }
    const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
    const tally = `${counts.passed} passed, ${failures.length} failed${skipped}`;
    writeFileSync(this.#file, `${[...failures, tally].join("\n")}\n`);
  }
}

function line(where: string, message: string): string {
  return `FAILED ${where}: ${message.replaceAll(/\s+/g, " ")}`.slice(0, maxLine);
}
