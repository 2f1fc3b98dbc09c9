import type { Tapped } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import type { Entry, FrameEntry } from "../recording/entry.js";
import { recordedBytes } from "../recording/frame.js";

/** The result of sending something. */
export interface RawReply {
  /** The message that answers: the one with the id of the request or, over HTTP, an error without an id. */
  readonly answer: JsonObject | undefined;
  /** Why there is none. */
  readonly silence: "nothing was owed" | "no answer in time" | "the server ended" | undefined;
  /** The head of the HTTP response, and the beginning of its body. */
  readonly http?: RawResponse;
  /** Why there is no HTTP response. */
  readonly error?: unknown;
}

/** An HTTP response, with as much of its body as was read, up to 64 KiB. */
export interface RawResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The text after the status. */
  readonly statusText: string;
  /** The headers. */
  readonly headers: Headers;
  /** The body, as far as it was read. */
  readonly text: string;
  /** The body ended, or broke off, before reading stopped. */
  readonly isWhole: boolean;
}

/** How one HTTP request differs from the POST that a client sends by default. */
export interface RawRequest {
  /** The HTTP method. Default: `"POST"`. */
  readonly method?: "POST" | "GET" | "DELETE";
  /** The URL, where it is not that of the server: of its metadata, for instance. */
  readonly url?: string;
  /** They replace the headers that a client has to send; an empty one is left out. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * How much of the body of the response is read. `answer`, the default: up to the answer; without an id, all of a body and nothing of
   * an event stream. `beginning`: up to the first event, or 64 KiB. A function, called with the head: until its promise resolves.
   */
  readonly read?: "answer" | "beginning" | ((response: Response) => Promise<unknown>);
}

/** The options of both kinds of raw clients. */
export interface RawOptions {
  /** Milliseconds to wait for an answer. */
  readonly timeout: number;
  /** Records every frame and HTTP head. */
  readonly writer: EntryWriter;
  /** The name of the session in the recording. */
  readonly session: string;
  /** When it is aborted, every wait ends. Default: none. */
  readonly stop?: AbortSignal | undefined;
  /** Takes every message, and what was refused in the place of one, with the reason. Default: none. */
  readonly onFrame?: (tapped: Tapped) => void;
}

/**
 * A client that sends exactly what it is given, valid or not, and records everything that crosses. It answers requests of the server
 * with what `onRequest` returns, and does nothing else by itself.
 */
export interface RawClient {
  /** The kind of transport. */
  readonly transport: "channel" | "http";
  /**
   * Sends one frame as it is. With the id of a request it waits for the answer, at most for the timeout. Without one it resolves when the
   * frame is on its way, and over HTTP when the response is there.
   */
  send(frame: string | Uint8Array, id?: string | number, request?: RawRequest): Promise<RawReply>;
  /** Returns the frame that answers a request of the server. Called in order of arrival. */
  onRequest: ((request: JsonObject) => string | undefined) | undefined;
  /** The errors without an id so far: each answers a frame that the server could not read. */
  readonly errorsWithoutId: readonly JsonObject[];
  /** The HTTP session that the server has named, if it has. */
  readonly sessionId: string | undefined;
  /** Names this version in every HTTP request from now on. */
  useVersion(version: string): void;
  /** Closes the connection. Resolves to the milliseconds that the server took to exit; undefined where it had to be killed. */
  close(): Promise<number | undefined>;
}

/** The calls that wait for their answers, by id. */
export class PendingReplies {
  readonly #waiting = new Map<string, (reply: RawReply) => void>();
  readonly #timeout: number;
  #nextTimeout: number;
  #ended = false;

  /** @param timeout milliseconds; @param firstTimeout those for the first answer, during which a server may have to start */
  constructor(timeout: number, firstTimeout: number = timeout) {
    this.#timeout = timeout;
    this.#nextTimeout = firstTimeout;
  }

