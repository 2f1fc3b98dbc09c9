import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Clock, setBackgroundTimer, systemClock, type Timer } from "../../base/clock.js";
import { whenAborted } from "../../jsonrpc/abort-listeners.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { utf8Length } from "../../transport/framing/utf8.js";
import { readChunks } from "./body.js";

/** One event of a stream. */
export type StreamEvent = Readonly<EventSourceMessage>;

/** How to read an event stream. */
export interface EventStreamReading {
  /** A description of the stream, or of the request that it responds to, for error messages. */
  readonly what: string;
  /** The maximum size of one message in bytes: of the data of an event. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Whether to replace invalid UTF-8, and to accept an incomplete last event. */
  readonly lenient?: boolean;
  /** Measures the silence of a stream that has sent keep-alives. */
  readonly clock?: Clock;
  /** While reading is paused, a promise that resolves when it may continue. */
  ready?(): Promise<void> | undefined;
  /** Called with the reconnection delay in milliseconds that the server requests. */
  onRetry?(milliseconds: number): void;
}

/** The number of characters that an event may have besides its data: field names, type, id. */
const overhead = 16 * 1024;

/**
 * The maximum number of lines of one event. The parser stores each separately, which takes more memory than its text.
 */
const maxLines = 200_000;

/**
 * The maximum number of lines of a stream that are not valid fields. The parser creates an error for each, which is
 * slow.
 */
const maxStrangeLines = 10_000;

/**
 * Passes the events of a stream to `take`; resolves at its end. An incomplete last event is dropped.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 *
 * @throws LocalError `protocol` if an event is too long, or the stream is not an event stream in UTF-8; Error if a
 * stream with keep-alives becomes silent; the platform's error if it breaks off
 */
export async function readEvents(
  response: Response,
  { what, maxBytes, signal, clock = systemClock, lenient = false, ready, onRetry }: EventStreamReading,
  take: (event: StreamEvent) => void,
): Promise<void> {
  const text = new TextDecoder("utf-8", { fatal: !lenient });
  const lines = new EventLines();
  let strangeLines = 0;
  let isKeepAlive = false;
  const stop = new AbortController();
  const silence = new IdleTimeout(clock, () =>
    stop.abort(new Error(`the server has sent nothing for ${silence.bound} ms`)),
  );
  const parser = createParser({
    maxBufferSize: maxBytes + overhead,
    onEvent(event) {
      if (isLonger(event.data, maxBytes)) throw tooLong();
      take(event);
    },
    onRetry: (milliseconds) => onRetry?.(milliseconds),
    onComment() {
      isKeepAlive = true;
    },
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") throw tooLong();
      strangeLines += 1;
      if (strangeLines > maxStrangeLines) throw invalid(what, "what is no event stream");
    },
  });
  const forget = whenAborted(signal, () => stop.abort());
  try {
    await readChunks(response, stop.signal, feed, ready && unpaused);
  } finally {
    forget();
    silence.end();
  }
  if (stop.signal.aborted && !signal.aborted) throw stop.signal.reason;
  if (lenient && !signal.aborted) parser.feed(lines.unify("\n\n"));

  async function unpaused(): Promise<void> {
    const pending = ready?.();
    if (pending === undefined) return;
    silence.isPaused = true;
    await pending;
    silence.isPaused = false;
  }

  function feed(chunk: Uint8Array): boolean {
    isKeepAlive = false;
    parser.feed(lines.unify(decoded(what, text, chunk)));
    silence.receive(isKeepAlive);
    if (lines.count > maxLines) throw tooLong();
    return true;
  }

  function tooLong(): LocalError {
    return invalid(what, `an event of more than ${maxBytes} bytes or ${maxLines} lines`);
  }
}

/** A UTF-16 unit takes at most three bytes, so most events need no exact measurement. */
function isLonger(text: string, maxBytes: number): boolean {
  return text.length * 3 > maxBytes && utf8Length(text) > maxBytes;
}

function decoded(what: string, text: TextDecoder, chunk: Uint8Array): string {
  try {
    return text.decode(chunk, { stream: true });
  } catch (error) {
    throw invalid(what, "an event stream that is not UTF-8", error);
  }
}

/** The error for a response that breaks a rule. */
export function invalid(what: string, found: string, cause?: unknown): LocalError {
  return new LocalError("protocol", `${what}: received ${found}`, cause === undefined ? {} : { cause });
}

/**
 * Normalises the line endings of an event stream to line feeds, and counts the lines of the incomplete event.
 * Event streams allow three line endings. With line feeds only, the parser takes linear time and delivers an event as
 * soon as its last line is complete; after a carriage return it would wait for the next character, possibly forever.
 */
class EventLines {
  #isBehindReturn = false;
  #isInLine = false;
  #count = 0;

  /** The number of lines of the incomplete event. */
  get count(): number {
    return this.#count;
  }

  /** Normalises the next piece of the stream. */
  unify(text: string): string {
    if (text === "") return text;
    const rest = this.#isBehindReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#isBehindReturn = text.endsWith("\r");
    const unified = rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
    this.#countIn(unified);
    return unified;
  }

  #countIn(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      // An empty line ends the event.
      this.#count = end > start || this.#isInLine ? this.#count + 1 : 0;
      this.#isInLine = false;
      start = end + 1;
    }
    this.#isInLine ||= start < text.length;
  }
}

/** The minimum silence in milliseconds after which the stream counts as dead. */
const shortestBound = 30_000;

/**
 * Detects a dead event stream: if a server vanishes, TCP does not report it. Applies only to servers that have sent
 * keep-alives (comments), and tolerates one missing: the limit is 30 s, or twice the longest distance of two.
 */
class IdleTimeout {
  readonly #clock: Clock;
  readonly #onSilence: () => void;
  #receivedAt: number;
  #bound = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;
  #isPaused = false;
  #isEnded = false;

  /** @param onSilence called once */
  constructor(clock: Clock, onSilence: () => void) {
    this.#clock = clock;
    this.#onSilence = onSilence;
    this.#receivedAt = clock.now();
  }

  /** The maximum silence in milliseconds. */
  get bound(): number {
    return this.#bound;
  }

  /** Records received bytes. `isKeepAlive`: they contained a comment. */
  receive(isKeepAlive: boolean): void {
    const now = this.#clock.now();
    if (isKeepAlive) {
      const known = this.#bound === Number.POSITIVE_INFINITY ? shortestBound : this.#bound;
      this.#bound = Math.max(known, 2 * (now - this.#receivedAt));
    }
    this.#receivedAt = now;
    if (this.#timer === undefined && this.#bound < Number.POSITIVE_INFINITY) this.#watch();
  }

  /** While reading is paused, silence is not measured. */
  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused;
    this.#receivedAt = this.#clock.now();
  }

  /** Stops measuring. */
  end(): void {
    this.#isEnded = true;
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
  }

  #watch(): void {
    if (this.#isEnded) return;
    const left = this.#receivedAt + this.#bound - this.#clock.now();
    const check = (): void => {
      const isSilent = !this.#isPaused && this.#clock.now() - this.#receivedAt >= this.#bound;
      if (isSilent) this.#onSilence();
      else this.#watch();
    };
    this.#timer = setBackgroundTimer(this.#clock, check, this.#isPaused ? this.#bound : left);
  }
}
