import { encodeHeaderValue, isObject, type JsonObject, mcpHeaders, namedBy } from "@parlance/mcp/protocol";
import { joined, type Sender } from "../recording/frame.js";
import { BodyCutter, type BodyFrame } from "../recording/frame-cutters.js";
import {
  dispatch,
  isErrorWithoutId,
  messagesIn,
  noAnswer,
  PendingReplies,
  type RawClient,
  type RawOptions,
  type RawReply,
  type RawRequest,
  type RawResponse,
} from "./raw-client.js";

interface RawHttpOptions extends RawOptions {
  readonly url: string;
  /** Headers of every request; they replace those a client has to send. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Whether every request repeats its method and target in headers. Default: false. */
  readonly mirrors?: boolean;
  /** The protocol version in the header of every request. Default: none. */
  readonly version?: string | undefined;
  /** Called with each chunk of a body, in both directions. Default: none. */
  readonly onBytes?: OnBytes;
}

type OnBytes = (from: Sender, chunk: Uint8Array) => void;

/** The maximum number of characters kept of a body for `RawResponse.text`. */
const longestText = 64 * 1024;

const encoder = new TextEncoder();

/**
 * A raw client over HTTP. Every frame is the body of a POST of its own.
 *
 * @example
 * const client = new RawHttp({ url: "https://example.com/mcp", headers: [], writer, timeout: 5_000, session: "1" });
 * const { http } = await client.send("{not JSON");
 * console.log(http?.status, http?.text);
 */
export class RawHttp implements RawClient {
  readonly transport = "http";
  /** Returns the frame that answers a request of the server. Called in order of arrival. */
  onRequest: RawClient["onRequest"];
  /** The responses without an id so far. */
  readonly responsesWithoutId: JsonObject[] = [];
  /** How many responses so far answer no request that waits. */
  unpairedResponses = 0;
  readonly #options: RawHttpOptions;
  /** The exchanges in flight. */
  readonly #inFlight = new Set<AbortController>();
  #isClosed = false;
  #version: string | undefined;
  #sessionId: string | undefined;

