import { decodeBase64, decodeUtf8, encodeBase64 } from "@parlance/mcp/protocol";
import { JsonText } from "../json/json-scan.js";
import type { Direction, FrameEntry, RecordedBytes } from "./entry.js";

/** Who sends messages. */
export type Sender = "client" | "server";

/** The party at fault: a side, the host program, or the author of an injected frame. */
export type Party = Sender | "host" | "injected";

const encoder = new TextEncoder();

/** The number of frames whose bytes and JSON are cached. A rule or a view compares a frame with a few others. */
const mostRead = 8;
const read: Frame[] = [];

/**
 * One frame, with its bytes. Makes its bytes and JSON from the entry on access, and caches them while it is one of the last frames read: a long
 * conversation then holds the text of every frame, and not three times as much.
 */
export class Frame {
  /** The entry of the recording. */
  readonly entry: FrameEntry;
  #bytes: Uint8Array | undefined;
  #json: JsonText | undefined;
  #isPlain: boolean | undefined;

  constructor(entry: FrameEntry) {
    this.entry = entry;
  }

  /** The number of the observation. */
  get n(): number {
    return this.entry.n;
  }

  /** The side that sent it. */
  get from(): Sender {
    return senderOf(this.entry.d);
  }

  /** Whether the bytes are complete: the recorder keeps only the beginning of a very long frame. */
  get whole(): boolean {
    return this.entry.kept === undefined;
  }

  /** The bytes as they were sent, without the line end. */
  get bytes(): Uint8Array {
    if (this.#bytes === undefined) {
      this.#keep();
      this.#bytes = pooledBytesOf(this.entry);
    }
    return this.#bytes;
  }

  /** The bytes as JSON. */
  get json(): JsonText {
    if (this.#json === undefined) {
      this.#keep();
      this.#json = new JsonText(this.entry.raw, this, this.#isPlain);
    }
    return this.#json;
  }

  #keep(): void {
    if (this.#bytes !== undefined || this.#json !== undefined) return;
    read.push(this);
    const oldest = read.length > mostRead ? read.shift() : undefined;
    if (oldest !== undefined) oldest.#drop();
  }

  #drop(): void {
    this.#isPlain ??= this.#json?.isPlain;
    this.#bytes = undefined;
    this.#json = undefined;
  }
}

/** The side that sends in a direction. */
export function senderOf(direction: Direction): Sender {
  return direction === "c2s" ? "client" : "server";
}

/** The side that receives what a side sends. */
export function otherSide(side: Sender): Sender {
  return side === "client" ? "server" : "client";
}

/** The direction of what a side sends. */
export function directionOf(side: Sender): Direction {
  return side === "client" ? "c2s" : "s2c";
}

/**
 * The bytes that a line of a recording holds; empty for invalid base64.
 *
 * @example
 * const text = new TextDecoder().decode(bytesOf(frame));
 */
export function bytesOf({ raw, b64 }: RecordedBytes): Uint8Array {
  if (raw !== undefined) return encoder.encode(raw);
  return decodeBase64(b64) ?? new Uint8Array(0);
}

/** The size of a pool in bytes, and the maximum size of a text that is encoded into one. */
const poolSize = 1 << 18;
const mostPooled = 1 << 14;
/** The maximum number of bytes of a UTF-16 code unit in UTF-8. */
const mostPerCharacter = 3;
let pool = new Uint8Array(0);
let pooled = 0;

/**
 * Like `bytesOf`, but in a part of a larger buffer: 200,000 separate buffers would take more time and memory than their contents.
 */
export function pooledBytesOf(recorded: RecordedBytes): Uint8Array {
  const { raw } = recorded;
  if (raw === undefined || raw.length > mostPooled) return bytesOf(recorded);
  if (pooled + raw.length * mostPerCharacter > pool.length) {
    pool = new Uint8Array(poolSize);
    pooled = 0;
  }
  const start = pooled;
  pooled += encoder.encodeInto(raw, pool.subarray(start)).written;
  return pool.subarray(start, pooled);
}

/**
 * Bytes as a line of a recording holds them.
 *
 * @example
 * const entry: Entry = { k: "e", n: 7, s: "1", t: 12.5, ...recordedBytes(bytes) };
 */
export function recordedBytes(bytes: Uint8Array): RecordedBytes {
  const raw = decodeUtf8(bytes);
  return raw === undefined ? { b64: encodeBase64(bytes) } : { raw };
}

/** The bytes of the pieces, in their order. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The party responsible for a frame. */
export function partyOf({ entry, from }: Frame): Party {
  return entry.by === undefined ? from : "injected";
}
