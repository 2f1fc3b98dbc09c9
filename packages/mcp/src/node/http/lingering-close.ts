import type { IncomingMessage, ServerResponse } from "node:http";
import { networkOf } from "../../http/server/peers.js";

/** Milliseconds and bytes for which the rest of a request is read after its response. */
const lingerTime = 10_000;
const lingerBytes = 64 * 1024 * 1024;

/**
 * The maximum number of connections per network address that are read on at once, so that rejected bodies do not slow
 * down other clients.
 */
const mostLingering = 32;

/**
 * Milliseconds between two chunks of at most 64 KiB, for all connections of an address together: 4 MiB take about 0.13 s.
 * Each chunk is memory that the garbage collector frees; without a pause it would run all the time.
 */
const lingerPause = 2;

/** The connections of one network address that are read on, in turns. */
class Lingering {
  /** By network address. */
  static readonly #all = new Map<string, Lingering>();
  readonly #address: string;
  #open = 0;
  /** Those that have been read since their last turn. */
  readonly #paused: IncomingMessage[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(address: string) {
    this.#address = address;
  }

  static of(address: string): Lingering {
    const known = Lingering.#all.get(address);
    if (known !== undefined) return known;
    const added = new Lingering(address);
    Lingering.#all.set(address, added);
    return added;
  }

  /** Reads and discards a request's body. Returns false if as many others are read already. */
  discard(request: IncomingMessage): boolean {
    if (this.#open >= mostLingering) return false;
    this.#open += 1;
    let left = lingerBytes;
    request.on("data", (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) request.socket.destroy();
      request.pause();
      this.#paused.push(request);
      this.#timer ??= setInterval(() => this.#next(), lingerPause).unref();
    });
    request.socket.once("close", () => {
      this.#open -= 1;
      if (this.#open === 0) Lingering.#all.delete(this.#address);
    });
    return true;
  }

  #next(): void {
    const request = this.#paused.shift();
    if (request !== undefined) request.resume();
    else {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}

/**
 * Closes the connection after a response that was sent before the end of the request. Closing with unread bytes would
 * reset the connection, and the client may lose the response. So this side closes its half, then reads and discards
 * until the client closes.
 * https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
export function closeLingering(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  if (request.httpVersionMajor !== 1) return; // An HTTP/2 stream is closed without its connection.
  if (!Lingering.of(networkOf(socket.remoteAddress) ?? "unknown").discard(request)) {
    // Node would go on to read until its half is closed: up to 2 MiB.
    socket.destroySoon = () => socket.destroy();
    return;
  }
  // Node calls this when the response is written.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerTime).unref();
    socket.once("close", () => clearTimeout(timer));
    if (request.readableEnded) socket.destroy();
    else request.once("end", () => socket.destroy());
  };
  response.once("close", () => request.resume());
  request.resume();
}
