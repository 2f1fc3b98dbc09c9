import type { Entry, FrameEntry } from "../recording/entry.js";
import { recordedBytes } from "../recording/frame.js";

/** Which way a frame went, over which channel, and in which HTTP exchange. */
export type FramePlace = Pick<FrameEntry, "s" | "d" | "ch" | "req" | "ev" | "cut"> & Partial<Pick<FrameEntry, "nl">>;

/** Numbers and times the entries of one recording, however many connections they come from. */
export class EntryWriter {
  readonly #start = performance.now();
  readonly #onEntry: (entry: Entry) => void;
  #n = 0;
  #exchange = 0;

  constructor(onEntry: (entry: Entry) => void) {
    this.#onEntry = onEntry;
  }

  /** Milliseconds since the recording began. */
  get now(): number {
    return Math.round((performance.now() - this.#start) * 1_000) / 1_000;
  }

  /** The number of an HTTP exchange that begins. */
  nextExchange(): number {
    this.#exchange += 1;
    return this.#exchange;
  }

  /** Records an observation of this moment. */
  write(make: (n: number, t: number) => Entry): void {
    this.#n += 1;
    this.#onEntry(make(this.#n, this.now));
  }

  /** Records a frame. @param len its length, where `bytes` is no more than its beginning */
  frame(bytes: Uint8Array, { s, d, ch, nl = "", ...more }: FramePlace, len: number = bytes.length): void {
    const kept = bytes.length < len ? { kept: bytes.length } : {};
    this.write((n, t) => ({ k: "f", n, s, t, d, ch, len, nl, ...kept, ...more, ...recordedBytes(bytes) }));
  }
}
