import { createHash } from "node:crypto";
import type { Entry, RecordingItem } from "@parlance/wire";

type EndEntry = Extract<Entry, { k: "end" }>;
type LinePlace = Extract<RecordingItem, { place: unknown }>["place"];
type RecordingDamage = NonNullable<RecordingItem["damage"]>;

const newline = 0x0a;

/** Compares the checksum in the end entry with the lines before it. */
export class Checksum {
  readonly #hash = createHash("sha256");
  /** Bytes that are hashed: whole lines. */
  #hashed = 0;
  /** The beginning of an incomplete line, which may be the end entry. */
  #rest: Uint8Array[] = [];

  /** Takes the next bytes. The lines that they end must have been checked before. */
  push(chunk: Uint8Array): void {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end > 0) {
      for (const part of [...this.#rest, chunk.subarray(0, end)]) this.#update(part);
      this.#rest = [];
    }
    // Copy: the reader reuses its buffer.
    if (end < chunk.length) this.#rest.push(chunk.slice(end));
  }

  /** What is wrong with the last line, which stands in these bytes or has begun before them. */
  check({ sha256 }: EndEntry, place: LinePlace, chunk: Uint8Array): RecordingDamage | undefined {
    const before = Buffer.concat([...this.#rest, chunk]).subarray(0, place.offset - this.#hashed);
    const found = this.#hash.copy().update(before).digest("hex");
    if (found === sha256.toLowerCase()) return undefined;
    return {
      ...place,
      says: "the lines before it are not those that were written: their SHA-256 differs",
      torn: false,
    };
  }

  #update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#hashed += bytes.length;
  }
}
