import { type ByteBudget, weightOfText } from "../../../base/byte-budget.js";
import { type Deferred, deferred } from "../../../base/deferred.js";
import type { MaybePromise } from "../../../base/maybe-promise.js";
import type { LossyNotification } from "../../../jsonrpc/calls/outbox.js";
import { inFlightProblem } from "../../../jsonrpc/calls/responder.js";
import type { Channel, ChannelReceiver } from "../../../jsonrpc/channel.js";
import { Problem } from "../../../jsonrpc/codec/decode.js";
import { membersOf } from "../../../jsonrpc/codec/scan.js";
import { type Id, idKey, isRequest } from "../../../jsonrpc/message.js";
import { problemError } from "../../../jsonrpc/peer-settings.js";
import { InsufficientScope } from "../../../server/required-scopes.js";
import { PostResponse } from "../post-response.js";
import { type Endpoint, forbid } from "../posted-calls.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { closingResponse, emptyResponse, errorResponse, refusal, streamResponse } from "../responses.js";
import { EventStream } from "../streams/event-stream.js";
import type { ReplayableStream, ReplayableStreams } from "../streams/replayable-stream.js";
import { elementsOf, type Posted } from "./handshake-binding.js";

/** The maximum number of messages, and of their characters, queued for the session's stream. */
const maxBacklog = 1_000;
const maxBacklogLength = 512 * 1024;

