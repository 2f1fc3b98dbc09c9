import type { Readable, Writable } from "node:stream";

/** The maximum number of bytes that wait for a reader before the source is paused. */
export const mostWaiting: number = 64 * 1024;

/** Observers; each is called after the bytes are written. */
export interface ForwardEvents {
  /** Called with each chunk of bytes. */
  chunk(bytes: Uint8Array): void;
  /** Called when the source has ended, and everything is written. */
  ended(): void;
}

/** Rewrites bytes. The result is written at once; bytes that it holds back follow with the next chunk or at the end. */
export interface Rewriter {
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/**
 * Forwards every chunk at once, then the end, with the backpressure of a pipe. The caller handles the errors of the streams.
 */
export function forward(from: Readable, to: Writable, events: ForwardEvents, rewriter?: Rewriter): void {
  from.on("data", (bytes: Uint8Array) => {
    to.write(rewriter === undefined ? bytes : rewriter.push(bytes));
    if (to.writableLength > mostWaiting) from.pause();
    events.chunk(bytes);
  });
  to.on("drain", () => from.resume());
  from.on("end", () => {
    if (rewriter !== undefined) to.write(rewriter.end());
    to.end();
    events.ended();
  });
}
