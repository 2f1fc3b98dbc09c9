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
 * The response to a POST with a request: JSON, or an event stream as soon as another message precedes the response.
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
   * @param budget charged for queued text
   * @param outlet the resumable stream of the response, if any
   */
  constructor(terms: StreamTerms, budget: ByteBudget, outlet?: Outlet) {
    this.#terms = terms;
    this.#budget = budget;
    this.#outlet = outlet;
  }

  /** Synchronous if the response is known. */
  get answer(): MaybePromise<HttpAnswer> {
    this.#answer ??= deferred<HttpAnswer>();
    return "promise" in this.#answer ? this.#answer.promise : this.#answer;
  }

  /** Whether it has become an event stream. */
  get isStream(): boolean {
    return this.#stream !== undefined;
  }

  /** Whether the response was sent, or none will be. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends a message before the response. `lossy`: a notification that may be dropped while queued. */
  tell(frame: string, lossy?: LossyNotification): void {
    this.#write(this.stream(), frame, lossy);
  }

  /** Sends the response. `status` applies only if no message was sent before. */
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

  /** Ends without a response, because the call was cancelled. */
  giveUp(): void {
    if (this.#isOver) return;
    this.#end(this.stream());
    this.#isOver = true;
  }

  /** Sends a keep-alive. A response that takes long becomes a stream. */
  beat(): boolean {
    if (!this.#isOver) this.stream().beat();
    return !this.#isOver;
  }

  /** Resolves when the reader has room. */
  drained(): Promise<void> {
    return (this.#outlet ?? this.#stream)?.drained() ?? Promise.resolve();
  }

  /** Closes the stream early; the client reconnects after `retry` milliseconds for the rest. */
  release(retry: number): void {
    if (this.#isOver || this.#outlet?.canRelease !== true) return;
    this.stream();
    this.#outlet.release(retry);
  }

  /** Turns it into an event stream. Must not be called after the response. */
  stream(): EventStream {
    if (this.#stream === undefined) {
      this.#stream = new EventStream(this.#terms, this.#budget);
      this.#outlet?.attach(this.#stream);
      this.#settle(streamAnswer(this.#stream));
    }
    return this.#stream;
  }

  /** A long body is written in pieces, so that the stall timer detects a reader that does not read. */
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
