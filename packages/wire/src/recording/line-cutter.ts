import { TimedBytes, type TimedRun } from "./timed-bytes.js";

const newline = 0x0a;
const carriageReturn = 0x0d;

/** A line, byte for byte, without its line break. */
export interface CutLine extends Omit<TimedRun, "last"> {
  readonly nl: "\n" | "\r\n" | "";
}

/** Cuts the bytes of one direction of stdio into lines. Blank lines count, and a byte order mark is text. */
export class LineCutter {
  readonly #line = new TimedBytes();
  /** The next bytes are the rest of a line whose beginning was lost. */
  #skips = false;

  /** Bytes of the unfinished line. */
  get held(): number {
    return this.#line.length;
  }

  /** The arrival of the last of them. */
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

  /** Ends the stream and returns the line that no line break ends. */
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
