import type { Clock, Timer } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { LocalError, thrownText } from "../../jsonrpc/errors.js";
import type { FrameIds } from "./frame-ids.js";

/** Milliseconds: a stream that goes on behind its last response is ended by this side. */
const linger = 1_000;

/** Milliseconds: what is told takes no longer to accept than this, whatever the server then does with it. */
const acceptance = 30_000;

/** A frame on its way, and what is still awaited for it. */
export class SentPost {
  /** What it is, for messages. */
  readonly what: string;
  readonly method: string | undefined;
  /** The ids of the requests in it, as literals. */
  readonly requests: readonly string[];
  /** It answers what the server has asked. */
  readonly isAnswer: boolean;
  /** Resolves when every request in it is answered, or nobody waits for that. */
  readonly answered: Promise<void>;
  /** The server has begun to answer, so it has taken what was sent. */
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

  /** Aborted when nobody waits for anything of it. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The requests without a response, as far as anybody waits for one. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  /** Of what is told, and of answers: `late` hears that the server does not accept it. A call has its own patience. */
  expectAcceptance(late: (error: LocalError) => void): void {
    if (this.requests.length > 0) return;
    const error = new LocalError("timeout", `${this.what}: the server has not accepted it within ${acceptance} ms`);
    this.#timer = this.#clock.setTimer(() => late(error), acceptance);
    this.#timer.unref?.();
  }

  /** A response is here. */
  answer(request: string): void {
    if (!this.#open.delete(request) || this.#open.size > 0) return;
    this.#answered.resolve();
    this.#timer = this.#clock.setTimer(() => this.stop(), linger);
    this.#timer.unref?.();
  }

  /** Nobody waits for that response any more. */
  forget(request: string): void {
    if (this.#open.delete(request) && this.#open.size === 0) this.stop();
  }

  stop(): void {
    this.#stop.abort();
    this.end();
  }

  /** Nothing of it is under way any more. */
  end(): void {
    this.#answered.resolve();
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
  }

  /** Why it has failed. */
  errorOf(thrown: unknown): LocalError {
    if (thrown instanceof LocalError) return thrown;
    return new LocalError("closed", `${this.what}: the answer broke off: ${thrownText(thrown)}`, { cause: thrown });
  }
}

function nameOf(method: string | undefined, [id]: readonly string[]): string {
  if (method === undefined) return id === undefined ? "an answer" : "a batch";
  return id === undefined ? method : `${method} (id ${id})`;
}
