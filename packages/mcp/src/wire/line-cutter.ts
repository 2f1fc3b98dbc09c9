import { tailOf, Unfinished } from "../framing/unfinished.js";

/** Bytes that are kept of one line: whoever sends more fills no recording, and no memory. */
const mostKept = 16 * 1024 * 1024;

/** Chunks of one line whose times are kept: a line that comes byte by byte is told as exactly as that, up to here. */
const mostWrites = 1_024;

const newline = 0x0a;
const carriageReturn = 0x0d;

/** A line as it crossed, with the times of its chunks. */
export interface CutLine {
  /** Without what ends the line; no more than the beginning where there are fewer than `len`. */
  readonly bytes: Uint8Array;
  readonly len: number;
  readonly nl: "\n" | "\r\n" | "";
  readonly t: number;
  readonly t1: number;
  readonly w: readonly (readonly [offset: number, t: number])[];
}

/** Cuts the bytes of one direction of stdio into lines, and loses none: blank lines are lines, and a mark is text. */
export class LineCutter {
  readonly #held = new Unfinished(mostKept, mostKept);
  #began = 0;
  #last = 0;
  #writes: (readonly [offset: number, t: number])[] = [];
  /** What comes is the rest of a line whose beginning was lost. */
  #skips = false;

  /** Bytes of a line that has not ended. */
  get held(): number {
    return this.#held.length;
  }

  /** When the last of them came. */
  get last(): number {
    return this.#last;
  }

  /** Takes the next bytes, which the caller must not write to again, and gives the lines that they end. */
  push(chunk: Uint8Array, t: number): readonly CutLine[] {
    const lines: CutLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(newline); to >= 0; to = chunk.indexOf(newline, from)) {
      if (this.#skips) this.#skips = false;
      else lines.push(this.#finish(chunk.subarray(from, to), t, true));
      from = to + 1;
    }
    if (from < chunk.length && !this.#skips) {
      this.#mark(t);
      this.#held.append(chunk.subarray(from));
    }
    return lines;
  }

  /** There is nothing more: gives the line that no line break ends. */
  end(): CutLine | undefined {
    return this.held === 0 ? undefined : this.#finish(new Uint8Array(0), this.#last, false);
  }

  /** Bytes are missing from here on; where they end within a line, its rest is passed over too. */
  skip(endsWithinLine: boolean): void {
    this.#held.finish();
    this.#writes = [];
    this.#skips = endsWithinLine;
  }

  /** A chunk that belongs to the line begins here. */
  #mark(t: number): void {
    if (this.held === 0) this.#began = t;
    else if (this.#writes.length < mostWrites) this.#writes.push([this.held, t]);
    this.#last = t;
  }

  #finish(last: Uint8Array, t: number, ended: boolean): CutLine {
    if (ended) this.#mark(t);
    const span = this.#held.finish(last);
    const isCrLf = ended && tailOf(span).at(-1) === carriageReturn;
    const len = isCrLf ? span.length - 1 : span.length;
    const w = this.#writes;
    this.#writes = [];
    const nl = isCrLf ? "\r\n" : ended ? "\n" : "";
    return { bytes: span.head.subarray(0, len), len, nl, t: this.#began, t1: t, w };
  }
}
