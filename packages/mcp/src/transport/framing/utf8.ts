import type { FrameDecoder, UnfinishedFrame } from "../../base/framing.js";

/**
 * The maximum size of one frame in bytes, whatever limit is configured: a string of V8 cannot be longer (2^29 - 24).
 */
const longestText = 0x1fff_ff00;

/** The number of bytes kept from a rejected frame, so that its id can be found. */
export const headBytes: number = 64 * 1024;

// `ignoreBOM` keeps a byte order mark as text. Otherwise `decode` would drop it at the start of each call, that is, at
// arbitrary places.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const loose = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
const scratch = new Uint8Array(16 * 1024);

/**
 * Decodes `bytes`; undefined if they are not UTF-8.
 *
 * @example
 * decodeUtf8(Uint8Array.of(0xff)); // undefined
 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    // A fatal decoder throws for invalid bytes.
    return undefined;
  }
}

/** Decodes the first 64 KiB for display: invalid bytes become U+FFFD, and a character cut at the end is omitted. */
export function headOf(bytes: Uint8Array): string {
  if (bytes.length < headBytes) return loose.decode(bytes);
  // With `stream`, the decoder withholds an incomplete character at the end.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, headBytes), { stream: true });
}

/** The length of `text` in UTF-8; a lone surrogate counts as U+FFFD. */
export function utf8Length(text: string): number {
  // Encoding into a scratch buffer is faster than counting characters, at every length.
  let bytes = 0;
  for (let rest = text; ; ) {
    const { read, written } = encoder.encodeInto(rest, scratch);
    bytes += written;
    if (read === rest.length) return bytes;
    rest = rest.slice(read);
  }
}

/** Limits `maxBytes` to the largest frame that can be decoded. */
export function frameBound(maxBytes: number): number {
  if (!(maxBytes >= 1)) throw new RangeError(`the longest frame must have at least 1 byte, got a limit of ${maxBytes}`);
  return Math.min(maxBytes, longestText);
}

/** True if all bytes are JSON white space. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09 || byte === 0x0a);
}

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

  get unfinished(): UnfinishedFrame | undefined {
    return this.#decoder.unfinished;
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
