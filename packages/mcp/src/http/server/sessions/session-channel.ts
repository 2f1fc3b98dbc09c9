import { type ByteBudget, weightOfText } from "../../../base/byte-budget.js";
import { type Deferred, deferred } from "../../../base/deferred.js";
import type { MaybePromise } from "../../../base/maybe-promise.js";
import { inFlightProblem } from "../../../jsonrpc/answerer.js";
import type { LossyNotification } from "../../../jsonrpc/calls/outbox.js";
import type { Channel, ChannelReceiver } from "../../../jsonrpc/channel.js";
import { Problem } from "../../../jsonrpc/codec/decode.js";
import { type Id, idKey, isRequest, type Message } from "../../../jsonrpc/message.js";
import { problemError } from "../../../jsonrpc/peer-settings.js";
import { PostResponse } from "../post-response.js";
import type { HttpRequest, HttpResponse } from "../request.js";
import { closingResponse, emptyResponse, errorResponse, refusal, streamResponse } from "../responses.js";
import { EventStream, type StreamTerms } from "../streams/event-stream.js";
import type { KeepAlive } from "../streams/keep-alive.js";
import { ReplayableStream, type ReplayableStreamHost, readEventId } from "../streams/replayable-stream.js";
import { elementsOf, type Posted } from "./handshake-binding.js";

export interface SessionChannelHost extends ReplayableStreamHost {
  /** Charged for queued messages. */
  readonly budget: ByteBudget;
  readonly streams: StreamTerms;
  readonly pulse: KeepAlive;
  /** Called with a message that is dropped because the client does not read the session's stream. */
  dropped(frame: string): void;
}

/** The maximum number of messages, and of their characters, queued for the session's stream. */
const maxBacklog = 1_000;
const maxBacklogLength = 512 * 1024;

/**
 * The maximum number of finished response streams that can still be resumed, as far as the event store has their
 * events.
 */
const maxEndedOutlets = 32;

const mainName = "0";

