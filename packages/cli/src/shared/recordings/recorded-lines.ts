import type { Entry, ReportOptions } from "@parlance/wire";

/** On which line of its file everything of a recording stands. */
export class RecordedLines {
  readonly #lines = new Map<number, number>();
  readonly #gaps = new Map<number, number>();

  /** Nothing was noted. */
  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  note(entry: Entry, line: number): void {
    if (entry.k === "gap") this.#gaps.set(entry.t, line);
    else if ("n" in entry && entry.k !== "a") this.#lines.set(entry.n, line);
  }

  /** The line of something, by its number; of a gap by its time. */
  readonly of: NonNullable<ReportOptions["lineOf"]> = (at) =>
    "n" in at ? this.#lines.get(at.n) : this.#gaps.get(at.gapAt);
}
