import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Clock, systemClock } from "../../base/clock.js";
import { utf8Length } from "../../framing/utf8.js";
import { onAbort } from "../../jsonrpc/abort-listeners.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { readChunks } from "./body.js";
import { EventLines } from "./event-lines.js";
import { Silence } from "./silence.js";

/** One event of a stream. */
export type StreamEvent = Readonly<EventSourceMessage>;

/** How an event stream is read. */
export interface EventTerms {
  /** What it is read for, for messages. */
  readonly what: string;
  /** Bytes of the data of one event. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Whether what is not UTF-8 is replaced, and an event is taken that the end cuts off. */
  readonly lenient?: boolean;
  /** Measures the silence of a stream that had keep-alives. */
  readonly clock?: Clock;
  /** Pending while nobody takes more. */
  ready?(): Promise<void> | undefined;
  /** Told how many milliseconds the server wants to pass before somebody comes back. */
  onRetry?(milliseconds: number): void;
}

/** Characters that an event may have besides its data: names of fields, its type, its id. */
const overhead = 16 * 1024;

/** Lines of one event. The parser keeps each as a piece of its own, which takes more memory than what stands in it. */
const maxLines = 200_000;

/** Lines of one stream that are no field of an event. The parser makes an error of each, which takes longer than to skip it. */
const maxStrangeLines = 10_000;

/**
 * Hands over the events of a stream as they come; resolves at its end. An event that the end cuts off is none.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 *
 * @throws LocalError `protocol` for an event that is too long, or what is no event stream in UTF-8; Error for a stream that goes
 * silent although it had keep-alives; what the platform throws for one that breaks off
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
  const silence = new Silence(clock, () => stop.abort(new Error(`no sign of life for ${silence.bound} ms`)));
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
    silence.heard(isKeepAlive);
    if (lines.count > maxLines) throw tooLong();
    return true;
  }

  function tooLong(): LocalError {
    return invalid(what, `an event of more than ${maxBytes} bytes or ${maxLines} lines`);
  }
}

/** No character takes more than three bytes, so most events need not be measured. */
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
