import { PartialFrame } from "@parlance/mcp/jsonrpc";
import { decodeUtf8 } from "@parlance/mcp/protocol";
import type { FrameEntry } from "./entry.js";

/**
 * The maximum number of bytes kept of one frame. It protects the recording and the memory from a peer that sends an endless
 * frame.
 */
const mostKept = 16 * 1024 * 1024;

/** The maximum number of chunks of one frame whose times are kept: a frame may arrive byte by byte. */
const mostWrites = 1_024;

const nothing = new Uint8Array(0);

/** A run of bytes, and when its chunks arrived. */
export interface TimedRun {
  /** The bytes, or only the beginning if there are fewer than `len`. */
  readonly bytes: Uint8Array;
  /** The number of all bytes. */
  readonly len: number;
  /** The last byte, also if it is not kept. */
  readonly last: number | undefined;
  /** The arrival of the first byte. */
  readonly t: number;
  /** The arrival of the last byte. */
  readonly t1: number;
  /** Offset and time of every chunk after the first. */
  readonly w: readonly (readonly [offset: number, t: number])[];
}

/** Collects the bytes of one frame with their times, in bounded memory. */
class TimedBytes {
  readonly #held = new PartialFrame(mostKept, mostKept);
  #began = 0;
  #last = 0;
  #writes: (readonly [offset: number, t: number])[] = [];

  /** The number of bytes so far. */
  get length(): number {
    return this.#held.length;
  }

  /** The arrival of the last byte. */
  get last(): number {
    return this.#last;
  }

  /** Takes the next bytes, which the caller must not write to again. */
  append(bytes: Uint8Array, t: number): void {
    this.#mark(t);
    this.#held.append(bytes);
  }

  /** Takes the last bytes, which may be empty, and returns the whole run. */
  finish(bytes: Uint8Array, t: number): TimedRun {
    this.#mark(t);
    return this.#run(bytes);
  }

  /** Returns the whole run, and starts a new one. */
  end(): TimedRun {
    return this.#run(nothing);
  }

  #run(last: Uint8Array): TimedRun {
    const isGathered = this.length > 0;
    const { head, length: len, tail = head } = this.#held.finish(last);
    const w = this.#writes;
    this.#writes = [];
    // The next bytes overwrite the collected ones.
    const bytes = isGathered ? head.slice() : head;
    return { bytes, len, last: tail.at(-1), t: this.#began, t1: this.#last, w };
  }

  /** Discards the collected bytes. */
  clear(): void {
    this.#held.finish();
    this.#writes = [];
  }

