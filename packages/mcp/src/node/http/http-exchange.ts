import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ByteBudget } from "../../base/byte-budget.js";
import { type Deferred, deferred } from "../../base/deferred.js";
import type { ConnectionEnds } from "../../http/server/origin-check.js";
import { networkOf } from "../../http/server/peers.js";
import {
  BodyFault,
  type HttpRequest,
  type HttpResponse,
  notUtf8,
  requireBodyBytes,
  requireRoom,
} from "../../http/server/request.js";
import type { EventSink } from "../../http/server/streams/event-stream.js";
import { PartialFrame } from "../../transport/framing/partial-frame.js";

/** A `node:http` request as `HttpRequest`. */
export class NodeRequest implements HttpRequest {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

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
    requireBodyBytes(Number(this.#request.headers["content-length"] ?? 0), maxBytes);
    return this.#read(maxBytes, budget);
  }

  onGone(listener: () => void): void {
    const response = this.#response;
    const told = (): void => {
      if (!response.writableFinished) listener();
    };
    if (response.destroyed) told();
    else response.once("close", told);
  }

  #read(maxBytes: number, budget: ByteBudget): Promise<string> {
    const request = this.#request;
    const kept = budget.child();
    return new Promise((resolve, reject) => {
      let earlier: PartialFrame | undefined;
      let last: Uint8Array | undefined; // Most bodies are one chunk, which need not be copied.
      let bytes = 0;
      // Every request closes, and creating an error costs more than reading most bodies.
      const fail = (): void => {
        kept.close();
        if (!request.readableEnded) reject(new BodyFault(400, "the body ended early"));
      };
      if (request.destroyed) return fail();
      request.on("data", (chunk: Uint8Array) => {
        bytes += chunk.length;
        if (last !== undefined) {
          earlier ??= new PartialFrame(maxBytes);
          earlier.append(last);
        }
        last = chunk;
        try {
          requireBodyBytes(bytes, maxBytes);
          requireRoom(kept, bytes, budget);
        } catch (error) {
          request.removeAllListeners("data").pause();
          kept.close();
          earlier = undefined;
          last = undefined;
          reject(error);
        }
      });
      request.on("end", () => {
        kept.close();
        try {
          resolve(decoded(earlier === undefined ? (last ?? noBytes) : earlier.finish(last).head));
        } catch (error) {
          reject(error);
        }
      });
      request.on("error", fail).on("close", fail);
    });
  }
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
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at] as string;
    if (other.length === name.length && other.toLowerCase() === name) values.push(rawHeaders[at + 1] as string);
  }
  return values.join(", ");
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

/** Writes an `HttpResponse`. */
export function writeAnswer(request: IncomingMessage, response: ServerResponse, answer: HttpResponse): void {
  if (request.complete) write(request, response, answer);
  // One turn later, Node has seen the end of a body that arrived with its headers.
  else setImmediate(() => write(request, response, answer, request.complete));
}

/** Milliseconds and bytes for which the rest of a request is read after its response. */
const lingerTime = 10_000;
const lingerBytes = 64 * 1024 * 1024;

/**
 * The maximum number of connections per network address that are read on at once, so that rejected bodies do not slow
 * down other clients.
 */
const mostLingering = 8;

/** Milliseconds between two chunks of at most 64 KiB: 4 MiB take about 0.13 s. */
const lingerPause = 2;

/** The number of connections being read on, by network address. */
const lingering = new Map<string, number>();

/**
 * Closes the connection after a response that was sent before the end of the request. Closing with unread bytes would
 * reset the connection, and the client may lose the response. So this side closes its half, then reads and discards
 * until the client closes.
 * https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
function closeLingering(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  if (request.httpVersionMajor !== 1) return; // An HTTP/2 stream is closed without its connection.
  const address = networkOf(socket.remoteAddress) ?? "unknown";
  const others = lingering.get(address) ?? 0;
  if (others >= mostLingering) return;
  lingering.set(address, others + 1);
  let left = lingerBytes;
  let next: NodeJS.Timeout | undefined;
  request.on("data", (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
    request.pause();
    next = setTimeout(() => request.resume(), lingerPause).unref();
  });
  // Node calls this when the response is written.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerTime).unref();
    socket.once("close", () => clearTimeout(timer));
    if (request.readableEnded) socket.destroy();
    else request.once("end", () => socket.destroy());
  };
  socket.once("close", () => {
    clearTimeout(next);
    const rest = (lingering.get(address) ?? 1) - 1;
    if (rest === 0) lingering.delete(address);
    else lingering.set(address, rest);
  });
  response.once("close", () => request.resume());
  request.resume();
}

function write(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  isRead = true,
): void {
  if (response.destroyed) {
    if (typeof body === "object") body.gone();
    return;
  }
  // An unread body would keep the connection busy.
  if (!isRead) {
    response.shouldKeepAlive = false;
    closeLingering(request, response);
  }
  if (body === undefined || typeof body === "string") {
    response.writeHead(status, withLength(headers, status, body)).end(body);
    return;
  }
  response.writeHead(status, headers);
  response.once("close", () => body.gone());
  const sink = new ResponseSink(response);
  body.attach(sink);
  if (!sink.hasWritten) response.flushHeaders();
}

function withLength(headers: HttpResponse["headers"], status: number, body = ""): HttpResponse["headers"] {
  return status === 204 ? headers : { "content-length": String(Buffer.byteLength(body)), ...headers };
}

class ResponseSink implements EventSink {
  hasWritten = false;
  readonly #response: ServerResponse;
  #room: Deferred<void> | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
    const makeRoom = (): void => this.#room?.resolve();
    response.on("drain", makeRoom).once("close", makeRoom);
  }

  write(text: string): void | Promise<void> {
    this.hasWritten = true;
    if (this.#response.write(text)) return undefined;
    this.#room = deferred<void>();
    return this.#room.promise;
  }

  end(): void {
    this.hasWritten = true;
    this.#response.end();
  }

  destroy(): void {
    this.#response.destroy();
  }
}
