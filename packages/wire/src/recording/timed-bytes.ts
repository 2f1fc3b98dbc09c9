import { PartialFrame } from "@parlance/mcp/jsonrpc";

/** Bytes that are kept of one frame: whoever sends more fills no recording, and no memory. */
const mostKept = 16 * 1024 * 1024;

/** Chunks of one frame whose times are kept: a frame that comes byte by byte is told as exactly as that, up to here. */
const mostWrites = 1_024;

const nothing = new Uint8Array(0);

/** A run of bytes, and when its chunks came. */
export interface TimedRun {
  /** All of them, or the beginning where there are fewer than `len`. */
  readonly bytes: Uint8Array;
  readonly len: number;
  /** The last byte, whether it is kept or not. */
  readonly last: number | undefined;
  readonly t: number;
  readonly t1: number;
  /** Offset and time of every chunk after the first. */
  readonly w: readonly (readonly [offset: number, t: number])[];
}

/** Gathers the bytes of one frame as they come, with their times, in bounded memory. */
export class TimedBytes {
  readonly #held = new PartialFrame(mostKept, mostKept);
  #began = 0;
  #last = 0;
  #writes: (readonly [offset: number, t: number])[] = [];

  /** How many there are. */
  get length(): number {
    return this.#held.length;
  }

  /** The arrival of the last of them. */
  get last(): number {
    return this.#last;
  }

  /** Takes the next bytes, which the caller must not write to again. */
  append(bytes: Uint8Array, t: number): void {
    this.#mark(t);
    this.#held.append(bytes);
  }

  /** Takes the last bytes, which may be none, and gives the whole run. */
  finish(bytes: Uint8Array, t: number): TimedRun {
    this.#mark(t);
    return this.#run(bytes);
  }

  /** There are no more: gives the whole run, and starts anew. */
  end(): TimedRun {
    return this.#run(nothing);
  }

  #run(last: Uint8Array): TimedRun {
    const isGathered = this.length > 0;
    const { head, length: len, tail = head } = this.#held.finish(last);
    const w = this.#writes;
    this.#writes = [];
    // What was gathered is overwritten by what is gathered next.
    const bytes = isGathered ? head.slice() : head;
    return { bytes, len, last: tail.at(-1), t: this.#began, t1: this.#last, w };
  }

  /** Forgets what has come. */
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
