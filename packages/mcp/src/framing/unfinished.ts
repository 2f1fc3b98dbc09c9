import type { ByteBudget } from "../base/byte-budget.js";
import { headBytes } from "./utf8.js";

/** How many bytes of the end are kept: room for a `Content-Length` field with spaces around its number. */
const tailBytes = 64;

const largeChunk = 4 * 1024;
const smallestBlock = 1024;
const largestBlock = 64 * 1024;
const largestIdleBlock = 4 * 1024;
const noBytes = new Uint8Array(0);

/** A run of bytes: all of it in `head`, or its first bytes there and its last in `tail`. */
export interface Span {
  readonly head: Uint8Array;
  readonly tail?: Uint8Array;
  readonly length: number;
  /** It would have been kept whole, had the budget had room for it. */
  readonly hasNoRoom?: boolean;
}

/** The last bytes of a span, at most 64. */
export function tailOf({ head, tail = head }: Span): Uint8Array {
  return tail.subarray(-tailBytes);
}

/**
 * Collects bytes whose end has not arrived. Up to `bound` bytes (at least 64 KiB) are kept; beyond it only the head (64
 * KiB, or as much as `head` says), the tail and the count are, so that any amount can pass in constant memory.
 *
 * What is kept beyond the head is charged to `budget`; where that has no room, the run is treated like one that is too long.
 * The head is free, so short messages, cancellations among them, come through when a peer has used up its budget.
 *
 * Chunks are joined once, at the end, so a long frame in many chunks takes linear time. A chunk is kept as it is only
 * if it is large and most of its memory: a peer that sends single bytes would otherwise cost an object and a read
 * buffer for each of them.
 */
export class Unfinished {
  readonly #bound: number;
  readonly #head: number;
  readonly #budget: ByteBudget | undefined;
  #hasNoRoom = false;
  #parts: Uint8Array[] = [];
  /** Where small chunks are copied to; its first `#used` bytes come behind `#parts`. */
  #block: Uint8Array = noBytes;
  #used = 0;
  #length = 0;
  /** There once the bytes are too many; the only part is the head then. */
  #tail: Uint8Array | undefined;

  constructor(bound: number, head: number = headBytes, budget?: ByteBudget) {
    this.#head = head;
    this.#budget = budget?.child();
    this.#bound = Math.max(bound, head);
  }

  /** How many bytes have come, kept or not. */
  get length(): number {
    return this.#length;
  }

  /** Takes the next bytes. They may be kept, so the caller must not write to them again. */
  append(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#tail !== undefined) shiftIn(this.#tail, bytes);
    else if (this.#length > this.#bound || !this.#isAffordable()) this.#keepEndsOnly(bytes);
    else if (bytes.length >= largeChunk && bytes.length * 2 >= bytes.buffer.byteLength) this.#keep(bytes);
    else this.#copy(bytes);
  }

  /** Takes the last bytes, gives the whole run and starts anew. The span is valid until the next call. */
  finish(last: Uint8Array = noBytes): Span {
    if (this.#length === 0) return this.#spanOf(last);
    this.append(last);
    const bytes = this.#joined();
    const span =
      this.#tail === undefined
        ? this.#spanOf(bytes)
        : { head: bytes, tail: this.#tail, length: this.#length, hasNoRoom: this.#hasNoRoom };
    if (this.#parts.length > 0 || this.#block.length > largestIdleBlock) this.#block = noBytes;
    this.#parts = [];
    this.#used = 0;
    this.#length = 0;
    this.#tail = undefined;
    this.#hasNoRoom = false;
    this.#budget?.hold(0);
    return span;
  }

  /** Whether the budget has room for the bytes that have come. */
  #isAffordable(): boolean {
    if (this.#length <= this.#head || this.#budget === undefined) return true;
    this.#hasNoRoom = !this.#budget.hold(this.#length - this.#head);
    return !this.#hasNoRoom;
  }

  #spanOf(bytes: Uint8Array): Span {
    const { length } = bytes;
    return length <= this.#bound
      ? { head: bytes, length }
      : { head: bytes.subarray(0, this.#head), tail: bytes, length };
  }

  #keep(bytes: Uint8Array): void {
    this.#sealBlock();
    this.#parts.push(bytes);
  }

  #copy(bytes: Uint8Array): void {
    if (this.#used + bytes.length > this.#block.length) {
      this.#sealBlock();
      // Blocks grow with the run, so that there are few of them and an idle connection has a small one.
      const size = Math.min(Math.max(this.#length, smallestBlock), largestBlock);
      this.#block = new Uint8Array(Math.max(size, bytes.length));
    }
    this.#block.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #sealBlock(): void {
    if (this.#used === 0) return;
    this.#parts.push(this.#block.subarray(0, this.#used));
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }

  #joined(): Uint8Array {
    if (this.#parts.length === 0) return this.#block.subarray(0, this.#used);
    this.#sealBlock();
    const [first = noBytes] = this.#parts;
    return this.#parts.length === 1 ? first : fill(new Uint8Array(this.#length), this.#parts);
  }

  #keepEndsOnly(bytes: Uint8Array): void {
    this.#sealBlock();
    const all = [...this.#parts, bytes];
    const tail = new Uint8Array(tailBytes);
    for (const part of all) shiftIn(tail, part);
    this.#parts = [fill(new Uint8Array(this.#head), all)];
    this.#budget?.hold(0);
    this.#block = noBytes;
    this.#tail = tail;
  }
}

/** Copies as many of the bytes in `parts` into `target` as it has room for. */
function fill(target: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  let at = 0;
  for (const part of parts) {
    target.set(part.subarray(0, target.length - at), at);
    at += part.length;
    if (at >= target.length) break;
  }
  return target;
}

/** Keeps in `tail` the last bytes of what it held followed by `bytes`. */
function shiftIn(tail: Uint8Array, bytes: Uint8Array): void {
  const last = bytes.subarray(-tail.length);
  tail.copyWithin(0, last.length);
  tail.set(last, tail.length - last.length);
}
