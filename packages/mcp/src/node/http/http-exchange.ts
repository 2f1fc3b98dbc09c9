import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ByteBudget } from "../../base/byte-budget.js";
import { type Deferred, deferred } from "../../base/deferred.js";
import type { ConnectionEnds } from "../../http/server/origin-check.js";
import { networkOf } from "../../http/server/peers.js";
import {
  BodyFault,
  BodyMeter,
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  notUtf8,
  requireBodyBytes,
} from "../../http/server/request.js";
import type { EventSink, EventStream } from "../../http/server/streams/event-stream.js";
import { PartialFrame } from "../../transport/framing/partial-frame.js";

/**
 * A `node:http` request as `HttpRequest`, and the sending of its response. One object for both, because each request
 * costs one.
 */
export class NodeExchange implements HttpRequest, EventSink {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #onGone: (() => void) | undefined;
  /** The event stream being sent. */
  #stream: EventStream | undefined;
  #hasWritten = false;
  /** Set while the client is behind. */
  #room: Deferred<void> | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  get method(): string {
    return this.#request.method ?? "GET";
  }

  get url(): string {
    // Routers remove the matched prefix from `url`, and keep the full URL in `originalUrl`.
    return (this.#request as { readonly originalUrl?: string }).originalUrl ?? this.#request.url ?? "/";
  }

  get ends(): ConnectionEnds {
    return endsOf(this.#request);
  }

  header(name: string): string | undefined {
    return headerOf(this.#request, name);
  }

  get address(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  text(maxBytes: number, budget: ByteBudget): Promise<string> | string {
    // If a body parser ran before, the stream is already consumed.
    const parsed = (this.#request as { readonly body?: unknown }).body;
    if (parsed !== undefined && parsed !== null) return textOf(parsed, maxBytes);
    const meter = new BodyMeter(this.#request.headers["content-length"], maxBytes, budget);
    return this.#read(maxBytes, meter);
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
  respond(response: HttpResponse): void {
    if (this.#request.complete) this.#send(response, true);
    // One turn later, Node has seen the end of a body that arrived with its headers.
    else setImmediate(() => this.#send(response, this.#request.complete));
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

  #read(maxBytes: number, meter: BodyMeter): Promise<string> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      let earlier: PartialFrame | undefined;
      let last: Uint8Array | undefined; // Most bodies are one chunk, which need not be copied.
      // Every request closes, and creating an error costs more than reading most bodies.
      const fail = (): void => {
        meter.close();
        if (!request.readableEnded) reject(new BodyFault(400, "the body ended early"));
      };
      if (request.destroyed) return fail();
      request.on("data", (chunk: Uint8Array) => {
        try {
          meter.add(chunk.length);
        } catch (error) {
          request.removeAllListeners("data").pause();
          meter.close();
          earlier = undefined;
          last = undefined;
          return reject(error);
        }
        if (last !== undefined) {
          earlier ??= new PartialFrame(maxBytes);
          earlier.append(last);
        }
        last = chunk;
      });
      request.on("end", () => {
        meter.close();
        try {
          resolve(decoded(earlier === undefined ? (last ?? noBytes) : earlier.finish(last).head));
        } catch (error) {
          reject(error);
        }
      });
      request.on("error", fail).on("close", fail);
    });
  }

  #send({ status, headers, body }: HttpResponse, isRead: boolean): void {
    const response = this.#response;
    if (response.destroyed) {
      if (typeof body === "object") body.gone();
      return;
    }
    // An unread body would keep the connection busy.
    if (!isRead) {
      response.shouldKeepAlive = false;
      closeLingering(this.#request, response);
    }
    if (typeof body === "object") {
      response.writeHead(status, withOwn(response, headers));
      this.#stream = body;
      body.attach(this);
      if (!this.#hasWritten) response.flushHeaders();
      return;
    }
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    const all = withOwn(response, headers);
    response.writeHead(status, status === 204 ? all : { "content-length": length, ...all }).end(body);
  }
}

/** Headers that are lists, to which the application may have added before: as a framework does. */
const lists = ["vary", "access-control-expose-headers"];

function withOwn(response: ServerResponse, headers: HttpHeaders): HttpHeaders {
  if (headers.vary === undefined) return headers; // Both come together.
  const added = lists.flatMap((name) => {
    const [own, ours] = [response.getHeader(name), headers[name]];
    return own === undefined || ours === undefined ? [] : [[name, `${[own].flat().join(", ")}, ${ours}`]];
  });
  return added.length === 0 ? headers : { ...headers, ...Object.fromEntries(added) };
}

const noBytes = new Uint8Array(0);

/** The local and remote address of a request's connection. */
export function endsOf({ socket }: IncomingMessage): ConnectionEnds {
  const { localAddress: local, remoteAddress: remote } = socket;
  // A closed connection has no addresses, like a Unix socket; it must not be mistaken for one.
  return { local, remote: remote ?? (socket.destroyed ? "gone" : undefined) };
}

/** Implements `HttpRequest.header`. */
export function headerOf({ headers, rawHeaders }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  if (value !== undefined && singles.has(name)) return valuesOf(rawHeaders, name);
  return typeof value === "object" ? value.join(", ") : value;
}

/**
 * Headers of which Node returns only the first value. All values are checked: a proxy may have checked the first, and a
 * later program may use another.
 */
const singles: ReadonlySet<string> = new Set(["authorization", "content-type", "host"]);

function valuesOf(rawHeaders: readonly string[], name: string): string {
  let values: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at] as string;
    if (other.length !== name.length || other.toLowerCase() !== name) continue;
    const value = rawHeaders[at + 1] as string;
    values = values === undefined ? value : `${values}, ${value}`;
  }
  return values ?? "";
}

function textOf(parsed: unknown, maxBytes: number): string {
  if (parsed instanceof Uint8Array) {
    requireBodyBytes(parsed.length, maxBytes);
    return decoded(parsed);
  }
  return typeof parsed === "string" ? parsed : JSON.stringify(parsed);
}

function decoded(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw notUtf8();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
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
