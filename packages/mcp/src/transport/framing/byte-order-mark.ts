import type { FrameDecoder } from "../../base/framing.js";

const mark = Uint8Array.of(0xef, 0xbb, 0xbf);

/**
 * Wraps a decoder for a stream that may start with a UTF-8 byte order mark, which some Windows editors and shells
 * write.
 */
export function skipByteOrderMark(decoder: FrameDecoder): FrameDecoder {
  return new MarkSkipper(decoder);
}

class MarkSkipper implements FrameDecoder {
  readonly #decoder: FrameDecoder;
  #phase: "start" | "behind" = "start";
  /** Replaced by the method of the decoder after the start, so that no later chunk passes through here. */
  push: (chunk: Uint8Array) => void;
  /** The number of bytes of the mark received so far. */
  #held = 0;

  constructor(decoder: FrameDecoder) {
    this.#decoder = decoder;
    this.push = (chunk) => decoder.push(this.#start(chunk));
  }

  end(): void {
    if (this.#phase === "start") this.#release();
    this.#decoder.end();
  }

  #start(chunk: Uint8Array): Uint8Array {
    let at = 0;
    while (at < chunk.length && this.#held < mark.length && chunk[at] === mark[this.#held]) {
      at += 1;
      this.#held += 1;
    }
    if (this.#held === mark.length) this.#leaveStart();
    else if (at < chunk.length) this.#release();
    return chunk.subarray(at);
  }

  /** It was not a mark: pass the bytes that were held back to the decoder. */
  #release(): void {
    this.#leaveStart();
    this.#decoder.push(mark.subarray(0, this.#held));
  }

  #leaveStart(): void {
    this.#phase = "behind";
    this.push = this.#decoder.push.bind(this.#decoder);
  }
}
