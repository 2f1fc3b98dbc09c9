import type { ByteBudget } from "../../base/byte-budget.js";
import { headBytes } from "./utf8.js";

/** The number of bytes kept from the end: enough for a `Content-Length` field with spaces around its number. */
const tailBytes = 64;

const largeChunk = 4 * 1024;
const smallestBlock = 1024;
const largestBlock = 64 * 1024;
const largestIdleBlock = 4 * 1024;
const noBytes = new Uint8Array(0);

/** A run of bytes: complete in `head`, or truncated, with its first bytes in `head` and its last in `tail`. */
export interface ByteSpan {
  /** The first bytes. */
  readonly head: Uint8Array;
  /** The last bytes, if they lie apart from the first. */
  readonly tail?: Uint8Array;
  /** The number of all bytes. */
  readonly length: number;
  /** True if the run was truncated only because the budget was exhausted. */
  readonly hasNoRoom?: boolean;
}

/** The last bytes of a span, at most 64. */
export function tailOf({ head, tail = head }: ByteSpan): Uint8Array {
  return tail.subarray(-tailBytes);
}

/**
 * Buffers bytes until their end arrives. Up to `bound` bytes (at least 64 KiB) are kept; of a longer run only the head
 * (64 KiB, or as given by `head`), the tail and the length, so that memory stays constant.
 * Bytes beyond the head are charged to `budget`; if it is exhausted, the run is treated as too long. The head is free,
 * so that short messages such as cancellations still work when a peer has used up its budget.
 * Chunks are joined once, at the end, so a long frame in many chunks takes linear time. A chunk is kept by reference
 * only if it is large and fills most of its memory; otherwise a peer that sends single bytes would cost an object and a
 * read buffer for each.
 */
export class PartialFrame {
  readonly #bound: number;
  readonly #head: number;
  readonly #budget: ByteBudget | undefined;
  #hasNoRoom = false;
  #parts: Uint8Array[] = [];
  /** The buffer for copies of small chunks. Its first `#used` bytes follow `#parts`. */
  #block: Uint8Array = noBytes;
  #used = 0;
  #length = 0;
  /** Set once the run is truncated; `#parts` then contains only the head. */
  #tail: Uint8Array | undefined;

  constructor(bound: number, head: number = headBytes, budget?: ByteBudget) {
    this.#head = head;
    this.#budget = budget?.child();
    this.#bound = Math.max(bound, head);
  }

  /** The number of bytes received, whether kept or not. */
  get length(): number {
    return this.#length;
  }

  /** A copy of the first bytes, at most 64 KiB. */
  get beginning(): Uint8Array {
    const parts = [...this.#parts, this.#block.subarray(0, this.#used)];
    return fill(new Uint8Array(Math.min(this.#length, headBytes)), parts);
  }

  /** Appends bytes. They may be kept by reference, so the caller must not change them later. */
  append(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#tail !== undefined) shiftIn(this.#tail, bytes);
    else if (this.#length > this.#bound || !this.#isAffordable()) this.#keepEndsOnly(bytes);
    else if (bytes.length >= largeChunk && bytes.length * 2 >= bytes.buffer.byteLength) this.#keep(bytes);
    else this.#copy(bytes);
  }

  /** Appends the last bytes, returns the whole run and resets the buffer. The span is valid until the next call. */
  finish(last: Uint8Array = noBytes): ByteSpan {
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

  /** Whether the budget has room for the bytes received. */
  #isAffordable(): boolean {
    if (this.#length <= this.#head || this.#budget === undefined) return true;
    this.#hasNoRoom = !this.#budget.hold(this.#length - this.#head);
    return !this.#hasNoRoom;
  }

  #spanOf(bytes: Uint8Array): ByteSpan {
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
      // Block sizes grow with the run: few blocks for a long run, and a small one for an idle connection.
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

/** Copies as much of `parts` into `target` as fits. */
function fill(target: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  let at = 0;
  for (const part of parts) {
    target.set(part.subarray(0, target.length - at), at);
    at += part.length;
    if (at >= target.length) break;
  }
  return target;
}

/** Shifts `bytes` into `tail`, which keeps the last bytes of both. */
function shiftIn(tail: Uint8Array, bytes: Uint8Array): void {
  const last = bytes.subarray(-tail.length);
  tail.copyWithin(0, last.length);
  tail.set(last, tail.length - last.length);
}
