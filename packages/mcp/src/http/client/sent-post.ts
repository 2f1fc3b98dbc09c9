import type { Clock, Timer } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { LocalError, thrownText } from "../../jsonrpc/errors.js";
import type { FrameIds } from "./frame-ids.js";

/** Milliseconds after the last response until this side closes a stream that stays open. */
const linger = 1_000;

/** Milliseconds for the server to accept a notification or a response. */
const acceptance = 30_000;

/** A sent frame, and the responses that it awaits. */
export class SentPost {
  /** A description of the frame, for error messages. */
  readonly what: string;
  readonly method: string | undefined;
  /** The ids of its requests, as JSON literals. */
  readonly requests: readonly string[];
  /** Whether it is a response to a request of the server. */
  readonly isAnswer: boolean;
  /** Resolves when every request has a response or was cancelled. */
  readonly answered: Promise<void>;
  /** True once the HTTP response has started, so the server has accepted the frame. */
  isTaken = false;
  readonly #answered = deferred<void>();
  readonly #clock: Clock;
  readonly #open: Set<string>;
  readonly #stop = new AbortController();
  #timer: Timer | undefined;

  constructor({ method, requests }: FrameIds, clock: Clock) {
    this.what = nameOf(method, requests);
    this.method = method;
    this.requests = requests;
    this.isAnswer = method === undefined && requests.length === 0;
    this.answered = this.#answered.promise;
    this.#clock = clock;
    this.#open = new Set(requests);
  }

  /** Aborts when no more responses are awaited. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The ids of requests without a response. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  /** Starts the acceptance timeout of notifications and responses. Requests have their own timeout. */
  expectAcceptance(late: (error: LocalError) => void): void {
    if (this.requests.length > 0) return;
    const error = new LocalError("timeout", `${this.what}: the server has not accepted it within ${acceptance} ms`);
    this.#timer = this.#clock.setTimer(() => late(error), acceptance);
    this.#timer.unref?.();
  }

  /** Records a response. */
  answer(request: string): void {
    if (!this.#open.delete(request) || this.#open.size > 0) return;
    this.#answered.resolve();
    this.#timer = this.#clock.setTimer(() => this.stop(), linger);
    this.#timer.unref?.();
  }

  /** Stops waiting for a response. */
  forget(request: string): void {
    if (this.#open.delete(request) && this.#open.size === 0) this.stop();
  }

  stop(): void {
    this.#stop.abort();
    this.end();
  }

  /** Marks the POST as over. */
  end(): void {
    this.#answered.resolve();
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
  }

  /** The error to report for a failure. */
  errorOf(thrown: unknown): LocalError {
    if (thrown instanceof LocalError) return thrown;
    return new LocalError("closed", `${this.what}: the HTTP response broke off: ${thrownText(thrown)}`, {
      cause: thrown,
    });
  }
}

function nameOf(method: string | undefined, [id]: readonly string[]): string {
  if (method === undefined) return id === undefined ? "an answer" : "a batch";
  return id === undefined ? method : `${method} (id ${id})`;
}