  #mark(t: number): void {
    if (this.length === 0) this.#began = t;
    else if (this.#writes.length < mostWrites) this.#writes.push([this.length, t]);
    this.#last = t;
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** A line, byte for byte, without its line break. */
export interface CutLine extends Omit<TimedRun, "last"> {
  /** How the line ended. */
  readonly nl: "\n" | "\r\n" | "";
}

/** Cuts the bytes of one direction of stdio into lines. A blank line is a line, and a byte order mark is part of the text. */
export class LineCutter {
  readonly #line = new TimedBytes();
  /** The next bytes are the rest of a line whose beginning was lost. */
  #skips = false;

  /** The number of bytes of the unfinished line. */
  get held(): number {
    return this.#line.length;
  }

  /** The arrival of the last byte. */
  get last(): number {
    return this.#line.last;
  }

  /** Takes the next bytes, which the caller must not write to again, and returns the lines that they complete. */
  push(chunk: Uint8Array, t: number): readonly CutLine[] {
    const lines: CutLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(newline); to >= 0; to = chunk.indexOf(newline, from)) {
      if (this.#skips) this.#skips = false;
      else lines.push(cut(this.#line.finish(chunk.subarray(from, to), t)));
      from = to + 1;
    }
    if (from < chunk.length && !this.#skips) this.#line.append(chunk.subarray(from), t);
    return lines;
  }

  /** Ends the stream and returns the line without its line break. */
  end(): CutLine | undefined {
    if (this.held === 0) return undefined;
    return { ...this.#line.end(), nl: "" };
  }

  /**
   * Bytes are missing here, with `ended` line ends among them. If they end within a line, the rest of that line is skipped too.
   * Returns the number of lines that are lost.
   */
  skip(ended: number, endsWithinLine: boolean): number {
    const counted = this.#skips ? 1 : 0;
    this.#line.clear();
    this.#skips = endsWithinLine;
    return ended + (endsWithinLine ? 1 : 0) - counted;
  }
}

function cut({ bytes, len, last, ...times }: TimedRun): CutLine {
  if (last !== carriageReturn) return { ...times, bytes, len, nl: "\n" };
  return { ...times, bytes: bytes.subarray(0, len - 1), len: len - 1, nl: "\r\n" };
}

const colon = 0x3a;
const space = 0x20;
const lineBreak = Uint8Array.of(newline);
const mark: readonly number[] = [0xef, 0xbb, 0xbf];

/** An event of an event stream: its data byte for byte, and its other fields. */
export interface CutEvent extends Omit<TimedRun, "last" | "w"> {
  /** The other fields of the event. */
  readonly ev: NonNullable<FrameEntry["ev"]>;
}

/**
 * Cuts an event stream into events, byte for byte: a text parser would replace bytes that are not UTF-8. Skips comments, and
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
    const ends = new LineEnds(chunk);
    for (let to = ends.after(from); to >= 0; to = ends.after(from)) {
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

  /** Ends the stream and returns the event without its blank line. No client acts on it. */
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

/** Finds the ends of the lines of a chunk, each byte once: a chunk may have only one of the two kinds of line breaks. */
class LineEnds {
  readonly #chunk: Uint8Array;
  #feed = -1;
  #carriage = -1;

  constructor(chunk: Uint8Array) {
    this.#chunk = chunk;
  }

  /** The end of the line that begins there; negative if it is not there yet. The offsets of a chunk must not decrease. */
  after(from: number): number {
    if (this.#feed < from) this.#feed = this.#next(newline, from);
    if (this.#carriage < from) this.#carriage = this.#next(carriageReturn, from);
    const end = Math.min(this.#feed, this.#carriage);
    return end === Number.POSITIVE_INFINITY ? -1 : end;
  }

  #next(byte: number, from: number): number {
    const at = this.#chunk.indexOf(byte, from);
    return at < 0 ? Number.POSITIVE_INFINITY : at;
  }
}

/** A frame of a body, with its bytes as they were sent. */
export interface BodyFrame extends Omit<TimedRun, "last" | "w">, Pick<FrameEntry, "w" | "ev" | "cut"> {
  /** A whole body, or an event of an event stream. */
  readonly ch: "http" | "sse";
}

/** Cuts the body of an HTTP message into frames: each event of an event stream is one; any other body is one as a whole. */
export class BodyCutter {
  readonly #events: EventCutter | undefined;
  readonly #body = new TimedBytes();

  /** @param contentType the header, if there is one */
  constructor(contentType: string | null | undefined) {
    if (/^text\/event-stream\b/i.test(contentType ?? "")) this.#events = new EventCutter();
  }

  /** Whether the body is an event stream. */
  get isStream(): boolean {
    return this.#events !== undefined;
  }

  /** Takes the next bytes, which the caller must not write to again, and returns the frames that they complete. */
  push(bytes: Uint8Array, t: number): readonly BodyFrame[] {
    if (this.#events !== undefined) return this.#events.push(bytes, t).map((event) => ({ ch: "sse", ...event }));
    this.#body.append(bytes, t);
    return [];
  }

  /** Returns the last frame, if any: the whole body, or an event without its blank line. */
  end(how: "ended" | "aborted"): BodyFrame | undefined {
    const event = this.#events?.end();
    if (event !== undefined) return { ch: "sse", ...event, cut: how };
    if (this.#body.length === 0) return undefined;
    const { last, ...body } = this.#body.end();
    return { ch: "http", ...body, ...(how === "aborted" && { cut: how }) };
  }
}
