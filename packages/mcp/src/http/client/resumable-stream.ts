import type { Clock } from "../../base/clock.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { sleep } from "../../jsonrpc/sleep.js";
import { type EventStreamReading, readEvents, type StreamEvent } from "./event-reader.js";
import { HttpError } from "./http-target.js";

/** A stream to read and to resume. */
export interface ResumableStream extends Required<Omit<EventStreamReading, "onRetry">> {
  /** Reconnect even without event ids, and without a limit on attempts. */
  readonly isEndless: boolean;
  /** From 0 to 1. Spreads the reconnections of many clients over time. */
  readonly random: () => number;
  /**
   * Requests the rest of the stream; undefined if the server cannot be reached now.
   * @throws an error if retrying is useless
   */
  reconnect(lastEventId: string | undefined): Promise<Response | undefined>;
  /** Whether nothing more of the stream is needed. */
  isOver(): boolean;
  take(text: string): void;
}

/** Milliseconds before a reconnect, unless the server sends `retry`. */
const defaultRetry = 1_000;
/** The accepted range of `retry`. */
const shortestRetry = 250;
const longestRetry = 60_000;
/** The average distance of reconnects in milliseconds. */
const distance = 1_000;
/** The number of reconnects that may come sooner. */
const inARow = 4;
/** An event id that is valid in a header. Without one the stream cannot be resumed. */
const sendable = /^[\x20-\x7e]{1,4096}$/;
/** The maximum number of consecutive failures, for the response to a POST. */
const maxFailures = 5;
/**
 * Milliseconds after which a stream counts as useful even without data, because intermediaries may close silent
 * streams.
 */
const soundAfter = 10_000;

/**
 * Reads an event stream to its end. If it breaks off, or the server closes it early so that the client polls, the
 * client reconnects and resumes after the last event.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 *
 * @throws LocalError `closed` if the stream cannot be resumed; the error of `reconnect`
 */
export async function readResumable(stream: ResumableStream, first: Response | undefined): Promise<void> {
  const { what, signal, isEndless, clock, random, lenient } = stream;
  let lastEventId: string | undefined;
  let retry = defaultRetry * (1 - random() / 2);
  const pace = new Pace(clock);
  let response = first;
  for (let failures = 0; ; failures += 1) {
    if (response !== undefined && (await readOnce(response))) failures = 0;
    if (signal.aborted || stream.isOver()) return;
    if (!isEndless && (lastEventId === undefined || failures >= maxFailures)) throw unanswered(what);
    await sleep(clock, pace.waitFor(backOff(retry, failures, random)), signal);
    if (signal.aborted || stream.isOver()) return;
    response = await stream.reconnect(lastEventId);
  }

  /** Reads one response. Returns whether the connection was useful. */
  async function readOnce(from: Response): Promise<boolean> {
    const since = clock.now();
    let isAlive = false;
    const onRetry = (milliseconds: number): void => {
      retry = Math.min(longestRetry, Math.max(shortestRetry, milliseconds));
    };
    const take = ({ id, data, event = "message" }: StreamEvent): void => {
      isAlive = true;
      if (id !== undefined) lastEventId = sendable.test(id) ? id : undefined;
      if ((event === "message" || lenient) && data !== "") stream.take(data);
    };
    try {
      await readEvents(from, { ...stream, onRetry }, take);
    } catch (error) {
      if (error instanceof LocalError) throw error; // A protocol error would only repeat.
    }
    return isAlive || clock.now() - since >= soundAfter;
  }
}

/** The server's delay at first, then exponential backoff with jitter. */
function backOff(retry: number, failures: number, random: () => number): number {
  if (failures === 0) return retry;
  return Math.max(retry, Math.min(longestRetry, retry * 2 ** failures) * (1 - random() / 2));
}

/** Limits the rate of reconnects, for servers that close each stream at once. */
class Pace {
  readonly #clock: Clock;
  /** The time of the next reconnect if all had kept the distance. */
  #due: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#due = clock.now();
  }

  /** `wait`, or longer if the rate limit requires it. */
  waitFor(wait: number): number {
    const now = this.#clock.now();
    const at = Math.max(now + wait, this.#due - inARow * distance);
    this.#due = Math.max(this.#due, at) + distance;
    return at - now;
  }
}

/** The error of a POST whose response is lost. */
export function unanswered(what: string): LocalError {
  return new LocalError("closed", `${what}: the HTTP response ended without a JSON-RPC response`);
}

/** Whether a retry may succeed: the server is overloaded or failing, or still holds the broken stream. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof HttpError)) return error instanceof LocalError && error.reason === "closed";
  return (error.status >= 500 && error.status !== 501) || error.status === 409 || error.status === 429;
}
