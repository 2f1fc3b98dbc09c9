import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { settlesWithin } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { isObject, parseJson } from "../../base/json.js";
import { SessionExpired } from "../../client/session/client-session.js";
import { openMembers } from "../../client/session/open-session.js";
import type { Channel } from "../../jsonrpc/channel.js";
import { limitExceededByText } from "../../jsonrpc/codec/decode.js";
import { codes, LocalError } from "../../jsonrpc/errors.js";
import { excerpt } from "../../jsonrpc/report.js";
import { sleep } from "../../jsonrpc/sleep.js";
import { mcpHeaders } from "../../protocol/http-headers.js";
import { methods, notifications } from "../../protocol/methods.js";
import { revisionOf } from "../../protocol/revisions/all.js";
import { readBody } from "./body.js";
import { type HttpClientOptions, HttpError, HttpTarget, httpClientMembers, statusOf } from "./http-target.js";
import { answeredIn, emptyBytes, type HttpTransportOptions, PostingChannel, type SentPost } from "./posting-channel.js";
import { isEventStream, type Refused, readRefusal, readResponse } from "./read-response.js";
import { isTransient, type ResumableStream, readResumable, unanswered } from "./resumable-stream.js";

/** Milliseconds for the server, on close, to accept sent messages and the end of the session. */
const grace = 2_000;

/** The stream is optional; servers without it use one of these statuses. */
const unoffered: ReadonlySet<number> = new Set([404, 405, 501]);

/** The requests that wait for the stream. After a ping, everything that the server has sent before its answer should be here. */
const needsStream: ReadonlySet<string | undefined> = new Set([methods.subscribe, methods.setLevel, methods.ping]);

/** Milliseconds that they wait at most. */
const streamPatience = 1_000;

