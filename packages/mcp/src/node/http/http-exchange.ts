import type { IncomingMessage, ServerResponse } from "node:http";
import { type Deferred, deferred } from "../../base/deferred.js";
import { networkOf } from "../../http/server/peers.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "../../http/server/request.js";
import type { EventSink, EventStream } from "../../http/server/streams/event-stream.js";
import { NodeRequest } from "./node-request.js";

/**
 * A `node:http` request as `HttpRequest`, and the sending of its response. One object for both, because each request
 * costs one.
 */
export class NodeExchange extends NodeRequest implements HttpRequest, EventSink {
  readonly #response: ServerResponse;
  #onGone: (() => void) | undefined;
  /** The event stream being sent. */
  #stream: EventStream | undefined;
  #hasWritten = false;
  /** Set while the client is behind. */
  #room: Deferred<void> | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    super(request);
    this.#response = response;
  }

  onGone(listener: () => void): void {
    if (this.#response.destroyed && !this.#response.writableFinished) listener();
    else this.#onGone = listener;
  }

  /** Call this when the response is closed: it was sent, or its connection is lost. */
  closed(): void {
    if (!this.#response.writableFinished) this.#onGone?.();
    this.#stream?.gone();
    this.#room?.resolve();
  }

  /** Sends a response. */
  respond(answer: HttpResponse, mayWait = true): void {
    const isRead = this.incoming.complete;
    if (!isRead && mayWait) {
      // One turn later, Node has seen the end of a body that arrived with its headers.
      setImmediate(() => this.respond(answer, false));
      return;
    }
    const { status, headers, body } = answer;
    const response = this.#response;
    // The application may have begun a response of its own, for example when a timeout of its framework has passed.
    if (response.destroyed || response.headersSent) {
      if (typeof body === "object") body.gone();
      return;
    }
    // An unread body would keep the connection busy.
    if (!isRead) {
      response.shouldKeepAlive = false;
      closeLingering(this.incoming, response);
    }
    // `vary` comes with every other header that is a list.
    const all = headers.vary === undefined ? headers : withOwn(response, headers);
    if (typeof body === "object") {
      response.writeHead(status, all);
      this.#stream = body;
      body.attach(this);
      if (!this.#hasWritten) response.flushHeaders();
      return;
    }
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    response.writeHead(status, status === 204 ? all : { "content-length": length, ...all }).end(body);
  }

  write(text: string): void | Promise<void> {
    this.#hasWritten = true;
    if (this.#response.write(text)) return undefined;
    this.#room = deferred<void>();
    this.#response.once("drain", this.#room.resolve);
    return this.#room.promise;
  }

  end(text = ""): void {
    this.#hasWritten = true;
    this.#response.end(text);
  }

  destroy(): void {
    this.#response.destroy();
  }
}

/** Headers that are lists, to which the application may have added before: as a framework does. */
const lists = ["vary", "access-control-expose-headers"];

function withOwn(response: ServerResponse, headers: HttpHeaders): HttpHeaders {
  const added = lists.flatMap((name) => {
    const [own, ours] = [response.getHeader(name), headers[name]];
    return own === undefined || ours === undefined ? [] : [[name, `${[own].flat().join(", ")}, ${ours}`]];
  });
  return added.length === 0 ? headers : { ...headers, ...Object.fromEntries(added) };
}

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
function closeLingering(request: IncomingMessage, response: ServerResponse): void {
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
