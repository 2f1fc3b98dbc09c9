import type { PageBucket } from "@parlance/web/protocol";
import type { compileFilter, Row } from "@parlance/wire";
import type { LiveRecording, RecordingWatcher } from "./live-recording.js";

type RowTest = ReturnType<typeof compileFilter>;

/** The number of rows that are tested before the event loop turns. */
const together = 10_000;

/** The rows of a recording that match a filter, in order. */
export class RecordingView implements RecordingWatcher {
  readonly recording: LiveRecording;
  readonly #matches: RowTest;
  readonly #changed: () => void;
  /** The indexes of the matching rows among all rows, ascending. */
  readonly #places: number[] = [];
  /** The number of tested rows. */
  #tested = 0;
  #isClosed = false;

  /** @param changed called after each change; not before the first `update` */
  constructor(recording: LiveRecording, matches: RowTest, changed: () => void) {
    this.recording = recording;
    this.#matches = matches;
    this.#changed = changed;
  }

  /** Tests the existing rows, then follows the recording. */
  async open(): Promise<void> {
    while (!this.#isClosed && this.#tested < this.recording.conversation.rows.length) {
      this.#test(together);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (!this.#isClosed) this.recording.watchers.add(this);
  }

  close(): void {
    this.#isClosed = true;
    this.recording.watchers.delete(this);
  }

  get count(): number {
    return this.#places.length;
  }

  /** Some of the matching rows. */
  rows(from: number, count: number): readonly Row[] {
    const { rows } = this.recording.conversation;
    return this.#places.slice(from, from + count).flatMap((place) => rows[place] ?? []);
  }

  /** The number of matching rows up to a time, and the time of the next one. */
  until(at: number): { readonly count: number; readonly next: number | undefined } {
    const { rows } = this.recording.conversation;
    const count = this.#firstAfter((place) => (rows[place]?.at ?? 0) <= at);
    return { count, next: rows[this.#places[count] ?? rows.length]?.at };
  }

  /** The index of a row among the matching ones. */
  placeOf(n: number): number | undefined {
    const place = this.recording.conversation.rows.findIndex((row) => row.n === n);
    const found = this.#firstAfter((each) => each < place);
    return place >= 0 && this.#places[found] === place ? found : undefined;
  }

  /** The index of the next row with a violation after `from`, or of the one before. */
  violation(from: number, back: boolean): number | undefined {
    const { rows } = this.recording.conversation;
    const step = back ? -1 : 1;
    for (let place = from + step; place >= 0 && place < this.#places.length; place += step)
      if (isBad(rows[this.#places[place] ?? 0])) return place;
    return undefined;
  }

  /** Counts of the matching rows in intervals of equal length. */
  overview(buckets: number): readonly PageBucket[] {
    const { rows } = this.recording.conversation;
    const until = rows.at(-1)?.at ?? 0;
    const counts = Array.from({ length: buckets }, () => ({ count: 0, bad: false }));
    for (const place of this.#places) {
      const row = rows[place];
      const bucket = counts[Math.min(buckets - 1, Math.floor(((row?.at ?? 0) / (until || 1)) * buckets))];
      if (bucket === undefined) continue;
      bucket.count += 1;
      bucket.bad ||= isBad(row);
    }
    return counts;
  }

  grown(): void {
    this.#test(Number.POSITIVE_INFINITY);
    this.#changed();
  }

  judged(row: Row): void {
    const place = this.recording.conversation.rows.indexOf(row);
    const found = this.#firstAfter((each) => each < place);
    if (place < this.#tested && this.#places[found] !== place && this.#matches(row))
      this.#places.splice(found, 0, place);
    this.#changed();
  }

  #test(most: number): void {
    const { rows } = this.recording.conversation;
    for (const end = Math.min(rows.length, this.#tested + most); this.#tested < end; this.#tested += 1) {
      const row = rows[this.#tested];
      if (row !== undefined && this.#matches(row)) this.#places.push(this.#tested);
    }
  }

  /** The index of the first matching row that is not early, by a binary search: `isEarly` holds for the first places only. */
  #firstAfter(isEarly: (place: number) => boolean): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isEarly(this.#places[middle] ?? 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBad(row: Row | undefined): boolean {
  return row?.verdicts.some(({ level }) => level === "must") === true;
}
