import type { Readable, Writable } from "node:stream";

/** Bytes that may wait for a reader before nothing more is read for it. */
const mostWaiting = 64 * 1024;

/** What to do beside forwarding; each is called when the bytes are on their way. */
export interface ForwardEvents {
  chunk(bytes: Uint8Array): void;
  /** There is nothing more, and what there was has been passed on. */
  ended(): void;
}

/**
 * Passes on every chunk as soon as it is there, then the end. Whoever reads slowly slows down the writer, as on one pipe;
 * and a reader that is gone is told to the writer in the way of the system: its pipe is closed.
 */
export function forward(from: Readable, to: Writable, events: ForwardEvents): void {
  let over = false;
  const end = (): void => {
    if (over) return;
    over = true;
    events.ended();
  };
  from.on("data", (bytes: Uint8Array) => {
    to.write(bytes);
    if (to.writableLength > mostWaiting) from.pause();
    events.chunk(bytes);
  });
  to.on("drain", () => from.resume());
  from.on("end", () => {
    to.end();
    end();
  });
  // A pipe that breaks has ended: there is nobody to tell but the other side, and it sees its own pipe close.
  from.on("error", () => {
    to.end();
    end();
  });
  to.on("error", () => {
    from.destroy();
    end();
  });
}
