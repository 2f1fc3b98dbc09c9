import { createParser, type EventSourceMessage } from "eventsource-parser";
import { utf8Length } from "../../framing/utf8.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { readChunks } from "./body.js";
import { EventLines } from "./event-lines.js";

/** One event of a stream. */
export type StreamEvent = Readonly<EventSourceMessage>;

/** How an event stream is read. */
export interface EventTerms {
  /** What it is read for, for messages. */
  readonly what: string;
  /** Bytes of the data of one event. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
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
 * @throws LocalError `protocol` for an event that is too long, or what is no event stream in UTF-8; what the platform throws for a
 * stream that breaks off
 */
export async function readEvents(
  response: Response,
  { what, maxBytes, signal, ready, onRetry }: EventTerms,
  take: (event: StreamEvent) => void,
): Promise<void> {
  const text = new TextDecoder("utf-8", { fatal: true });
  const lines = new EventLines();
  let strangeLines = 0;
  const parser = createParser({
    maxBufferSize: maxBytes + overhead,
    onEvent(event) {
      if (isLonger(event.data, maxBytes)) throw tooLong();
      take(event);
    },
    onRetry: (milliseconds) => onRetry?.(milliseconds),
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") throw tooLong();
      strangeLines += 1;
      if (strangeLines > maxStrangeLines) throw invalid(what, "what is no event stream");
    },
  });
  await readChunks(response, signal, feed, ready);

  function feed(chunk: Uint8Array): boolean {
    parser.feed(lines.unify(decoded(what, text, chunk)));
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