/**
 * The POSTs and the stream of a session as one channel. A message related to a request goes into the response to its
 * POST; other messages go to the session's stream.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
export class SessionChannel implements Channel {
  readonly #host: SessionChannelHost;
  readonly #main: ReplayableStream;
  /** Responses in progress, by request id. */
  readonly #replies = new Map<unknown, PendingReply>();
  /** Streams by name, including finished ones. */
  readonly #outlets = new Map<string, ReplayableStream>();
  #receiver: ChannelReceiver | undefined;
  /** The POST whose message is being delivered. */
  #current: PendingReply | undefined;
  #backlog: string[] = [];
  #backlogLength = 0;
  readonly #backlogBudget: ByteBudget;
  #room: Deferred<void> | undefined;
  #lastName = 0;
  #isClosed = false;

  constructor(host: SessionChannelHost) {
    this.#host = host;
    this.#backlogBudget = host.budget.child();
    this.#main = new ReplayableStream(host, mainName);
    this.#outlets.set(mainName, this.#main);
  }

  /** Whether a response is awaited or the stream is being read. */
  get isBusy(): boolean {
    return this.#replies.size > 0 || this.#main.hasReader;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
  }

  send(frame: string, relatedTo?: Id, isAnswer = false, lossy?: LossyNotification): void {
    const pending = relatedTo === undefined ? undefined : this.#replies.get(idKey(relatedTo));
    if (isAnswer) this.#answered(pending ?? this.#current, frame);
    else if (pending !== undefined) pending.reply.send(frame, lossy);
    else this.#tellAll(frame, lossy);
  }

  unanswered(request: Id): void {
    const pending = this.#replies.get(idKey(request));
    if (pending === undefined) return;
    this.#forget(pending);
    pending.reply.giveUp();
  }

  drained(relatedTo: Id | undefined): Promise<void> {
    const pending = relatedTo === undefined ? undefined : this.#replies.get(idKey(relatedTo));
    if (pending !== undefined) return pending.reply.drained();
    if (this.#main.hasReader) return this.#main.drained();
    this.#room ??= deferred<void>();
    return this.#room.promise;
  }

  release(request: Id, retry: number): void {
    this.#replies.get(idKey(request))?.reply.release(retry);
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    for (const pending of new Set(this.#replies.values())) {
      this.#forget(pending);
      pending.reply.giveUp();
    }
    this.#main.end();
    this.#backlog = [];
    this.#backlogBudget.close();
    this.#room?.resolve();
    this.#receiver?.end();
    return Promise.resolve();
  }

  /** Handles a POST with a message or a batch. */
  post(request: HttpRequest, frame: string, posted: Posted): MaybePromise<HttpResponse> {
    if (this.#isClosed) return closingResponse();
    const messages = elementsOf(posted);
    const ids = messages.flatMap(idsOf);
    const repeated = ids.find((id) => this.#replies.has(idKey(id)));
    if (repeated !== undefined) return errorResponse(400, problemError(inFlightProblem(repeated)), repeated);
    if (ids.length === 0 && !messages.some((each) => each instanceof Problem)) {
      this.#receiver?.frame(frame, posted);
      return emptyResponse(202);
    }
    const pending = this.#begin(ids);
    this.#current = pending;
    this.#receiver?.frame(frame, posted);
    this.#current = undefined;
    const { reply } = pending;
    if (reply.isOver) return reply.answer;
    if (ids.length === 0) return emptyResponse(202); // No message requires a response.
    this.#host.pulse.add(reply);
    request.onGone(() => this.#host.pulse.delete(reply));
    return reply.answer;
  }

  /** Handles a GET: opens the session's stream, or resumes a stream. */
  get(request: HttpRequest): MaybePromise<HttpResponse> {
    if (this.#isClosed) return closingResponse();
    const lastEventId = request.header("last-event-id");
    if (lastEventId === undefined || lastEventId === "") {
      if (this.#main.hasReader) return refusal(409, "the session already has an open stream: close it first");
      const reader = this.#reader(request);
      this.#main.attach(reader);
      this.#flushBacklog();
      return streamResponse(reader);
    }
    const event = readEventId(lastEventId);
    const replayable = event === undefined ? undefined : this.#outlets.get(event.stream);
    if (event === undefined || replayable === undefined)
      return refusal(400, "Last-Event-ID does not belong to this session");
    return this.#resume(request, replayable, event.sequence);
  }

  async #resume(request: HttpRequest, replayable: ReplayableStream, sequence: number): Promise<HttpResponse> {
    const reader = this.#reader(request);
    let isWhole = false;
    try {
      isWhole = await replayable.resume(reader, sequence);
    } finally {
      if (!isWhole) reader.gone();
    }
    if (!isWhole) return refusal(400, "the events after Last-Event-ID are no longer stored");
    if (replayable === this.#main) this.#flushBacklog();
    return streamResponse(reader);
  }

  #reader(request: HttpRequest): EventStream {
    const reader = new EventStream(this.#host.streams, this.#host.budget);
    this.#host.pulse.add(reader);
    request.onGone(() => {
      this.#host.pulse.delete(reader);
      reader.gone();
    });
    return reader;
  }

  #begin(ids: readonly Id[]): PendingReply {
    this.#lastName += 1;
    const name = String(this.#lastName);
    const replayable = new ReplayableStream(this.#host, name);
    const reply = new PostResponse(this.#host.streams, this.#host.budget, replayable);
    const pending: PendingReply = { reply, replayable, name, keys: ids.map(idKey) };
    for (const key of pending.keys) this.#replies.set(key, pending);
    this.#outlets.set(name, replayable);
    return pending;
  }

  #answered(pending: PendingReply | undefined, frame: string): void {
    if (pending === undefined) return;
    this.#forget(pending);
    pending.reply.respond(frame);
  }

  #forget(pending: PendingReply): void {
    for (const key of pending.keys) this.#replies.delete(key);
    this.#host.pulse.delete(pending.reply);
    if (!pending.reply.isStream) this.#outlets.delete(pending.name);
    else if (this.#outlets.size > maxEndedOutlets) this.#dropOldestOutlet();
  }

  #dropOldestOutlet(): void {
    const live = new Set([this.#main, ...Array.from(this.#replies.values(), ({ replayable }) => replayable)]);
    for (const [name, replayable] of this.#outlets) {
      if (live.has(replayable)) continue;
      this.#outlets.delete(name);
      return;
    }
  }

  #tellAll(frame: string, lossy: LossyNotification | undefined): void {
    if (this.#main.hasReader) {
      this.#main.message(frame, lossy);
    } else if (
      this.#backlog.length < maxBacklog &&
      this.#backlogLength + frame.length <= maxBacklogLength &&
      this.#backlogBudget.take(weightOfText(frame))
    ) {
      this.#backlog.push(frame);
      this.#backlogLength += frame.length;
    } else {
      this.#host.dropped(frame);
    }
  }

  #flushBacklog(): void {
    const frames = this.#backlog;
    this.#backlog = [];
    this.#backlogLength = 0;
    this.#backlogBudget.hold(0);
    for (const frame of frames) this.#main.message(frame);
    this.#room?.resolve();
    this.#room = undefined;
  }
}

/** The response in progress to a POST with one or more requests. */
interface PendingReply {
  readonly reply: PostResponse;
  readonly replayable: ReplayableStream;
  readonly name: string;
  readonly keys: readonly unknown[];
}

function idsOf(element: Message | Problem): readonly Id[] {
  return element instanceof Problem || !isRequest(element) ? [] : [element.id];
}
