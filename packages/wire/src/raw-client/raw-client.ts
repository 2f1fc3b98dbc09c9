import type { Tapped } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import type { Entry, FrameEntry } from "../recording/entry.js";
import { recordedBytes } from "../recording/frame.js";

/** The result of sending something. */
export interface RawReply {
  /** The message that answers: the one with the id of the request or, over HTTP, an error without an id. */
  readonly answer: JsonObject | undefined;
  /** Why there is no answer. */
  readonly silence:
    | "nothing was owed"
    | "no answer in time"
    | "an answer without a line feed"
    | "the server ended"
    | undefined;
  /** The head of the HTTP response, and the beginning of its body. */
  readonly http?: RawResponse;
  /** Why the connection ended, or why there is no HTTP response. */
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
  /** Whether the body ended, or broke off, before reading stopped. */
  readonly isWhole: boolean;
}

/** The differences of one HTTP request from the default POST. */
export interface RawRequest {
  /** The HTTP method. Default: `"POST"`. */
  readonly method?: "POST" | "GET" | "DELETE";
  /** The URL. Default: that of the server. */
  readonly url?: string;
  /** Headers that replace those a client has to send; an empty value removes the header. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * How much of the response body is read. `answer` (default): up to the answer; without an id, the whole body, but nothing of an
   * event stream. `beginning`: up to the first event, or 64 KiB. A function is called with the head, and the body is read until
   * its promise resolves.
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
  /** Called with every message, and with each refused frame and the reason. Default: none. */
  readonly onFrame?: (tapped: Tapped) => void;
}

/**
 * A client that sends exactly the given bytes, valid or not, and records both directions. It answers requests of the server with
 * the result of `onRequest`, and sends nothing else by itself.
 */
export interface RawClient {
  /** The kind of transport. */
  readonly transport: "channel" | "http";
  /**
   * Sends one frame unchanged. With the id of a request, it waits for the response until the timeout. Without an id, it resolves
   * when the frame is sent, or over HTTP when the HTTP response has arrived. The pieces of a frame are written one after another, with
   * a pause between them, where the transport is a stream of bytes.
   */
  send(
    frame: string | Uint8Array | readonly Uint8Array[],
    id?: string | number,
    request?: RawRequest,
  ): Promise<RawReply>;
  /** Called with each request of the server, in order of arrival. Returns the frame with the response. */
  onRequest: ((request: JsonObject) => string | undefined) | undefined;
  /** The responses without an id so far: errors for frames that the server could not read, and whatever it should not have sent. */
  readonly responsesWithoutId: readonly JsonObject[];
  /** How many responses so far answer no request that waits: those without an id, with an unknown one, and second responses. */
  readonly unpairedResponses: number;
  /** The id of the HTTP session; undefined if the server did not set one. */
  readonly sessionId: string | undefined;
  /** Sends this version in the header of every following HTTP request. */
  useVersion(version: string): void;
  /** Closes the connection. Resolves to the milliseconds that the server took to exit; undefined if it had to be killed. */
  close(): Promise<number | undefined>;
}

/** The calls that wait for their answers, by id. */
export class PendingReplies {
  readonly #waiting = new Map<string, (reply: RawReply) => void>();
  readonly #timeout: number;
  readonly #isUnfinished: () => boolean;
  #nextTimeout: number;
  #end: RawReply | undefined;

  /**
   * @param timeout milliseconds
   * @param firstTimeout milliseconds for the first answer, during which a server may have to start
   * @param isUnfinished whether a line of the server has arrived without its end
   */
  constructor(timeout: number, firstTimeout: number = timeout, isUnfinished: () => boolean = () => false) {
    this.#timeout = timeout;
    this.#isUnfinished = isUnfinished;
    this.#nextTimeout = firstTimeout;
  }

  /** Waits for the answer with an id. */
  wait(id: string | number): Promise<RawReply> {
    if (this.#end !== undefined) return Promise.resolve(this.#end);
    const timeout = this.#nextTimeout;
    this.#nextTimeout = this.#timeout;
    return new Promise((resolve) => {
      const key = keyOf(id);
      const timer = setTimeout(
        () => finish(noAnswer(this.#isUnfinished() ? "an answer without a line feed" : "no answer in time")),
        timeout,
      );
      const finish = (reply: RawReply): void => {
        clearTimeout(timer);
        this.#waiting.delete(key);
        resolve(reply);
      };
      this.#waiting.set(key, finish);
    });
  }

  /** Takes a response. Returns false if no request waits for it. */
  take(answer: JsonObject): boolean {
    const finish = this.#waiting.get(keyOf(answer.id));
    finish?.({ answer, silence: undefined });
    return finish !== undefined;
  }

  /** No more answers will come. */
  end(error?: Error): void {
    this.#end ??= { ...noAnswer("the server ended"), ...(error !== undefined && { error }) };
    for (const finish of [...this.#waiting.values()]) finish(this.#end);
  }
}

/** A reply without an answer. */
export function noAnswer(silence: NonNullable<RawReply["silence"]>): RawReply {
  return { answer: undefined, silence };
}

function keyOf(id: unknown): string {
  return `${typeof id} ${String(id)}`;
}

/** The maximum number of responses without an id that are kept: a server may send any number. */
const maxWithoutId = 1_000;

/** Dispatches each message of a frame from the server: to the responses without an id, to the pending replies, or to `onRequest`. */
export function dispatch(
  text: string,
  client: Pick<RawClient, "onRequest" | "send"> & {
    readonly responsesWithoutId: JsonObject[];
    unpairedResponses: number;
  },
  pending: PendingReplies,
): void {
  for (const message of messagesIn(text)) {
    if (isResponseWithoutId(message)) {
      client.unpairedResponses += 1;
      if (client.responsesWithoutId.length < maxWithoutId) client.responsesWithoutId.push(message);
    } else if (typeof message.method !== "string") {
      if (!pending.take(message)) client.unpairedResponses += 1;
    } else if (message.id !== undefined) {
      const answer = client.onRequest?.(message);
      if (answer !== undefined) void client.send(answer); // Never rejects; the recording shows a failure.
    }
  }
}

/**
 * Whether a message is an error that answers a frame that could not be read.
 *
 * @example
 * isErrorWithoutId({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } }); // true
 */
export function isErrorWithoutId(message: JsonObject): boolean {
  return message.error !== undefined && isResponseWithoutId(message);
}

function isResponseWithoutId({ method, id = null }: JsonObject): boolean {
  return method === undefined && id === null;
}

/** The messages of a frame; none for a frame that is not JSON. */
export function messagesIn(text: string): readonly JsonObject[] {
  try {
    const value: unknown = JSON.parse(text);
    return (Array.isArray(value) ? value : [value]).filter(isObject);
  } catch {
    return []; // A rule reports it.
  }
}

/** The direction, channel and HTTP exchange of a frame. */
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

  /** Records a frame. @param len its length, if `bytes` is only its beginning */
  frame(bytes: Uint8Array, { s, d, ch, nl = "", ...more }: FramePlace, len: number = bytes.length): void {
    const kept = bytes.length < len ? { kept: bytes.length } : {};
    this.write((n, t) => ({ k: "f", n, s, t, d, ch, len, nl, ...kept, ...more, ...recordedBytes(bytes) }));
  }
}
