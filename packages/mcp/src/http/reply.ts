import type { ByteBudget } from "../base/byte-budget.js";
import { type Deferred, deferred } from "../base/deferred.js";
import type { MaybePromise } from "../base/later.js";
import type { LossyNotification } from "../jsonrpc/outbox.js";
import { jsonAnswer, streamAnswer } from "./answers.js";
import { EventStream, longestWrite, type StreamTerms } from "./event-stream.js";
import { messageEvent } from "./events.js";
import type { Outlet } from "./outlet.js";
import type { Living } from "./pulse.js";
import type { HttpAnswer } from "./request.js";

/**
 * The answer to one POST that owes a response: JSON, or an event stream as soon as something has to be told before it.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http
 */
export class Reply implements Living {
  readonly #terms: StreamTerms;
  readonly #budget: ByteBudget;
  readonly #outlet: Outlet | undefined;
  #answer: HttpAnswer | Deferred<HttpAnswer> | undefined;
  #stream: EventStream | undefined;
  #isOver = false;

  /**
   * @param budget is charged for what waits for the reader
   * @param outlet through which the stream can lose its reader and be resumed
   */
  constructor(terms: StreamTerms, budget: ByteBudget, outlet?: Outlet) {
    this.#terms = terms;
    this.#budget = budget;
    this.#outlet = outlet;
  }

  /** At once if it is known. */
  get answer(): MaybePromise<HttpAnswer> {
    this.#answer ??= deferred<HttpAnswer>();
    return "promise" in this.#answer ? this.#answer.promise : this.#answer;
  }

  /** It is an event stream, or has been one. */
  get isStream(): boolean {
    return this.#stream !== undefined;
  }

  /** The response has been given, or there will be none. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Something that comes before the response. `lossy`: a notification that may be lost while it waits. */
  tell(frame: string, lossy?: LossyNotification): void {
    this.#write(this.stream(), frame, lossy);
  }

  /** The response. `status` counts only where nothing was told before it. */
  respond(frame: string, status = 200): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#stream === undefined) {
      this.#settle(jsonAnswer(status, frame.length > longestWrite ? this.#written(frame) : frame));
    } else {
      this.#write(this.#stream, frame);
      this.#end(this.#stream);
    }
  }

  /** There will be no response: its caller has cancelled. */
  giveUp(): void {
    if (this.#isOver) return;
    this.#end(this.stream());
    this.#isOver = true;
  }

  /** A sign of life. A response that lets itself be waited for becomes a stream, where there can be one. */
  beat(): boolean {
    if (!this.#isOver) this.stream().beat();
    return !this.#isOver;
  }

  /** Resolves when the reader has room for more. */
  drained(): Promise<void> {
    return (this.#outlet ?? this.#stream)?.drained() ?? Promise.resolve();
  }

  /** Lets the reader go: it comes back after `retry` milliseconds for the rest. */
  release(retry: number): void {
    if (this.#isOver || this.#outlet?.canRelease !== true) return;
    this.stream();
    this.#outlet.release(retry);
  }

  /** The stream that it is from here on. Not for one that is over. */
  stream(): EventStream {
    if (this.#stream === undefined) {
      this.#stream = new EventStream(this.#terms, this.#budget);
      this.#outlet?.attach(this.#stream);
      this.#settle(streamAnswer(this.#stream));
    }
    return this.#stream;
  }

  /** A long body as one that is written bit by bit, so that a reader that does not read it is given up. */
  #written(frame: string): EventStream {
    const body = new EventStream(this.#terms, this.#budget);
    body.push(frame);
    body.end();
    return body;
  }

  #write(stream: EventStream, frame: string, lossy?: LossyNotification): void {
    if (this.#outlet === undefined) stream.push(messageEvent(frame), lossy);
    else this.#outlet.message(frame, lossy);
  }

  #end(stream: EventStream): void {
    if (this.#outlet === undefined) stream.end();
    else this.#outlet.end();
  }

  #settle(answer: HttpAnswer): void {
    if (this.#answer === undefined) this.#answer = answer;
    else if ("promise" in this.#answer) this.#answer.resolve(answer);
  }
}
