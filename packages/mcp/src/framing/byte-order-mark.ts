import type { FrameDecoder } from "../base/frame.js";

const mark = Uint8Array.of(0xef, 0xbb, 0xbf);

/** `decoder` for a stream that may start with a UTF-8 byte order mark, which some editors and shells on Windows write. */
export function skipByteOrderMark(decoder: FrameDecoder): FrameDecoder {
  return new MarkSkipper(decoder);
}

class MarkSkipper implements FrameDecoder {
  readonly #decoder: FrameDecoder;
  #phase: "start" | "behind" = "start";
  /** What was held back is a beginning of the mark, so its length says it all. */
  #held = 0;

  constructor(decoder: FrameDecoder) {
    this.#decoder = decoder;
  }

  push(chunk: Uint8Array): void {
    this.#decoder.push(this.#phase === "behind" ? chunk : this.#start(chunk));
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
    if (this.#held === mark.length) this.#phase = "behind";
    else if (at < chunk.length) this.#release();
    return chunk.subarray(at);
  }

  /** It was no mark: what was held back belongs to the first frame. */
  #release(): void {
    this.#phase = "behind";
    this.#decoder.push(mark.subarray(0, this.#held));
  }
}
