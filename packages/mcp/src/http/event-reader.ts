import { createParser, type EventSourceMessage } from "eventsource-parser";
import { LocalError } from "../jsonrpc/errors.js";
import { readChunks } from "./body.js";

/** One event of a stream. */
export type StreamEvent = Readonly<EventSourceMessage>;

/** How an event stream is read. */
export interface EventTerms {
  /** What it is read for, for messages. */
  readonly what: string;
  /** Characters of one event. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Pending while nobody takes more. */
  ready?(): Promise<void> | undefined;
  /** Told how many milliseconds the server wants to pass before somebody comes back. */
  onRetry?(milliseconds: number): void;
}

/**
 * Hands over the events of a stream as they come; resolves at its end. An event that the end cuts off is none.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 *
 * @throws LocalError `protocol` for an event that is too long or not UTF-8; what the platform throws for a stream that breaks off
 */
export async function readEvents(
  response: Response,
  { what, maxBytes, signal, ready, onRetry }: EventTerms,
  take: (event: StreamEvent) => void,
): Promise<void> {
  const text = new TextDecoder("utf-8", { fatal: true });
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: maxBytes,
    onEvent: take,
    onRetry: (milliseconds) => onRetry?.(milliseconds),
    onError: ({ type }) => {
      isTooLong ||= type === "max-buffer-size-exceeded";
    },
  });
  const feed = (chunk: Uint8Array): boolean => {
    parser.feed(decoded(what, text, chunk));
    return !isTooLong;
  };
  await readChunks(response, signal, feed, ready);
  if (isTooLong) throw new LocalError("protocol", `${what}: received an event of more than ${maxBytes} characters`);
}

function decoded(what: string, text: TextDecoder, chunk: Uint8Array): string {
  try {
    return text.decode(chunk, { stream: true });
  } catch (error) {
    throw notUtf8(what, error);
  }
}

function notUtf8(what: string, cause: unknown): LocalError {
  return new LocalError("protocol", `${what}: received an event stream that is not UTF-8`, { cause });
}
