import { decodeBase64, decodeUtf8, encodeBase64 } from "@parlance/mcp/protocol";
import type { Direction, FrameEntry, RecordedBytes } from "./entry.js";

/** Who sends messages. */
export type Sender = "client" | "server";

/** The party at fault: a side, the host program, or the author of an injected frame. */
export type Party = Sender | "host" | "injected";

/** One frame, with its bytes. */
export interface Frame {
  readonly entry: FrameEntry;
  readonly n: number;
  readonly from: Sender;
  /** As they crossed, without what ends the frame. */
  readonly bytes: Uint8Array;
  /** Whether they are all here: the recorder keeps no more than the beginning of what is very long. */
  readonly whole: boolean;
  /** Drops the bytes until they are asked for again: the line that holds them is kept anyway. */
  forget(): void;
}

const encoder = new TextEncoder();

/** The frame that a line of a recording holds. */
export function frameOf(entry: FrameEntry): Frame {
  return new RecordedFrame(entry);
}

class RecordedFrame implements Frame {
  readonly entry: FrameEntry;
  #bytes: Uint8Array | undefined;

  constructor(entry: FrameEntry) {
    this.entry = entry;
  }

  get n(): number {
    return this.entry.n;
  }

  get from(): Sender {
    return senderOf(this.entry.d);
  }

  get bytes(): Uint8Array {
    this.#bytes ??= bytesOf(this.entry);
    return this.#bytes;
  }

  get whole(): boolean {
    return this.entry.kept === undefined;
  }

  forget(): void {
    this.#bytes = undefined;
  }
}

/** The side that sends this way. */
export function senderOf(direction: Direction): Sender {
  return direction === "c2s" ? "client" : "server";
}

/** The bytes that a line of a recording holds; base64 that is none gives no bytes. */
export function bytesOf({ raw, b64 }: RecordedBytes): Uint8Array {
  if (raw !== undefined) return encoder.encode(raw);
  return decodeBase64(b64) ?? new Uint8Array(0);
}

/** Bytes as a line of a recording holds them. */
export function recordedBytes(bytes: Uint8Array): RecordedBytes {
  const raw = decodeUtf8(bytes);
  return raw === undefined ? { b64: encodeBase64(bytes) } : { raw };
}

/** Whoever is to be blamed for a frame. */
export function partyOf({ entry, from }: Frame): Party {
  return entry.by === undefined ? from : "injected";
}
