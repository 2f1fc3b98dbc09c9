import type { ByteBudget } from "../../base/byte-budget.js";
import { type Deferred, deferred } from "../../base/deferred.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import type { LossyNotification } from "../../jsonrpc/calls/outbox.js";
import type { HttpResponse } from "./request.js";
import { jsonResponse, streamResponse } from "./responses.js";
import { EventStream, longestWrite, type StreamTerms } from "./streams/event-stream.js";
import type { Pingable } from "./streams/keep-alive.js";
import type { ReplayableStream } from "./streams/replayable-stream.js";
import { messageEvent } from "./streams/sse-events.js";

/**
 * The response to a POST with a request: JSON, or an event stream as soon as another message precedes the response.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http
 */
export class PostResponse implements Pingable {
  readonly #terms: StreamTerms;
  readonly #budget: ByteBudget;
  readonly #replayable: ReplayableStream | undefined;
  #answer: HttpResponse | Deferred<HttpResponse> | undefined;
  #stream: EventStream | undefined;
  #isOver = false;

  /**
   * @param budget charged for queued text
   * @param outlet the resumable stream of the response, if any
   */
  constructor(terms: StreamTerms, budget: ByteBudget, replayable?: ReplayableStream) {
    this.#terms = terms;
    this.#budget = budget;
    this.#replayable = replayable;
  }

  /** Synchronous if the response is known. */
  get answer(): MaybePromise<HttpResponse> {
    this.#answer ??= deferred<HttpResponse>();
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
  send(frame: string, lossy?: LossyNotification): void {
    this.#write(this.stream(), frame, lossy);
  }

  /** Sends the response. `status` applies only if no message was sent before. */
  respond(frame: string, status = 200): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#stream === undefined) {
      this.#settle(jsonResponse(status, frame.length > longestWrite ? this.#written(frame) : frame));
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
  ping(): boolean {
    if (!this.#isOver) this.stream().ping();
    return !this.#isOver;
  }

  /** Resolves when the reader has room. */
  drained(): Promise<void> {
    return (this.#replayable ?? this.#stream)?.drained() ?? Promise.resolve();
  }

  /** Closes the stream early; the client reconnects after `retry` milliseconds for the rest. */
  release(retry: number): void {
    if (this.#isOver || this.#replayable?.canRelease !== true) return;
    this.stream();
    this.#replayable.release(retry);
  }

  /** Turns it into an event stream. Must not be called after the response. */
  stream(): EventStream {
    if (this.#stream === undefined) {
      this.#stream = new EventStream(this.#terms, this.#budget);
      this.#replayable?.attach(this.#stream);
      this.#settle(streamResponse(this.#stream));
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
    if (this.#replayable === undefined) stream.push(messageEvent(frame), lossy);
    else this.#replayable.message(frame, lossy);
  }

  #end(stream: EventStream): void {
    if (this.#replayable === undefined) stream.end();
    else this.#replayable.end();
  }

  #settle(answer: HttpResponse): void {
    if (this.#answer === undefined) this.#answer = answer;
    else if ("promise" in this.#answer) this.#answer.resolve(answer);
  }
}
