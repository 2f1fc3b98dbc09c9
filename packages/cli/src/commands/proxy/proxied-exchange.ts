import type { ClientRequest, IncomingMessage, RequestOptions, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { EventCutter } from "@parlance/wire";
import { forward, type Rewriter } from "../../shared/forward.js";
import type { Recorder } from "../../shared/recorder/recorder.js";
import { type AbortedBy, ExchangeRecord, type ExchangeStart, type SessionNames } from "./exchange-record.js";
import {
  endpointRewriter,
  endToEnd,
  type HeaderList,
  headersOf,
  headerValue,
  isDiscovery,
  isForm,
  type Origins,
  pairsOf,
  refuseUnreachable,
  renamed,
  towardsClient,
  towardsServer,
  withLength,
} from "./headers.js";
import { forwardEvents } from "./held-events.js";
import type { ProxyInterceptor } from "./proxy-interceptor.js";

/** Settings of one exchange. */
export interface ProxiedExchangeOptions extends Pick<ExchangeStart, "x" | "target" | "cover" | "onWritten"> {
  readonly origins: Origins;
  readonly hasMessages: boolean;
  readonly recorder: Recorder;
  readonly sessions: SessionNames;
  readonly send: (options: RequestOptions) => ClientRequest;
  readonly interceptor: ProxyInterceptor | undefined;
  /** A signal that is aborted when the proxy stops, before open exchanges are aborted. */
  readonly stopped: AbortSignal;
}

/** The maximum size of a form or document in which origins are replaced, in bytes. */
const mostRenamed = 1024 * 1024;

/** The maximum size of a body that is read whole while a rule is in force, in bytes: a recording keeps no more of a frame. */
const mostRead = 16 * 1024 * 1024;

/** Forwards one request to the server and its response to the client, chunk by chunk as they arrive. */
export class ProxiedExchange {
  readonly #near: IncomingMessage;
  readonly #answer: ServerResponse;
  readonly #options: ProxiedExchangeOptions;
  readonly #record: ExchangeRecord;
  readonly #url: string;
  /** The response of the server, once it began. */
  #response: IncomingMessage | undefined;
  /** Whether the server sent more than the response. */
  #excess = false;
  #isOver = false;
  /** The number of events after which a fault cuts the response. */
  #mostEvents: number | undefined;

  constructor(near: IncomingMessage, answer: ServerResponse, options: ProxiedExchangeOptions) {
    this.#near = near;
    this.#answer = answer;
    this.#options = options;
    const { method = "GET", url = "/" } = near;
    const { recorder, sessions, x, hasMessages, target, cover, onWritten, interceptor } = options;
    this.#url = url;
    const headers = headersOf(near);
    const bodies = hasMessages ? "messages" : "none";
    this.#record = new ExchangeRecord(
      { x, method, url, headers, bodies, target, cover, onWritten, mark: interceptor?.mark },
      recorder,
      sessions,
    );
    void this.#open(method, headers).catch((error: unknown) => this.#fail(error));
  }

  async #open(method: string, headers: HeaderList): Promise<void> {
    const { target, origins, send } = this.#options;
    const interceptor = this.#interceptor;
    const body = interceptor === undefined ? undefined : await this.#intercept(interceptor, method, headers);
    if (body === "ended") return;
    const form =
      body === undefined && isForm(headers) ? await renamedBody(this.#near, origins.near, origins.far) : undefined;
    const passed = endToEnd(towardsServer(headers, origins));
    const isChanged =
      body !== undefined && body.length !== Number(headerValue(headers, "content-length") ?? body.length);
    const sized = isChanged ? withLength(passed, body.length) : passed;
    const far = send({
      protocol: target.protocol,
      hostname: target.hostname.replaceAll(/[[\]]/g, ""),
      port: target.port,
      method,
      path: renamed(this.#url, origins.near, origins.far),
      headers: (form === undefined ? this.#readable(sized) : withLength(passed, form.length)).flat(),
      setHost: false,
    });
    far.on("continue", () => this.#answer.writeContinue());
    far.on("response", (response) => {
      this.#response = response;
      void this.#respond(response).catch((error: unknown) => this.#fail(error));
    });
    far.on("error", (error) => {
      // Bytes behind a response that is whole are no HTTP to the parser (HPE_…). The body of the response may not be read yet.
      const isBehind =
        this.#response?.complete === true && `${(error as NodeJS.ErrnoException).code}`.startsWith("HPE_");
      if (isBehind) this.#excess = true;
      else this.#fail(error);
    });
    this.#answer.on("close", () => {
      if (this.#answer.writableFinished) return;
      this.#abort("the client has gone away", "client");
      far.destroy();
    });
    if (form !== undefined) {
      far.end(form);
      this.#record.requestEnd();
      return;
    }
    if (body !== undefined) {
      far.end(body);
      return;
    }
    // Send the head first: a client with `Expect: 100-continue` sends its body only after a response to the head.
    far.flushHeaders();
    forward(this.#near, far, {
      chunk: (bytes) => this.#record.requestBytes(bytes),
      ended: () => this.#record.requestEnd(),
    });
  }

  /** The interceptor, if this exchange has messages and a rule is in force. */
  get #interceptor(): ProxyInterceptor | undefined {
    const { interceptor, hasMessages } = this.#options;
    return hasMessages && interceptor?.isActive === true ? interceptor : undefined;
  }

  /** Reads the request for breakpoints and faults. Resolves to the body if it is to be forwarded. */
  async #intercept(interceptor: ProxyInterceptor, method: string, headers: HeaderList): Promise<Buffer | "ended"> {
    const { x } = this.#options;
    if (this.#near.headers.expect !== undefined) this.#answer.writeContinue();
    this.#answer.on("close", () => interceptor.leave(x));
    const body = await this.#readAll(this.#near, (part) => this.#record.requestBytes(part));
    this.#record.requestEnd();
    const { fault, fate } = await interceptor.decide({
      x,
      method,
      url: this.#url,
      headers,
      body,
      record: this.#record,
    });
    if (this.#answer.destroyed) {
      this.#abort("the client has gone away", "client");
      return "ended";
    }
    if (fate.did === "drop") this.#answer.on("close", () => this.#abort("dropped at a breakpoint", "recorder"));
    if (fate.did === "answer") {
      const bytes = Buffer.from(fate.text);
      this.#answerWith(200, withLength([["Content-Type", "application/json"]], bytes.length), bytes);
    }
    if (fate.did === "drop" || fate.did === "answer") return "ended";
    if (fate.did === "change") return this.#changed("c2s", fate.text);
    if (fault?.is === "delay") await delay(interceptor.waitOf(fault));
    if (fault?.is === "sse-cut") this.#mostEvents = fault.after;
    if (fault?.is === "http")
      this.#answerWith(fault.status, fault.retryAfter === undefined ? [] : [["Retry-After", String(fault.retryAfter)]]);
    if (fault?.is === "close") this.#fail(new Error("closed by a fault"), "recorder");
    if (fault?.is === "drop") this.#answer.on("close", () => this.#abort("dropped by a fault", "recorder"));
    return fault === undefined || fault.is === "delay" || fault.is === "sse-cut" ? body : "ended";
  }

  #readAll(body: Readable, chunk: (part: Uint8Array) => void): Promise<Buffer> {
    return wholeBody(body, mostRead, `a body of more than ${mostRead} bytes cannot be intercepted`, chunk);
  }

  /** Records the message that replaces one at a breakpoint, and returns its bytes. */
  #changed(d: "c2s" | "s2c", text: string): Buffer {
    const bytes = Buffer.from(text);
    this.#record.made({ d, ch: "http", bytes, of: this.#record.markOf(d) });
    return bytes;
  }

  /** Responds instead of the server. @param written the body, written by a person. Default: none */
  #answerWith(status: number, headers: HeaderList, written?: Buffer): void {
    this.#record.responseHead(status, headers);
    if (written !== undefined) this.#record.made({ d: "s2c", ch: "http", bytes: written });
    this.#answer.writeHead(status, headers.flat());
    this.#finish(written);
  }

  /**
   * Removes Accept-Encoding if the response must be readable: a document whose origins are replaced, or messages that may be
   * held.
   */
  #readable(headers: HeaderList): HeaderList {
    return isDiscovery(this.#url) || this.#interceptor !== undefined
      ? headers.filter(([name]) => name.toLowerCase() !== "accept-encoding")
      : headers;
  }

  async #respond(response: IncomingMessage): Promise<void> {
    const { statusCode = 502, statusMessage = "" } = response;
    const { origins } = this.#options;
    const headers = headersOf(response);
    const passed = endToEnd(towardsClient(headers, origins));
    response.on("error", (error) => this.#fail(error));
    this.#record.responseHead(statusCode, headers);
    const interceptor = this.#interceptor;
    const isHeld = interceptor !== undefined && isPlain(headers) && isJson(headers);
    const held = isHeld ? await this.#holdResponse(interceptor, response) : undefined;
    if (isHeld && held === undefined) return;
    const document =
      !isHeld && isDiscovery(this.#url) ? await renamedBody(response, origins.far, origins.near) : undefined;
    const whole = held ?? document;
    this.#answer.sendDate = false;
    const sent = whole === undefined ? passed : withLength(passed, whole.length);
    this.#answer.writeHead(statusCode, statusMessage, sent.flat());
    if (whole !== undefined) {
      this.#finish(whole);
      return;
    }
    this.#answer.flushHeaders();
    if (this.#mostEvents !== undefined && isEventStream(headers)) await this.#forwardEvents(response, this.#mostEvents);
    else this.#forwardResponse(response, headers);
  }

  /** Reads a response of one message, and resolves to the bytes to send; undefined to send nothing. */
  async #holdResponse(interceptor: ProxyInterceptor, response: IncomingMessage): Promise<Uint8Array | undefined> {
    const { x } = this.#options;
    const record = this.#record;
    const body = await this.#readAll(response, (part) => record.responseBytes(part));
    record.responseWhole();
    const fate = await interceptor.pass({ d: "s2c", ch: "http", x, bytes: body, record });
    if (fate.did === "drop") this.#answer.on("close", () => this.#abort("dropped at a breakpoint", "recorder"));
    if (fate.did === "drop" || this.#isOver) return undefined;
    return fate.did === "change" ? this.#changed("s2c", fate.text) : body;
  }

  async #forwardEvents(response: IncomingMessage, most: number): Promise<void> {
    const isCut = await passEvents(response, this.#answer, most, (bytes) => this.#record.responseBytes(bytes));
    if (isCut) this.#fail(new Error("cut by a fault"), "recorder");
    else this.#finish();
  }

  #forwardResponse(response: IncomingMessage, headers: HeaderList): void {
    const { hasMessages, origins, interceptor } = this.#options;
    const hasEvents = hasMessages && isEventStream(headers) && isPlain(headers);
    // Only the stream of a GET may name the endpoint.
    const rewriter = hasEvents && this.#near.method === "GET" ? endpointRewriter(origins) : undefined;
    // Before the end of the response is written.
    response.on("end", () => this.#answer.addTrailers(pairsOf(response.rawTrailers)));
    if (interceptor !== undefined && hasEvents) {
      void this.#holdEvents(interceptor, response, rewriter).catch((error: unknown) => this.#fail(error));
      return;
    }
    const chunk = (bytes: Uint8Array): void => this.#record.responseBytes(bytes);
    forward(response, this.#answer, { chunk, ended: () => this.#end() }, rewriter);
  }

  async #holdEvents(
    interceptor: ProxyInterceptor,
    response: IncomingMessage,
    rewriter: Rewriter | undefined,
  ): Promise<void> {
    const { x } = this.#options;
    const record = this.#record;
    this.#answer.on("close", () => interceptor.leave(x));
    await forwardEvents(response, this.#answer, {
      isActive: () => interceptor.isActive,
      chunk: (bytes) => record.responseBytes(bytes),
      fateOf: ({ bytes, ev }) => interceptor.pass({ d: "s2c", ch: "sse", x, bytes, ev, record }),
      changed: (text, of) => record.made({ d: "s2c", ch: "sse", bytes: Buffer.from(text), of }),
      markOf: () => record.markOf("s2c"),
      rewriter,
    });
    this.#finish();
  }

  #fail(error: unknown, by: AbortedBy = "server"): void {
    if (this.#isOver) return;
    const why = reasonOf(error);
    this.#abort(why, by);
    if (this.#answer.headersSent || by === "recorder") this.#answer.destroy();
    else refuseUnreachable(this.#answer, this.#options.target.origin, why);
  }

  #abort(why: string, by: AbortedBy): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Stopping the proxy aborts both sides, and either may be reported first.
    if (this.#options.stopped.aborted) this.#record.abort("the proxy was stopped", "recorder");
    else this.#record.abort(why, by);
  }

  /** Ends the response, and its record. */
  #finish(body?: Uint8Array): void {
    this.#answer.end(body);
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#excess) this.#record.abort(tooManyBytes, "server");
    else this.#record.end();
  }
}

const tooManyBytes = "more bytes came than its Content-Length has, which counts bytes and not characters";

function isEventStream(headers: HeaderList): boolean {
  return /^text\/event-stream\b/i.test(headerValue(headers, "content-type") ?? "");
}

function isJson(headers: HeaderList): boolean {
  return /^application\/json\b/i.test(headerValue(headers, "content-type") ?? "");
}

function isPlain(headers: HeaderList): boolean {
  return headerValue(headers, "content-encoding") === undefined;
}

/** A whole body. @throws with the message `tooLong` if it has more bytes than `most` */
async function wholeBody(
  body: Readable,
  most: number,
  tooLong: string,
  chunk: (part: Uint8Array) => void = () => undefined,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    chunk(part);
    length += part.length;
    if (length > most) throw new Error(tooLong);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** A whole body with one origin replaced by the other. @throws if the body is too long */
async function renamedBody(body: Readable, from: string, to: string): Promise<Buffer> {
  const bytes = await wholeBody(body, mostRenamed, `a form or document of more than ${mostRenamed} bytes`);
  return Buffer.from(renamed(bytes.toString(), from, to));
}

/** A network error in a few words. An AggregateError (of a host with several addresses) has no message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}

/** Forwards a number of events, and resolves when they are written: true if the stream goes on. */
async function passEvents(
  from: Readable,
  to: Writable,
  most: number,
  chunk: (bytes: Uint8Array) => void,
): Promise<boolean> {
  const cutter = new EventCutter();
  let passed = 0;
  for await (const bytes of from as AsyncIterable<Uint8Array>) {
    // Byte by byte, to find the byte that ends the last event.
    let end = 0;
    for (; end < bytes.length && passed < most; end += 1) passed += cutter.push(bytes.subarray(end, end + 1), 0).length;
    chunk(bytes);
    await new Promise((resolve) => to.write(bytes.subarray(0, end), resolve));
    if (passed >= most) return true;
  }
  return false;
}
