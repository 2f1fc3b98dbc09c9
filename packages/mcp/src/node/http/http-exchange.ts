import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { ByteBudget } from "../../base/byte-budget.js";
import { type Deferred, deferred } from "../../base/deferred.js";
import { isObject, type JsonObject } from "../../base/json.js";
import type { ConnectionEnds } from "../../http/server/origin-check.js";
import {
  BodyFault,
  type BodyListener,
  BodyReader,
  type HttpExchange,
  type HttpHeaders,
  type HttpResponse,
  notUtf8,
  tooLong,
} from "../../http/server/request.js";
import { withHeaders } from "../../http/server/responses.js";
import type { EventSink, EventStream } from "../../http/server/streams/event-stream.js";
import { decodeUtf8 } from "../../transport/framing/utf8.js";
import { closeLingering } from "./lingering-close.js";

/**
 * Headers of which Node returns only the first value. All values are checked: a proxy may have checked the first, and a
 * later program may use another.
 */
const singles: ReadonlySet<string> = new Set(["authorization", "content-type", "host"]);

const bodyWasRead =
  "the body of the request was read before this handler: mount the handler before the middleware that reads it, " +
  "or let that leave request.body";

/**
 * A `node:http` request as `HttpExchange`, with the sending of its response. One object for both, because each request
 * costs one.
 */
export class NodeExchange implements HttpExchange, EventSink {
  readonly method: string;
  readonly url: string;
  readonly address: string | undefined;
  readonly ends: ConnectionEnds;
  readonly raw: IncomingMessage;
  readonly #response: ServerResponse;
  /** Node makes them when they are first asked for. */
  readonly #headers: IncomingHttpHeaders;
  #body: BodyReader | undefined;
  #onGone: (() => void) | undefined;
  /** The event stream being sent. */
  #stream: EventStream | undefined;
  #hasWritten = false;
  /** Set while the client is behind. */
  #room: Deferred<void> | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    const { socket } = request;
    const { localAddress: local, remoteAddress } = socket;
    // A closed connection has no addresses, like a Unix socket; it must not be mistaken for one.
    const remote = remoteAddress ?? (socket.destroyed ? "gone" : undefined);
    this.raw = request;
    this.#headers = request.headers;
    this.method = request.method ?? "GET";
    // Routers remove the matched prefix from `url`, and keep the full URL in `originalUrl`.
    this.url = (request as { readonly originalUrl?: string }).originalUrl ?? request.url ?? "/";
    this.address = remoteAddress;
    this.ends = { local, remote };
    this.#response = response;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    if (typeof value !== "string" || !singles.has(name)) return typeof value === "object" ? value.join(", ") : value;
    // Middleware may have changed the value in `headers`, so it is used unless the client sent the header more than once.
    const { rawHeaders } = this.raw;
    let sent = "";
    let count = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const other = rawHeaders[at] as string;
      if (other.length !== name.length || other.toLowerCase() !== name) continue;
      const each = rawHeaders[at + 1] as string;
      sent = count === 0 ? each : `${sent}, ${each}`;
      count += 1;
    }
    return count > 1 ? sent : value;
  }

  readBody(maxBytes: number, budget: ByteBudget, done: BodyListener): void {
    const request = this.raw;
    // If a body parser ran before, the stream is already consumed.
    const parsed = (request as { readonly body?: unknown }).body;
    const isForm =
      isObject(parsed) && !(parsed instanceof Uint8Array) && formType.test(this.#headers["content-type"] ?? "");
    // The JSON parser of Express 4 leaves an empty object for a form that it has not read.
    if (isForm ? request.readableDidRead : parsed !== undefined && parsed !== null) {
      done(isForm ? textOfForm(parsed) : textOf(parsed, maxBytes));
      return;
    }
    if (request.readableEnded) throw new TypeError(bodyWasRead);
    const stop = (): void => void request.removeAllListeners("data").pause();
    const body = new BodyReader(this.#headers["content-length"], maxBytes, budget, { stop, done });
    this.#body = body;
    if (request.destroyed) this.#bodyLost();
    else
      request
        .on("data", body.append)
        .on("end", body.end)
        .on("error", () => this.#bodyLost());
  }

  onGone(listener: () => void): void {
    if (this.#response.destroyed && !this.#response.writableFinished) listener();
    else this.#onGone = listener;
  }

  /** Call this when the response is closed: it was sent, or its connection is lost. */
  closed(): void {
    // Every request is closed, and creating an error costs more than reading most bodies.
    if (!this.raw.readableEnded) this.#bodyLost();
    if (!this.#response.writableFinished) this.#onGone?.();
    this.#stream?.gone();
    this.#room?.resolve();
  }

  #bodyLost(): void {
    this.#body?.fail(new BodyFault(400, "the body ended early"));
  }

  /** Sends a response. */
  respond(answer: HttpResponse, cors?: HttpHeaders, mayWait = true): void {
    const isRead = this.raw.complete;
    if (!isRead && mayWait) {
      // One turn later, Node has seen the end of a body that arrived with its headers.
      setImmediate(() => this.respond(answer, cors, false));
      return;
    }
    const { status, headers, body } = cors === undefined ? answer : withHeaders(answer, cors);
    const response = this.#response;
    // The application may have begun a response of its own, for example when a timeout of its framework has passed.
    if (response.destroyed || response.headersSent) {
      if (typeof body === "object") body.gone();
      return;
    }
    // An unread body would keep the connection busy.
    if (!isRead) {
      response.shouldKeepAlive = false;
      closeLingering(this.raw, response);
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
    // With the length after the spread, V8 takes 16 times as long.
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
    if (own === undefined || ours === undefined) return [];
    const listed = [own].flat().join(", ");
    const known = new Set(listed.toLowerCase().split(/\s*,\s*/));
    return [[name, [listed, ...ours.split(", ").filter((each) => !known.has(each))].join(", ")]];
  });
  return added.length === 0 ? headers : { ...headers, ...Object.fromEntries(added) };
}

const formType = /^application\/x-www-form-urlencoded\b/i;

/** The text of a form that a body parser has read. A field that was sent several times is an array. */
function textOfForm(parsed: JsonObject): string {
  const fields = Object.entries(parsed).flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)]));
  return new URLSearchParams(fields).toString();
}

/** The text of a body that a body parser has read. */
function textOf(parsed: unknown, maxBytes: number): string {
  if (typeof parsed === "string") return parsed;
  if (!(parsed instanceof Uint8Array)) return JSON.stringify(parsed);
  if (parsed.length > maxBytes) throw tooLong(maxBytes);
  const text = decodeUtf8(parsed);
  if (text === undefined) throw notUtf8();
  return text;
}
