import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Clock, systemClock } from "../../base/clock.js";
import { onAbort } from "../../jsonrpc/abort-listeners.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { utf8Length } from "../../transport/framing/utf8.js";
import { readChunks } from "./body.js";
import { EventLines } from "./event-lines.js";
import { IdleTimeout } from "./idle-timeout.js";

/** One event of a stream. */
export type StreamEvent = Readonly<EventSourceMessage>;

/** How to read an event stream. */
export interface EventTerms {
  /** A description of the stream, for error messages. */
  readonly what: string;
  /** The maximum size of the data of one event in bytes. */
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
  { what, maxBytes, signal, clock = systemClock, lenient = false, ready, onRetry }: EventTerms,
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
  const forget = onAbort(signal, () => stop.abort());
  if (signal.aborted) stop.abort();
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
    silence.emitter(isKeepAlive);
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

function invalid(what: string, found: string, cause?: unknown): LocalError {
  return new LocalError("protocol", `${what}: received ${found}`, cause === undefined ? {} : { cause });
}