  constructor(options: RawHttpOptions) {
    this.#options = options;
    this.#version = options.version;
    options.stop?.addEventListener("abort", this.#end, { once: true });
    if (options.stop?.aborted === true) this.#end();
  }

  /** The id of the HTTP session; undefined if the server did not set one. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** Sends this version in the header of every following HTTP request. */
  useVersion(version: string): void {
    this.#version = version;
  }

  /** Sends a request with the frame as its body, and waits for the response to `id` if one is given. */
  async send(
    frame: string | Uint8Array | readonly Uint8Array[],
    id?: string | number,
    request: RawRequest = {},
  ): Promise<RawReply> {
    const { writer, session: s, onBytes, onFrame } = this.#options;
    const { method = "POST", url = this.#options.url, read = "answer" } = request;
    const x = writer.nextExchange();
    const bytes =
      typeof frame === "string" ? encoder.encode(frame) : joined(frame instanceof Uint8Array ? [frame] : frame);
    const headers = this.#headersFor(bytes, request);
    writer.write((n, t) => ({ k: "h", n, t, s, x, ph: "req", method, url, headers: [...headers] }));
    if (method === "POST") {
      onBytes?.("client", bytes);
      writer.frame(bytes, { s, d: "c2s", ch: "http", req: x });
      onFrame?.({ kind: "sent", frame: new TextDecoder().decode(bytes) });
    }
    // Not a signal of `AbortSignal.any`: in Node 20 such a signal can be garbage-collected before it fires.
    const exchange = new AbortController();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      exchange.abort();
    }, this.#options.timeout);
    if (this.#isClosed) exchange.abort();
    this.#inFlight.add(exchange);
    const done = (): void => void this.#inFlight.delete(exchange);
    try {
      const body = method === "POST" ? { body: bytes } : {};
      const response = await fetch(url, { method, headers, signal: exchange.signal, redirect: "manual", ...body });
      const { status } = response;
      writer.write((n, t) => ({ k: "h", n, t, s, x, ph: "res", status, headers: [...response.headers] }));
      this.#sessionId ??= response.headers.get(mcpHeaders.session) ?? undefined;
      if (typeof read !== "string") clearTimeout(timer);
      const reply = await this.#read(response, { x, id, read, done });
      writer.write((n, t) => ({ k: "h", n, t, s, x, ph: "end" }));
      return reply;
    } catch (error) {
      done();
      const why = messageOf(error);
      writer.write((n, t) => ({ k: "h", n, t, s, x, ph: "abort", why }));
      return { ...noAnswer(isLate ? "no answer in time" : "the server ended"), error };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the HTTP session and every open request. Resolves to 0. */
  async close(): Promise<number | undefined> {
    const { stop } = this.#options;
    if (this.#sessionId !== undefined && stop?.aborted !== true) await this.send("", undefined, { method: "DELETE" });
    this.#end();
    stop?.removeEventListener("abort", this.#end); // A program may pass one signal to many clients.
    return 0;
  }

  /** Ends the exchanges in flight; a later one ends at once. */
  readonly #end = (): void => {
    this.#isClosed = true;
    for (const exchange of this.#inFlight) exchange.abort();
  };

  #headersFor(bytes: Uint8Array, { method = "POST", headers: ofRequest = {} }: RawRequest): Headers {
    const { mirrors = false, headers: ofAll } = this.#options;
    const [message = {}] = method === "POST" && mirrors ? messagesIn(new TextDecoder().decode(bytes)) : [];
    const headers = new Headers({ accept: `${method === "GET" ? "" : "application/json, "}text/event-stream` });
    if (method === "POST") headers.set("content-type", "application/json");
    if (this.#version !== undefined) headers.set(mcpHeaders.protocolVersion, this.#version);
    if (this.#sessionId !== undefined) headers.set(mcpHeaders.session, this.#sessionId);
    for (const [name, value] of [...mirrored(message), ...ofAll, ...Object.entries(ofRequest)]) {
      if (value === "") headers.delete(name);
      else headers.set(name, value);
    }
    return headers;
  }

  /** Reads the body as far as `how` says. After the answer on an event stream, the rest is recorded as it arrives. */
  async #read(response: Response, how: Reading): Promise<RawReply> {
    const { id, read, done } = how;
    const before = this.responsesWithoutId.length;
    const pending = new PendingReplies(this.#options.timeout);
    const answer = id === undefined ? undefined : pending.wait(id);
    const body = new BodyReader(
      response,
      (frame) => this.#take(frame, response, how.x, pending),
      this.#options.onBytes,
    );
    const isAnswerOnStream = body.isStream && read === "answer" && answer !== undefined;
    const until = typeof read === "function" ? read(response) : undefined;
    const isSkipped = body.isStream && read === "answer" && answer === undefined;
    const whole = isSkipped ? body.cancel() : body.read(read === "beginning").finally(() => pending.end());
    void whole.finally(done);
    if (isAnswerOnStream) await answer;
    else await (until === undefined ? whole : Promise.race([whole, until]));
    const { isOver: isWhole } = body;
    if (!isAnswerOnStream) await body.cancel();
    if (body.error !== undefined && until === undefined && !isAnswerOnStream) throw body.error;
    const reply = (await (read === "answer" ? answer : undefined)) ?? noAnswer("nothing was owed");
    const { status, statusText, headers } = response;
    const http: RawResponse = { status, statusText, headers, text: body.text, isWhole };
    // Over HTTP, an error without an id answers the request of its exchange, and every response what is no request.
    const withoutId = this.responsesWithoutId.slice(before).find((each) => id === undefined || isErrorWithoutId(each));
    return { ...reply, answer: reply.answer ?? withoutId, http };
  }

  #take(frame: BodyFrame, response: Response, x: number, pending: PendingReplies): void {
    const { writer, session: s, onFrame } = this.#options;
    const { ch, bytes, len, ev, cut } = frame;
    const more = { ...(ev !== undefined && { ev }), ...(cut !== undefined && { cut }) };
    writer.frame(bytes, { s, d: "s2c", ch, req: x, ...more }, len);
    const text = new TextDecoder().decode(bytes);
    if (cut === undefined) dispatch(text, this, pending);
    if (onFrame === undefined || !isMessage(frame, text, response)) return;
    if (cut === undefined) onFrame({ kind: "received", frame: text });
    else if (ch === "http") {
      const message = "the body broke off in the middle of a message";
      onFrame({ kind: "refused", refusal: { reason: "truncated", message, head: text, bytes: len } });
    }
  }
}

/** Whether a frame is a message, and not a page, the text of a gateway, or an event with another name. */
function isMessage({ ch, ev }: BodyFrame, text: string, { ok, headers }: Response): boolean {
  if (ch === "sse") return ok && text !== "" && (ev?.event ?? "message") === "message";
  if (ok && /^application\/json\b/i.test(headers.get("content-type") ?? "")) return true;
  return !ok && messagesIn(text).some(({ error, id = null }) => isObject(error) && id !== null);
}

interface Reading {
  /** The number of the exchange. */
  readonly x: number;
  readonly id: string | number | undefined;
  readonly read: NonNullable<RawRequest["read"]>;
  /** Called when the body has ended. */
  readonly done: () => void;
}

/** Reads one body, cuts it into frames, and keeps the beginning as text. */
class BodyReader {
  readonly #source: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #cutter: BodyCutter;
  readonly #onFrame: (frame: BodyFrame) => void;
  readonly #onBytes: OnBytes | undefined;
  readonly #decoder = new TextDecoder();
  isOver = false;
  text = "";
  /** Why the body broke off. */
  error: unknown;

  constructor({ headers, body }: Response, onFrame: (frame: BodyFrame) => void, onBytes: OnBytes | undefined) {
    this.#source = body?.getReader();
    this.#cutter = new BodyCutter(headers.get("content-type"));
    this.#onFrame = onFrame;
    this.#onBytes = onBytes;
  }

  get isStream(): boolean {
    return this.#cutter.isStream;
  }

  /** Reads to the end, or with `onlyBeginning` up to the first event or 64 KiB. Never rejects: see `error`. */
  async read(onlyBeginning: boolean): Promise<void> {
    let how: "ended" | "aborted" = "ended";
    try {
      for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) {
        this.#onBytes?.("server", chunk);
        if (this.text.length < longestText) this.text += this.#decoder.decode(chunk, { stream: true });
        for (const frame of this.#cutter.push(chunk, performance.now())) this.#onFrame(frame);
        if (onlyBeginning && (this.text.length >= longestText || /\r?\n\r?\n/.test(this.text))) break;
      }
    } catch (error) {
      this.error = error;
      how = "aborted";
    }
    this.#finish(how);
  }

  async cancel(): Promise<void> {
    this.#finish("aborted");
    await this.#source?.cancel().catch(() => undefined); // A broken stream need not be cancelled.
  }

  async #next(): Promise<Uint8Array | undefined> {
    return this.isOver ? undefined : (await this.#source?.read())?.value;
  }

  #finish(how: "ended" | "aborted"): void {
    if (this.isOver) return;
    this.isOver = true;
    const last = this.#cutter.end(how);
    if (last !== undefined) this.#onFrame(last);
  }
}

/** The headers that repeat the method and the target of a message. */
function mirrored({ method, params }: JsonObject): readonly (readonly [string, string])[] {
  if (typeof method !== "string") return [];
  const member = namedBy.get(method);
  const name = member !== undefined && isObject(params) ? params[member] : undefined;
  return [
    [mcpHeaders.method, method],
    ...(typeof name === "string" ? [[mcpHeaders.name, encodeHeaderValue(name)] as const] : []),
  ];
}

/** The message of the innermost cause, because `fetch` wraps it. */
function messageOf(error: unknown): string {
  if (error instanceof Error) return error.cause === undefined ? error.message : messageOf(error.cause);
  return String(error);
}
