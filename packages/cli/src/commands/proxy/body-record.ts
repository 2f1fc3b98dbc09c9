import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { BodyCutter } from "@parlance/wire";
import { type HeaderList, headerValue } from "./headers.js";

type BodyFrame = ReturnType<BodyCutter["push"]>[number];

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

/** Records a body while it passes. A compressed body is recorded decompressed and forwarded unchanged. */
export class BodyRecord {
  readonly #write: (frame: BodyFrame) => void;
  readonly #cutter: BodyCutter;
  readonly #decoder: Transform | undefined;
  readonly #decoded: Promise<void> | undefined;
  #t = 0;

  constructor(headers: HeaderList, write: (frame: BodyFrame) => void) {
    this.#write = write;
    this.#cutter = new BodyCutter(headerValue(headers, "content-type"));
    this.#decoder = decoders[headerValue(headers, "content-encoding")?.toLowerCase() ?? ""]?.();
    if (this.#decoder !== undefined) this.#decoded = this.#decode(this.#decoder);
  }

  /** Takes the next bytes. */
  push(bytes: Uint8Array, t: number): void {
    this.#t = t;
    if (this.#decoder === undefined) this.#take(bytes);
    else if (this.#decoder.writable) this.#decoder.write(bytes);
  }

  /** The body has ended. The promise, if any, resolves when everything is recorded. */
  end(how: "ended" | "aborted"): Promise<void> | undefined {
    this.#decoder?.end();
    if (this.#decoded !== undefined) return this.#decoded.then(() => this.#finish(how));
    this.#finish(how);
    return undefined;
  }

  #finish(how: "ended" | "aborted"): void {
    const last = this.#cutter.end(how);
    if (last !== undefined) this.#write(last);
  }

  #take(bytes: Uint8Array): void {
    for (const frame of this.#cutter.push(bytes, this.#t)) this.#write(frame);
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