  /** Waits for the answer with an id. */
  wait(id: string | number): Promise<RawReply> {
    if (this.#ended) return Promise.resolve(noAnswer("the server ended"));
    const timeout = this.#nextTimeout;
    this.#nextTimeout = this.#timeout;
    return new Promise((resolve) => {
      const key = keyOf(id);
      const timer = setTimeout(() => finish(noAnswer("no answer in time")), timeout);
      const finish = (reply: RawReply): void => {
        clearTimeout(timer);
        this.#waiting.delete(key);
        resolve(reply);
      };
      this.#waiting.set(key, finish);
    });
  }

  /** Takes a response. */
  take(answer: JsonObject): void {
    this.#waiting.get(keyOf(answer.id))?.({ answer, silence: undefined });
  }

  /** No more answers will come. */
  end(): void {
    this.#ended = true;
    for (const finish of [...this.#waiting.values()]) finish(noAnswer("the server ended"));
  }
}

/** A reply without an answer. */
export function noAnswer(silence: NonNullable<RawReply["silence"]>): RawReply {
  return { answer: undefined, silence };
}

function keyOf(id: unknown): string {
  return `${typeof id} ${String(id)}`;
}

/** Errors without an id that are kept: a server may send any number of them. */
const maxErrorsWithoutId = 1_000;

/** Hands each message of a frame from the server to where it belongs: the errors without an id, the pending replies, or `onRequest`. */
export function dispatch(
  text: string,
  client: Pick<RawClient, "onRequest" | "send"> & { readonly errorsWithoutId: JsonObject[] },
  pending: PendingReplies,
): void {
  for (const message of messagesIn(text)) {
    if (isErrorWithoutId(message)) {
      if (client.errorsWithoutId.length < maxErrorsWithoutId) client.errorsWithoutId.push(message);
    } else if (typeof message.method !== "string") pending.take(message);
    else if (message.id !== undefined) {
      const answer = client.onRequest?.(message);
      if (answer !== undefined) void client.send(answer); // Never rejects; a failure shows in the recording.
    }
  }
}

/**
 * Whether a message is an error that answers a frame that could not be read.
 *
 * @example
 * isErrorWithoutId({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } }); // true
 */
export function isErrorWithoutId({ method, error, id = null }: JsonObject): boolean {
  return method === undefined && error !== undefined && id === null;
}

/** The messages of a frame; none for a frame that is not JSON. */
export function messagesIn(text: string): readonly JsonObject[] {
  try {
    const value: unknown = JSON.parse(text);
    return (Array.isArray(value) ? value : [value]).filter(isObject);
  } catch {
    return []; // The rules report it.
  }
}

/** Which way a frame went, over which channel, and in which HTTP exchange. */
export type FramePlace = Pick<FrameEntry, "s" | "d" | "ch" | "req" | "ev" | "cut"> & Partial<Pick<FrameEntry, "nl">>;

/** Numbers and times the entries of one recording, however many connections they come from. */
export class EntryWriter {
  readonly #start = performance.now();
  readonly #onEntry: (entry: Entry) => void;
  #n = 0;
  #exchange = 0;

  constructor(onEntry: (entry: Entry) => void) {
    this.#onEntry = onEntry;
  }

  /** Milliseconds since the recording began. */
  get now(): number {
    return Math.round((performance.now() - this.#start) * 1_000) / 1_000;
  }

  /** The number of an HTTP exchange that begins. */
  nextExchange(): number {
    this.#exchange += 1;
    return this.#exchange;
  }

  /** Records an observation of this moment. */
  write(make: (n: number, t: number) => Entry): void {
    this.#n += 1;
    this.#onEntry(make(this.#n, this.now));
  }

  /** Records a frame. @param len its length, where `bytes` is no more than its beginning */
  frame(bytes: Uint8Array, { s, d, ch, nl = "", ...more }: FramePlace, len: number = bytes.length): void {
    const kept = bytes.length < len ? { kept: bytes.length } : {};
    this.write((n, t) => ({ k: "f", n, s, t, d, ch, len, nl, ...kept, ...more, ...recordedBytes(bytes) }));
  }
}
