import type { ByteBudget } from "./byte-budget.js";

/** Why received bytes could not become a frame. `no-room`: the receiver's budget has no room for a frame of this length. */
export type FrameRefusalReason = "too-long" | "not-utf8" | "not-text" | "bad-header" | "truncated" | "no-room";

/** Bytes that a framing refused. Decoding continues after them, unless the reason is `truncated`. */
export interface FrameRefusal {
  /** The limit or rule that the bytes break. */
  readonly reason: FrameRefusalReason;
  /** A message for people: the received bytes, and the limit or rule that they broke. */
  readonly message: string;
  /** The first bytes as text, at most 64 KiB, so that an id can be found. */
  readonly head: string;
  /** The number of refused bytes. */
  readonly bytes: number;
  /** All bytes of a complete line that is `not-utf8`, for a receiver that supports another encoding. */
  readonly raw?: Uint8Array;
}

/** Receives the results of a framing, synchronously and in order. */
export interface FrameSink {
  /** The budget that is charged for an incomplete frame. Default: incomplete frames are not counted. */
  readonly budget?: ByteBudget | undefined;
  /** Receives a complete frame as text. */
  frame(text: string): void;
  /** Receives refused bytes. Decoding continues after them. */
  refuse(refusal: FrameRefusal): void;
}

/** The beginning of a frame whose end has not arrived. */
export interface UnfinishedFrame {
  /** The number of bytes that have arrived. */
  readonly bytes: number;
  /** The first bytes as text, at most 64 KiB. */
  readonly head: string;
  /** The missing part, in words that end a sentence, e.g. `the newline that ends it`. */
  readonly missing: string;
}

/** Decodes bytes to frames. It does no I/O and has no timers; the same bytes yield the same frames, however they are chunked. */
export interface FrameDecoder {
  /** Takes the next bytes of the stream, in order. The frames in them go to the sink before it returns. */
  push(chunk: Uint8Array): void;
  /** Ends the stream: an incomplete frame is refused as `truncated`. */
  end(): void;
  /** The frame of which only the beginning has arrived. It explains why a response is missing. */
  readonly unfinished?: UnfinishedFrame | undefined;
}

/** The encoding of frames in a byte stream. */
export interface Framing {
  /** The name of the framing, for messages and recordings. */
  readonly name: string;
  /** The text of one frame on the stream. */
  encode(text: string): string;
  /** `maxBytes`: the longest frame to accept; a longer one is skipped in constant memory and refused. */
  decoder(sink: FrameSink, maxBytes: number): FrameDecoder;
}
