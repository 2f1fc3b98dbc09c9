import type { ByteBudget } from "../../base/byte-budget.js";
import { type Deferred, deferred } from "../../base/deferred.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import type { LossyNotification } from "../../jsonrpc/calls/outbox.js";
import type { HttpHeaders, HttpResponse } from "./request.js";
import { jsonHeaders, streamResponse } from "./responses.js";
import { bodyOf, EventStream, messageEvent, type Pingable, type StreamLimits } from "./streams/event-stream.js";

/**
 * The response to a POST with a request: JSON, or an event stream as soon as another message precedes the response.
 * https://modelcontextprotocol.io/specification/latest/basic/transports/streamable-http
 */
export class PostResponse implements Pingable {
  readonly #limits: StreamLimits;
  readonly #budget: ByteBudget;
  #response: HttpResponse | Deferred<HttpResponse> | undefined;
  #stream: EventStream | undefined;
  #isOver = false;
  #status = 200;
  #headers: HttpHeaders = jsonHeaders;

  /** @param budget charged for queued text */
  constructor(limits: StreamLimits, budget: ByteBudget) {
    this.#limits = limits;
    this.#budget = budget;
  }

  /** Synchronous if the response is known. */
  get response(): MaybePromise<HttpResponse> {
    this.#response ??= deferred<HttpResponse>();
    return "promise" in this.#response ? this.#response.promise : this.#response;
  }

  /** Whether the response was sent, or none will be. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether messages before the response are written without waiting for the reader. */
  get hasRoom(): boolean {
    return this.#stream === undefined || this.#stream.hasRoom;
  }

  /** Sends a message before the response. `lossy`: a notification that may be dropped while queued. */
  send(frame: string, lossy?: LossyNotification): void {
    this.push(this.stream(), frame, lossy);
  }

  /** The status of the response, and headers for it, if no message is sent before it. Default: 200. */
  setStatus(status: number, headers?: HttpHeaders): void {
    this.#status = status;
    this.#headers = { ...jsonHeaders, ...headers };
  }

  /** Sends the response. */
  respond(frame: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#stream === undefined) {
      const body = bodyOf(frame, this.#limits, this.#budget);
      this.#settle({ status: this.#status, headers: this.#headers, body });
    } else {
      this.push(this.#stream, frame);
      this.finish(this.#stream);
    }
  }

  /** Ends without a response, because the call was cancelled. */
  giveUp(): void {
    if (this.#isOver) return;
    this.finish(this.stream());
    this.#isOver = true;
  }

  /** Sends a keep-alive. A response that takes long becomes a stream. */
  ping(): boolean {
    if (!this.#isOver) this.stream().ping();
    return !this.#isOver;
  }

  /** Resolves when the reader has room. */
  drained(): Promise<void> {
    return this.#stream?.drained() ?? Promise.resolve();
  }

  /** Turns the response into an event stream. Must not be called after the response. */
  protected stream(): EventStream {
    if (this.#stream === undefined) {
      this.#stream = new EventStream(this.#limits, this.#budget);
      this.opened(this.#stream);
      this.#settle(streamResponse(this.#stream));
    }
    return this.#stream;
  }

  /** Called with the new event stream, before anything is written to it. */
  protected opened(_stream: EventStream): void {
    // Nothing precedes the first message.
  }

  protected push(stream: EventStream, frame: string, lossy?: LossyNotification): void {
    stream.push(messageEvent(frame), lossy);
  }

  protected finish(stream: EventStream): void {
    stream.end();
  }

  #settle(response: HttpResponse): void {
    if (this.#response === undefined) this.#response = response;
    else if ("promise" in this.#response) this.#response.resolve(response);
  }
}
