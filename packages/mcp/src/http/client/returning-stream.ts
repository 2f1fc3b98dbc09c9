import type { Clock } from "../../base/clock.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { pause } from "../../lifecycle/pause.js";
import { readEvents, type StreamEvent } from "./event-reader.js";
import { HttpError } from "./http-error.js";

/** What reading a stream and coming back for it needs. */
export interface StreamHost {
  readonly clock: Clock;
  /** From 0 to 1: so that many clients do not come back at once. */
  readonly random: () => number;
  readonly maxBytes: number;
  /** As in `AnswerTerms`. */
  readonly lenient: boolean;
  /**
   * Asks for what is left of the stream; undefined while the server cannot be reached.
   * @throws what means that coming back is of no use
   */
  comeBack(lastEventId: string | undefined): Promise<Response | undefined>;
  take(text: string): void;
  /** Pending while nobody takes more. */
  ready(): Promise<void> | undefined;
}

/** A stream that is read. */
export interface StreamTerms {
  readonly what: string;
  readonly signal: AbortSignal;
  /** Whether nobody waits for anything of it any more. */
  isOver(): boolean;
  /** Comes back even for a stream without ids, and as often as it takes. */
  readonly isEndless: boolean;
}

/** Milliseconds before somebody comes back, where the server does not say. */
const defaultRetry = 1_000;
/** What a server may say of it. */
const shortestRetry = 250;
const longestRetry = 60_000;
/** Milliseconds from one time to the next. */
const distance = 1_000;
/** So often sooner than that. */
const inARow = 4;
/** An id that a header can hold. Without one nobody can come back for what followed. */
const sendable = /^[\x20-\x7e]{1,4096}$/;
/** So often in vain, one after the other, for an answer. */
const maxFailures = 5;
/** Milliseconds from which on a stream has served its purpose, even if nothing came: something on the way ends silent ones. */
const soundAfter = 10_000;

/**
 * Reads an event stream to its end. When it breaks off, or the server ends it early to be polled, the client comes back for the
 * rest behind the last event that it has.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 *
 * @throws LocalError `closed` for a stream that is lost; what `comeBack` throws
 */
export async function readReturning(
  host: StreamHost,
  { what, signal, isOver, isEndless }: StreamTerms,
  first: Response | undefined,
): Promise<void> {
  let lastEventId: string | undefined;
  let retry = defaultRetry * (1 - host.random() / 2);
  const pace = new Pace(host.clock);
  let response = first;
  for (let failures = 0; ; failures += 1) {
    if (response !== undefined && (await readOnce(response))) failures = 0;
    if (signal.aborted || isOver()) return;
    if (!isEndless && (lastEventId === undefined || failures >= maxFailures)) throw lost(what);
    await pause(host.clock, pace.waitFor(backOff(retry, failures, host.random)), signal);
    if (signal.aborted || isOver()) return;
    response = await host.comeBack(lastEventId);
  }

  /** Whether it was of any use. */
  async function readOnce(from: Response): Promise<boolean> {
    const since = host.clock.now();
    let isAlive = false;
    const onRetry = (milliseconds: number): void => {
      retry = Math.min(longestRetry, Math.max(shortestRetry, milliseconds));
    };
    const take = ({ id, data, event = "message" }: StreamEvent): void => {
      isAlive = true;
      if (id !== undefined) lastEventId = sendable.test(id) ? id : undefined;
      if ((event === "message" || host.lenient) && data !== "") host.take(data);
    };
    const ready = (): Promise<void> | undefined => host.ready();
    try {
      const { maxBytes, lenient, clock } = host;
      await readEvents(from, { what, maxBytes, lenient, signal, clock, ready, onRetry }, take);
    } catch (error) {
      if (error instanceof LocalError) throw error; // Nothing better would come of reading it again.
    }
    return isAlive || host.clock.now() - since >= soundAfter;
  }
}

/** As long as the server says, the first time; then longer and longer, each client in its own way. */
function backOff(retry: number, failures: number, random: () => number): number {
  if (failures === 0) return retry;
  return Math.max(retry, Math.min(longestRetry, retry * 2 ** failures) * (1 - random() / 2));
}

/** How often somebody comes back: a server that ends each of its streams at once is not asked many times a second for it. */
class Pace {
  readonly #clock: Clock;
  /** When the next time would be if every one had kept the distance. */
  #due: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#due = clock.now();
  }

  /** `wait`, or as much longer as it takes. */
  waitFor(wait: number): number {
    const now = this.#clock.now();
    const at = Math.max(now + wait, this.#due - inARow * distance);
    this.#due = Math.max(this.#due, at) + distance;
    return at - now;
  }
}

function lost(what: string): LocalError {
  return new LocalError("closed", `${what}: the answer ended without a response`);
}

/** Whether a refusal may not be the last word: the server has trouble, or still holds the stream that has broken. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof HttpError)) return error instanceof LocalError && error.reason === "closed";
  return (error.status >= 500 && error.status !== 501) || error.status === 409 || error.status === 429;
}