/**
 * The POSTs and the stream of a session as one channel. A message related to a request goes into the response to its
 * POST; other messages go to the session's stream.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
export class SessionChannel implements Channel {
  readonly #endpoint: Endpoint;
  /** Charged for queued messages. */
  readonly #budget: ByteBudget;
  readonly #streams: ReplayableStreams;
  /** Responses in progress, by request id. */
  readonly #responses = new Map<unknown, SessionResponse>();
  #receiver: ChannelReceiver | undefined;
  /** The response to the POST whose message is being delivered. */
  #current: SessionResponse | undefined;
  #backlog: string[] = [];
  #backlogLength = 0;
  readonly #backlogBudget: ByteBudget;
  readonly #onClosed: () => void;
  #room: Deferred<void> | undefined;
  /** The number of streams that are being resumed. */
  #resuming = 0;
  #isClosed = false;

  /** @param onClosed called once, when it is closed by either side */
  constructor(endpoint: Endpoint, streams: ReplayableStreams, budget: ByteBudget, onClosed: () => void) {
    this.#endpoint = endpoint;
    this.#streams = streams;
    this.#budget = budget;
    this.#backlogBudget = budget.child();
    this.#onClosed = onClosed;
  }

  /** Whether a response is awaited or the stream is being read. */
  get isBusy(): boolean {
    return this.#responses.size > 0 || this.#streams.isMainRead;
  }

  /** Whether another channel on the same streams can take its place. */
  get isAtRest(): boolean {
    return (
      !this.isBusy && this.#resuming === 0 && this.#backlog.length === 0 && this.#room === undefined && !this.#isClosed
    );
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
  }

  send(frame: string, relatedTo?: Id, isAnswer = false, lossy?: LossyNotification): void {
    const related = this.#responseTo(relatedTo);
    const response = related ?? (isAnswer ? this.#current : undefined);
    if (response === undefined) {
      if (!isAnswer) this.#sendToMain(frame, lossy);
    } else if (isAnswer) {
      this.#forget(response);
      response.respond(frame);
    } else {
      response.send(frame, lossy);
    }
  }

  unanswered(request: Id): void {
    const response = this.#responseTo(request);
    if (response === undefined) return;
    this.#forget(response);
    response.giveUp();
  }

  /** A call of a batch that lacks a scope fails by itself. */
  failed(request: Id, thrown: unknown): void {
    const response = this.#responseTo(request);
    if (thrown instanceof InsufficientScope && response?.ids.length === 1) forbid(response, thrown, this.#endpoint);
  }

  drained(relatedTo: Id | undefined): Promise<void> {
    const response = this.#responseTo(relatedTo);
    if (response !== undefined) return response.drained();
    if (this.#streams.isMainRead) return this.#streams.main.drained();
    this.#room ??= deferred<void>();
    return this.#room.promise;
  }

  release(request: Id, retry: number): void {
    this.#responseTo(request)?.release(retry);
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    for (const response of new Set(this.#responses.values())) {
      this.#forget(response);
      response.giveUp();
    }
    this.#streams.end();
    this.#backlog = [];
    this.#backlogBudget.close();
    this.#room?.resolve();
    this.#receiver?.end();
    this.#onClosed();
    return Promise.resolve();
  }

  /** Handles a POST with a message or a batch. */
  post(request: HttpRequest, frame: string, posted: Posted): MaybePromise<HttpResponse> {
    if (this.#isClosed) return closingResponse();
    const messages = elementsOf(posted);
    const ids: Id[] = [];
    for (const each of messages) if (!(each instanceof Problem) && isRequest(each)) ids.push(each.id);
    // While the server drains, the answers of running calls still arrive.
    if (ids.length > 0 && this.#endpoint.closing.aborted) return closingResponse();
    const repeated = ids.find((id) => this.#responses.has(idKey(id)));
    if (repeated !== undefined) return errorResponse(400, problemError(inFlightProblem(repeated)), repeated);
    if (ids.length === 0 && !messages.some((each) => each instanceof Problem)) {
      this.#receiver?.frame(frame, posted);
      return emptyResponse(202);
    }
    const name = this.#streams.nextName();
    const response = new SessionResponse(this.#endpoint, this.#budget, this.#streams, name, ids);
    for (const id of ids) this.#responses.set(idKey(id), response);
    this.#current = response;
    this.#receiver?.frame(frame, posted);
    this.#current = undefined;
    if (response.isOver) return response.response;
    if (ids.length === 0) return emptyResponse(202); // No message requires a response.
    this.#endpoint.keepAlive.add(response);
    request.onGone(() => this.#endpoint.keepAlive.delete(response));
    return response.response;
  }

  /** Handles a GET: opens the session's stream, or resumes a stream. */
  get(request: HttpRequest): MaybePromise<HttpResponse> {
    if (this.#isClosed) return closingResponse();
    const lastEventId = request.header("last-event-id");
    if (lastEventId === undefined || lastEventId === "") {
      if (this.#streams.isMainRead) return refusal(409, "the session already has an open stream: close it first");
      const reader = this.#reader(request);
      this.#streams.main.attach(reader);
      this.#flushBacklog();
      return streamResponse(reader);
    }
    return this.#resume(request, lastEventId);
  }

  async #resume(request: HttpRequest, lastEventId: string): Promise<HttpResponse> {
    const reader = this.#reader(request);
    let isResumed = false;
    this.#resuming += 1;
    try {
      const fault = await this.#streams.resume(lastEventId, reader);
      if (fault !== undefined) return fault;
      isResumed = true;
    } finally {
      this.#resuming -= 1;
      if (!isResumed) reader.gone();
    }
    if (this.#streams.isMainRead) this.#flushBacklog();
    return streamResponse(reader);
  }

  #reader(request: HttpRequest): EventStream {
    const { streams, keepAlive } = this.#endpoint;
    const reader = new EventStream(streams, this.#budget);
    keepAlive.add(reader);
    request.onGone(() => {
      keepAlive.delete(reader);
      reader.gone();
    });
    return reader;
  }

  #responseTo(request: Id | undefined): SessionResponse | undefined {
    return request === undefined ? undefined : this.#responses.get(idKey(request));
  }

  #forget(response: SessionResponse): void {
    for (const id of response.ids) this.#responses.delete(idKey(id));
    this.#endpoint.keepAlive.delete(response);
  }

  #sendToMain(frame: string, lossy: LossyNotification | undefined): void {
    if (this.#streams.isMainRead) {
      this.#streams.main.message(frame, lossy);
    } else if (
      this.#backlog.length < maxBacklog &&
      this.#backlogLength + frame.length <= maxBacklogLength &&
      this.#backlogBudget.take(weightOfText(frame))
    ) {
      this.#backlog.push(frame);
      this.#backlogLength += frame.length;
    } else {
      const method = membersOf(frame).get("method") ?? "a response";
      const reason = "too many messages are queued for a client that does not read the stream of its session";
      const error = new Error(`${method} was dropped: ${reason}`);
      this.#endpoint.settings.report({ kind: "fault", method: "HTTP GET", error });
    }
  }

  #flushBacklog(): void {
    const frames = this.#backlog;
    this.#backlog = [];
    this.#backlogLength = 0;
    this.#backlogBudget.hold(0);
    for (const frame of frames) this.#streams.main.message(frame);
    this.#room?.resolve();
    this.#room = undefined;
  }
}

/** The response to a POST of a session. As an event stream, it can be resumed. */
class SessionResponse extends PostResponse {
  /** The requests of the POST. */
  readonly ids: readonly Id[];
  readonly #streams: ReplayableStreams;
  readonly #name: number;
  #replayable: ReplayableStream | undefined;

  constructor(
    { streams }: Endpoint,
    budget: ByteBudget,
    replayable: ReplayableStreams,
    name: number,
    ids: readonly Id[],
  ) {
    super(streams, budget);
    this.ids = ids;
    this.#streams = replayable;
    this.#name = name;
  }

  /** Ends the event stream early; the client reconnects after `retry` milliseconds for the rest. */
  release(retry: number): void {
    if (this.isOver || !this.#streams.canRelease) return;
    this.stream();
    this.#replayable?.release(retry);
  }

  override drained(): Promise<void> {
    return this.#replayable?.drained() ?? Promise.resolve();
  }

  protected override opened(stream: EventStream): void {
    this.#replayable = this.#streams.add(String(this.#name));
    this.#replayable.attach(stream);
  }

  protected override push(_stream: EventStream, frame: string, lossy?: LossyNotification): void {
    this.#replayable?.message(frame, lossy);
  }

  protected override finish(): void {
    this.#replayable?.end();
  }
}
