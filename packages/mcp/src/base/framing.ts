import type { ByteBudget } from "./byte-budget.js";

/** Why something that came could not become a frame. `no-room`: the receiver's budget has no room for a frame of its length. */
export type FrameRefusalReason = "too-long" | "not-utf8" | "not-text" | "bad-header" | "truncated" | "no-room";

/** Bytes that a framing had to give up on. The stream goes on behind them, unless the reason is `truncated`. */
export interface FrameRefusal {
  /** The bound or rule that the bytes break. */
  readonly reason: FrameRefusalReason;
  /** One sentence for a person: what was received and which bound or rule it broke. */
  readonly message: string;
  /** The first bytes as text, at most 64 KiB, so that an id can be looked for. */
  readonly head: string;
  /** How many bytes were given up. */
  readonly bytes: number;
  /** All of them, of a whole line that is `not-utf8`: for a receiver that knows another encoding. */
  readonly raw?: Uint8Array;
}

/** Where a framing puts what it finds: synchronously and in arrival order. */
export interface FrameSink {
  /** Is charged for what is kept of a frame whose end has not come. Default: nothing is counted. */
  readonly budget?: ByteBudget | undefined;
  /** Receives a whole frame as text. */
  frame(text: string): void;
  /** Receives bytes that did not become a frame. Decoding goes on after them. */
  refuse(refusal: FrameRefusal): void;
}

/** Bytes in, frames out. No I/O, no timers; the same bytes give the same frames in every chunking. */
export interface FrameDecoder {
  /** Takes the next bytes of the stream, in order. The frames in them go to the sink before it returns. */
  push(chunk: Uint8Array): void;
  /** The stream is over: an unfinished frame is refused as `truncated`. */
  end(): void;
}

/** How frames lie in a byte stream. */
export interface Framing {
  /** The name of the framing, for messages and recordings. */
  readonly name: string;
  /** One frame as it is written. */
  encode(text: string): string;
  /** `maxBytes`: the longest frame to accept; a longer one is skipped in constant memory and refused. */
  decoder(sink: FrameSink, maxBytes: number): FrameDecoder;
}
