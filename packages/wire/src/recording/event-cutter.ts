import { decodeUtf8 } from "@parlance/mcp/protocol";
import type { FrameEntry } from "./entry.js";
import { TimedBytes, type TimedRun } from "./timed-bytes.js";

const newline = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const space = 0x20;
const lineBreak = Uint8Array.of(newline);
const mark: readonly number[] = [0xef, 0xbb, 0xbf];

/** An event of an event stream: its data byte for byte, and its other fields. */
export interface CutEvent extends Omit<TimedRun, "last" | "w"> {
  readonly ev: NonNullable<FrameEntry["ev"]>;
}

/**
 * Cuts an event stream into its events, byte for byte: a text parser would replace bytes that are not UTF-8. Skips comments and
 * events without data, which no client dispatches.
 */
export class EventCutter {
  readonly #line = new TimedBytes();
  readonly #data = new TimedBytes();
  #began: number | undefined;
  #hasData = false;
  #ev: { id?: string; event?: string; retry?: number } = {};
  #isFirstLine = true;
  /** The previous line ended with a carriage return: a line feed here belongs to it. */
  #skipsLineFeed = false;

  /** Takes the next bytes, which the caller must not write to again, and returns the events that they complete. */
  push(chunk: Uint8Array, t: number): readonly CutEvent[] {
    const events: CutEvent[] = [];
    let from = this.#skipsLineFeed && chunk[0] === newline ? 1 : 0;
    if (chunk.length > 0) this.#skipsLineFeed = false;
    for (let to = endOfLine(chunk, from); to >= 0; to = endOfLine(chunk, from)) {
      const event = this.#take(this.#line.finish(chunk.subarray(from, to), t));
      if (event !== undefined) events.push(event);
      from = to + 1;
      if (chunk[to] !== carriageReturn) continue;
      if (chunk[from] === newline) from += 1;
      this.#skipsLineFeed = from === chunk.length && chunk[from - 1] === carriageReturn;
    }
    if (from < chunk.length) this.#line.append(chunk.subarray(from), t);
    return events;
  }

  /** Ends the stream and returns the event that no blank line ends. No client acts on it. */
  end(): CutEvent | undefined {
    if (this.#line.length > 0) this.#take(this.#line.end());
    return this.#dispatch(this.#data.last);
  }

  #take(line: TimedRun): CutEvent | undefined {
    const { bytes, t, t1 } = this.#withoutMark(line);
    if (bytes.length === 0) return this.#dispatch(t1);
    this.#began ??= t;
    const at = bytes.indexOf(colon);
    const name = decodeUtf8(at < 0 ? bytes : bytes.subarray(0, at));
    const start = at < 0 ? bytes.length : at + 1;
    const value = bytes.subarray(bytes[start] === space ? start + 1 : start);
    if (name === "data") this.#addData(value, t1);
    else if (name !== undefined) this.#setField(name, decodeUtf8(value) ?? "");
    return undefined;
  }

  #withoutMark(line: TimedRun): TimedRun {
    const isMarked = this.#isFirstLine && mark.every((byte, index) => line.bytes[index] === byte);
    this.#isFirstLine = false;
    return isMarked ? { ...line, bytes: line.bytes.subarray(mark.length) } : line;
  }

  #addData(value: Uint8Array, t: number): void {
    if (this.#hasData) this.#data.append(lineBreak, t);
    this.#hasData = true;
    this.#data.append(value, t);
  }

  #setField(name: string, value: string): void {
    if (name === "id") this.#ev.id = value;
    else if (name === "event") this.#ev.event = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.#ev.retry = Number(value);
  }

  #dispatch(t1: number): CutEvent | undefined {
    const [ev, began, hasData] = [this.#ev, this.#began, this.#hasData];
    this.#ev = {};
    this.#began = undefined;
    this.#hasData = false;
    if (!hasData) return undefined;
    const { bytes, len } = this.#data.end();
    return { bytes, len, t: began ?? t1, t1, ev };
  }
}

/** The end of the line that begins here; negative if it is not there yet. */
function endOfLine(chunk: Uint8Array, from: number): number {
  const feed = chunk.indexOf(newline, from);
  const carriage = chunk.subarray(from, feed < 0 ? chunk.length : feed).indexOf(carriageReturn);
  return carriage < 0 ? feed : from + carriage;
}