/**
 * A Streamable HTTP session as one channel: outgoing messages are POSTs; incoming ones arrive in their responses and on
 * a separate stream.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
export class RemoteSession extends PostingChannel {
  readonly #random: () => number;
  /** Whether to accept responses that violate the HTTP rules. */
  readonly #lenient: boolean;
  /** Aborts when nothing more is read. */
  readonly #over = new AbortController();
  #phase: "open" | "ending" | "ended" = "open";
  #id: string | undefined;
  #version: string | undefined;
  #listening: Promise<void> | undefined;
  /** Resolves when the stream of the session is open, or not offered. */
  readonly #streamed = deferred<void>();
  #closing: Promise<void> | undefined;

  constructor(target: HttpTarget, { random = Math.random, lenient = false, ...options }: HttpTransportOptions) {
    super(target, options);
    this.#lenient = lenient;
    this.#random = random;
  }

  protected override post(post: SentPost, frame: string): void | Promise<void> {
    if (post.method === notifications.cancelled) this.#forget(frame);
    if (this.#phase !== "open") return this.lose(post, this.#notTaken(post));
    return super.post(post, frame);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Waits for notifications to be sent, ends the session, and aborts the rest. */
  async #close(): Promise<void> {
    this.#phase = "ended";
    this.resume();
    for (const post of this.posts.keys()) if (post.requests.length > 0) post.stop();
    const hurry = new AbortController();
    const timer = this.settings.clock.setTimer(() => {
      hurry.abort();
      for (const post of this.posts.keys()) post.stop();
    }, grace);
    await Promise.all(this.posts.values());
    // The server ends the stream of the session with it. Aborting that stream first makes `fetch` replace its connection by a spare one.
    if (this.#id !== undefined) await this.#delete(hurry.signal);
    this.#over.abort();
    await this.#listening;
    this.settings.clock.clearTimer(timer);
  }

  /** Ends the session at the server. If that fails, the session expires by itself, or it ended with its server. */
  async #delete(signal: AbortSignal): Promise<void> {
    try {
      const response = await this.target.send("the end of the session", {
        method: "DELETE",
        headers: this.#headers(),
        signal,
      });
      await readBody(response, emptyBytes, signal);
    } catch (error) {
      if (!isConnectionError(error)) this.settings.report({ kind: "fault", method: "DELETE", error });
    }
  }

  #headers(): Readonly<Record<string, string>> {
    return {
      ...(this.#id === undefined ? {} : { [mcpHeaders.session]: this.#id }),
      ...(this.#version === undefined ? {} : { [mcpHeaders.protocolVersion]: this.#version }),
    };
  }

  protected async exchange(post: SentPost, body: string): Promise<void> {
    const { what, signal } = post;
    post.expectAcceptance((error) => this.lose(post, error));
    // The server answers these with notifications on the stream. Some servers drop what they send before the stream is open.
    if (this.#listening !== undefined && needsStream.has(post.method)) await this.#untilStreamed();
    if (this.#phase === "ending") throw this.#notTaken(post);
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...this.#headers(),
    };
    const response = await this.target.send(what, { method: "POST", headers, body, signal });
    if (response.ok) await this.#read(post, response);
    else await this.#refused(post, response);
  }

  async #read(post: SentPost, response: Response): Promise<void> {
    const { what, signal, method, requests } = post;
    post.isTaken = true;
    if (method === methods.initialize) this.#id = sessionIn(response, what, this.#lenient);
    const maxBytes = this.settings.limits.frameBytes;
    if (requests.length === 0) {
      await readBody(response, emptyBytes, signal);
      if (method === notifications.initialized) this.#listening ??= this.#listen();
    } else if (isEventStream(response)) {
      const isOver = (): boolean => post.open.size === 0;
      const take = (text: string): void => this.#take(text, post);
      await readResumable(this.#stream({ what, signal, isEndless: false, isOver, take }), response);
    } else if (this.#lenient && response.status === 202 && this.#listening !== undefined) {
      await readBody(response, emptyBytes, signal); // The response arrives on the session's stream.
    } else {
      const lenient = this.#lenient;
      const reading = { what, maxBytes, signal, lenient, clock: this.settings.clock };
      // A body that is cut off can hold the id, and no other response will come.
      await readResponse(response, reading, (text) => this.#take(text, this.#isNoJson(text) ? undefined : post));
      if (post.open.size > 0) throw unanswered(what);
    }
  }

  /** A text that exceeds a limit is not parsed: its call fails of the limit. */
  #isNoJson(text: string): boolean {
    return limitExceededByText(text, this.settings.limits) === undefined && parseJson(text) === undefined;
  }

  #take(text: string, post?: SentPost): void {
    if (this.#phase === "ended") return;
    if (post?.method === methods.initialize) this.#version ??= versionIn(text);
    this.receiver?.frame(text);
    if (post !== undefined) for (const id of answeredIn(text)) post.answer(id);
  }

  async #refused(post: SentPost, response: Response): Promise<void> {
    const { what, signal, requests } = post;
    const refused = await readRefusal(response, { what, signal }, requests);
    const { error, said = error } = refused;
    const wasInSession = this.#id !== undefined || this.#phase === "ending";
    if (!(wasInSession && isForgotten(response.status, refused))) return this.lose(post, said);
    this.lose(post, this.#notTaken(post, error));
    void this.#gone(error);
  }

  #notTaken({ what }: SentPost, cause?: Error): SessionExpired {
    if (cause === undefined) return new SessionExpired(`${what}: the session is over`);
    return new SessionExpired(`${what}: the session is over: ${cause.message}`, { cause });
  }

  /** The session expired. Requests without any response yet may be rejected at this moment, so wait for them. */
  async #gone(cause: Error): Promise<void> {
    if (this.#phase !== "open") return;
    this.#phase = "ending";
    this.#id = undefined;
    const untaken = [...this.posts].flatMap(([post, over]) => (post.isTaken ? [] : [over]));
    await Promise.race([Promise.all(untaken), sleep(this.settings.clock, grace, this.#over.signal)]);
    if (this.#closing !== undefined) return;
    this.receiver?.end(new LocalError("closed", "the session is over", { cause }));
  }

  /** Not for long: an intermediary may hold back the head of the response until there is an event. */
  async #untilStreamed(): Promise<void> {
    await settlesWithin(this.#streamed.promise, streamPatience, this.settings.clock);
    this.#streamed.resolve();
  }

  /** Reads messages that do not belong to a POST. Never rejects. */
  async #listen(): Promise<void> {
    const what = "the stream of the session";
    const { signal } = this.#over;
    const take = (text: string): void => this.#take(text);
    let isOffered = false;
    try {
      const stream = this.#stream({ what, signal, isEndless: true, isOver: () => false, take });
      const first = await stream.reconnect(undefined).finally(() => this.#streamed.resolve());
      isOffered = first !== undefined;
      await readResumable(stream, first);
    } catch (error) {
      if (signal.aborted || this.#phase === "ended") return;
      const status = statusOf(error);
      if (status === 404 && isOffered && error instanceof HttpError) void this.#gone(error);
      else if (isOffered || status === undefined || !unoffered.has(status))
        this.settings.report({ kind: "fault", method: what, error });
    }
  }

  #stream(own: Pick<ResumableStream, "what" | "signal" | "isEndless" | "isOver" | "take">): ResumableStream {
    return {
      ...own,
      clock: this.settings.clock,
      random: this.#random,
      maxBytes: this.settings.limits.frameBytes,
      lenient: this.#lenient,
      ready: () => this.resumed,
      reconnect: (lastEventId) => this.#reconnect(own.what, own.signal, lastEventId),
    };
  }

  async #reconnect(what: string, signal: AbortSignal, lastEventId: string | undefined): Promise<Response | undefined> {
    const headers = {
      accept: "text/event-stream",
      ...this.#headers(),
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    };
    try {
      const response = await this.target.send(what, { method: "GET", headers, signal });
      if (response.ok && isEventStream(response)) return response;
      throw (await readRefusal(response, { what, signal })).error;
    } catch (error) {
      if (isTransient(error)) return undefined;
      throw error;
    }
  }

  /** After a cancellation, stops waiting for the stream of the request. */
  #forget(frame: string): void {
    const { params } = JSON.parse(frame) as { readonly params?: { readonly requestId?: unknown } };
    for (const post of this.posts.keys()) post.forget(String(params?.requestId));
  }
}

/** Options of a channel to a server at a URL. */
export interface HttpChannelOptions extends HttpClientOptions, HttpTransportOptions {}

/** The members of `HttpChannelOptions`, to detect unknown options. */
export const channelMembers: MembersOf<HttpChannelOptions> = {
  ...httpClientMembers,
  clock: openMembers.clock,
  lenient: openMembers.lenient,
  limits: openMembers.limits,
  random: openMembers.random,
  report: openMembers.report,
};

/**
 * A Streamable HTTP session with a server as a channel, for programs that inspect or forward its frames. `connect`
 * opens one by itself.
 *
 * @example
 * const client = await connect(() => sessionChannel("https://example.com/mcp"), { era: "handshake", reopen: true });
 *
 * @throws TypeError for an invalid HTTP URL
 */
export function sessionChannel(url: string | URL, options: HttpChannelOptions = {}): Channel {
  checkMembers("sessionChannel", options, channelMembers);
  return new RemoteSession(new HttpTarget(new URL(url), options), options);
}

/** Phrases with which servers report an unknown session. */
const forgottenWords =
  /\bsession\b.{0,40}\b(?:not found|unknown|invalid|expired|missing|required|terminated|closed)\b|\b(?:no valid|invalid|missing|unknown|no|expired)\b.{0,20}\bsession\b|\bserver not initialized\b/is;

/** The maximum length of such an error message. */
const longestRefusal = 2_000;

/**
 * Whether the server rejected a request because the session is unknown: with 404 as specified, or with 400 as in the
 * examples of the official SDK, which many servers copied. In both cases the request was not run. A 400 must mention
 * the session; otherwise it concerns the request itself.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
function isForgotten(status: number, { said, text }: Refused): boolean {
  if (status === 404) return true;
  const mayBe = status === 400 && (said === undefined || sessionCodes.has(said.code));
  return mayBe && text.length <= longestRefusal && forgottenWords.test(text);
}

/** The error codes of such responses; the specification defines none. */
const sessionCodes: ReadonlySet<number> = new Set([-32_000, -32_001, codes.invalidRequest]);

/**
 * The session id, which later requests must send.
 * @throws LocalError `protocol` for an id with forbidden characters
 */
function sessionIn({ headers }: Response, what: string, lenient: boolean): string | undefined {
  const id = headers.get(mcpHeaders.session);
  if (id === null || (lenient ? sendable : sound).test(id)) return id ?? undefined;
  throw new LocalError(
    "protocol",
    `${what}: the id of the session is not 1 to 4096 visible characters: ${excerpt(id)}`,
  );
}

/** Long enough for a signed token. */
const sendable = /^[\x20-\x7e]{1,4096}$/;
const sound = /^[\x21-\x7e]{1,4096}$/;

/** The negotiated version, if later requests must declare it. */
function versionIn(text: string): string | undefined {
  const message = parseJson(text); // The receiver of the frame reports what is not JSON.
  const result = isObject(message) ? message.result : undefined;
  const version = isObject(result) ? result.protocolVersion : undefined;
  const revision = typeof version === "string" ? revisionOf(version) : undefined;
  return revision?.facts.httpVersionHeader === "after initialize" ? revision.version : undefined;
}

/** Whether the system could not connect, or lost the connection: its errors have codes, such as `ECONNREFUSED`. */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.cause !== undefined) return isConnectionError(error.cause);
  return "code" in error && typeof error.code === "string";
}
