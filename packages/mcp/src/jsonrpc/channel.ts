import type { FrameSink, UnfinishedFrame } from "../base/framing.js";
import type { LossyNotification } from "./calls/outbox.js";
import type { Decoded } from "./codec/decode.js";
import type { Id } from "./message.js";

/** Callbacks of a channel to its owner. Every call is synchronous and in arrival order. */
export interface ChannelReceiver extends FrameSink {
  /**
   * `decoded`: what the frame holds, from a transport that had to look into it anyway. `cause`: what a handler of this process has
   * thrown, when the frame is an error that stands for it; see `Channel.failed`.
   */
  frame(text: string, decoded?: Decoded, cause?: unknown): void;
  /**
   * A request of this side gets no response, on a transport that can detect it: it was refused, or its response is lost. Its call
   * fails with the error.
   */
  lost?(request: Id, error: Error): void;
  /**
   * No more input will come: the peer ended its side, or the transport failed with `error`. `isClosed`: nothing can be sent any more
   * either, so calls of the peer end at once; without it, they may still be answered. Called once.
   */
  end(error?: Error, isClosed?: boolean): void;
}

/**
 * A two-way connection that carries whole frames: the only interface that the author of a transport implements.
 *
 * - **Order.** Frames are delivered in the order in which they arrived and written in the order in which they were sent.
 * - **Start.** Nothing is delivered before `open`, which is called once; frames that arrive earlier wait.
 * - **Backpressure.** `send` never blocks and never throws. It answers with a promise when the transport holds more
 *   than it likes to; the promise resolves when the queue is low again. While it is pending the owner stops reading
 *   (`pause`), so a peer that does not read cannot make this side grow.
 * - **Close.** `close` stops both directions; what was sent before it is written first, if the transport still can.
 *   It resolves when every resource is released, may be called more than once, and is followed by no delivery.
 * - **Memory.** What a channel keeps, unfinished frames and queued output, is charged to the `budget` of its receiver.
 * - **Error.** A broken transport calls `end(error)`. A frame that cannot be read calls `refuse` and the channel lives. What a
 *   method throws or rejects with all the same is reported under its name, e.g. `Channel.close`. For `send` and `resume` the
 *   connection ends as well: a frame is lost, or nothing comes in any more.
 */
export interface Channel {
  /** Begins delivery to the receiver. Called once. */
  open(receiver: ChannelReceiver): void;
  /**
   * `relatedTo` names the request of the peer that this frame belongs to, for transports with more than one stream. With
   * `isAnswer` the frame is its answer, or that of the batch that it came in. `lossy` is a notification that
   * may be lost, for transports with more than one stream: there it may be replaced or dropped while its stream has no room. On others
   * the owner sees to that.
   */
  send(frame: string, relatedTo?: Id, isAnswer?: boolean, lossy?: LossyNotification): void | Promise<void>;
  /** Ends both directions. Resolves when every resource is released; may be called more than once. */
  close(): Promise<void>;
  /** Stop delivering; the transport applies backpressure to the peer. */
  pause?(): void;
  /** Continues delivery after `pause`. */
  resume?(): void;
  /**
   * While requests wait for this side, e.g. for a user who signs in, a promise that resolves when they go on. Meanwhile no call
   * times out, and then their idle timeouts start again.
   */
  readonly waiting?: Promise<unknown> | undefined;
  /** The frame of which only the beginning has arrived, on a transport of bytes. The error of a call that times out names it. */
  readonly unfinished?: UnfinishedFrame | undefined;
  /** Resolves when there is room on the stream of that request, on a transport with more than one stream. */
  drained?(relatedTo: Id | undefined): Promise<void>;
  /** The request of the peer gets no answer, because it was cancelled. */
  unanswered?(request: Id): void;
  /**
   * The answer to the request that is sent next is an error that stands for `thrown`. A channel whose peer is in this process hands
   * the cause over beside the frame; one over HTTP may choose the status of its response by it. No other peer sees a cause.
   */
  failed?(request: Id, thrown: unknown): void;
  /** The peer may go, and come back after `retry` milliseconds for what belongs to its request. */
  release?(request: Id, retry: number): void;
}
