import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { EventCutter, TimedBytes } from "@parlance/wire";
import type { ObservedFrame } from "../../shared/recorder/observation.js";
import { type HeaderList, headerValue } from "./headers.js";

/** A frame that its exchange has yet to give a number and a session. */
export type BodyFrame = Omit<ObservedFrame, "s" | "d" | "req">;

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

/**
 * Takes a body apart as it passes: each event of an event stream is a frame, any other body is one. What is compressed
 * is recorded as it reads; it passes as it is.
 */
export class BodyRecord {
  readonly #write: (frame: BodyFrame) => void;
  readonly #events: EventCutter | undefined;
  readonly #body = new TimedBytes();
  readonly #decoder: Transform | undefined;
  readonly #decoded: Promise<void> | undefined;
  #t = 0;

  constructor(headers: HeaderList, write: (frame: BodyFrame) => void) {
    this.#write = write;
    const type = headerValue(headers, "content-type") ?? "";
    if (/^text\/event-stream\b/i.test(type)) this.#events = new EventCutter();
    this.#decoder = decoders[headerValue(headers, "content-encoding")?.toLowerCase() ?? ""]?.();
    if (this.#decoder !== undefined) this.#decoded = this.#decode(this.#decoder);
  }

  /** Takes the next bytes. */
  push(bytes: Uint8Array, t: number): void {
    this.#t = t;
    if (this.#decoder === undefined) this.#take(bytes);
    else if (this.#decoder.writable) this.#decoder.write(bytes);
  }

  /** There is nothing more. What it gives, if anything, resolves when all of it is written down. */
  end(how: "ended" | "aborted"): Promise<void> | undefined {
    this.#decoder?.end();
    if (this.#decoded !== undefined) return this.#decoded.then(() => this.#finish(how));
    this.#finish(how);
    return undefined;
  }

  #finish(how: "ended" | "aborted"): void {
    const rest = this.#events?.end();
    if (rest !== undefined) this.#write({ ch: "sse", ...rest, cut: how });
    if (this.#body.length === 0) return;
    this.#write({ ch: "http", ...this.#body.end(), ...(how === "aborted" && { cut: how }) });
  }

  #take(bytes: Uint8Array): void {
    if (this.#events === undefined) this.#body.append(bytes, this.#t);
    else for (const event of this.#events.push(bytes, this.#t)) this.#write({ ch: "sse", ...event });
  }

  #decode(decoder: Transform): Promise<void> {
    decoder.on("data", (bytes: Uint8Array) => this.#take(bytes));
    return new Promise((resolve) => {
      decoder.on("end", resolve);
      // Broken off, or not what it says it is: what could be read is recorded.
      decoder.on("error", () => resolve());
    });
  }
}
