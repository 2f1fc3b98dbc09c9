import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { type ByteBudget, characterBytes } from "../base/byte-budget.js";
import { checkMembers, type MembersOf } from "../base/check-members.js";
import { type Clock, longestTimer, type Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import type { FrameDecoder, FrameRefusal, FrameSink, Framing, UnfinishedFrame } from "../base/framing.js";
import { isPromise } from "../base/maybe-promise.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { HookError } from "../jsonrpc/errors.js";
import { atOnce, failureOf } from "../jsonrpc/hooks.js";
import { serverLimits } from "../jsonrpc/limits.js";
import {
  drainGrace,
  endGrace,
  freeQueueBytes,
  type QueueBounds,
  queueBoundsOf,
  queueMembers,
  UnreadError,
} from "../jsonrpc/queue-bounds.js";
import { lines } from "../transport/framing/lines.js";

export interface StreamChannelOptions extends QueueBounds {
  /** The framing of messages in the stream. Default: `lines`. */
  readonly framing?: Framing;
  /**
   * The maximum size of an incoming frame in bytes. Default: 4 MiB. A longer one is skipped in constant memory and
   * reported.
   */
  readonly frameBytes?: number;
  /** Whether to leave the output open on `close`, because another owner needs it. Default: false. */
  readonly keepsOutputOpen?: boolean;
}

/** The members of `StreamChannelOptions`, to detect unknown options. */
export const streamMembers: MembersOf<StreamChannelOptions> = {
  ...queueMembers,
  framing: ["object"],
  frameBytes: ["number", "maxFrameBytes"],
  keepsOutputOpen: ["boolean"],
};

/**
 * A channel over two Node byte streams; a socket can be both. `close` waits for a peer that still reads, but closes if
 * nothing is read for two seconds.
 *
 * @example
 * await using connection = openConnection(streamChannel(socket, socket), { handle: service.call });
 *
 * @throws TypeError for an input that yields strings or objects instead of bytes
 */
export function streamChannel(input: Readable, output: Writable, options: StreamChannelOptions = {}): Channel {
  checkMembers("streamChannel", options, streamMembers);
  return new StreamChannel(input, output, options);
}

export class StreamChannel implements Channel, FrameSink {
  readonly #input: Readable;
  readonly #writer: StreamWriter;
  readonly #options: StreamChannelOptions;
  readonly #clock: Clock;
  readonly #framing: Framing;
  readonly #ended = deferred<Error | undefined>();
  #decoder: FrameDecoder | undefined;
  #receiver: ChannelReceiver | undefined;
  /** The budget for the incomplete frame. */
  budget: ByteBudget | undefined;
  #phase: "open" | "ended" | "closed" = "open";
  #writeError: Error | undefined;
  #drainTimer: Timer | undefined;

  constructor(input: Readable, output: Writable, options: StreamChannelOptions) {
    if (input.readableEncoding !== null || input.readableObjectMode) {
      throw new TypeError("A channel needs a stream of bytes: do not call setEncoding on its input");
    }
    this.#input = input;
    this.#options = options;
    this.#framing = options.framing ?? lines;
    const bounds = queueBoundsOf(options);
    this.#clock = bounds.clock;
    const writerOptions = { ...bounds, keepsOutputOpen: options.keepsOutputOpen ?? false };
    this.#writer = new StreamWriter(output, writerOptions, (error) => this.#writingFailed(error));
    input.on("end", () => this.endInput());
    input.on("close", () => this.endInput());
    input.on("error", (error) => this.#end(error));
    if (input.destroyed || input.readableEnded) this.endInput();
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.budget = receiver.budget?.child();
    this.#writer.charge(receiver.budget);
    const decoder = this.#framing.decoder(this, this.#options.frameBytes ?? serverLimits.frameBytes);
    this.#decoder = decoder;
    // A framing that fails leaves nothing that can be read.
    const unreadable = (error: unknown): void => {
      this.#decoder = undefined;
      this.#end(new HookError("Framing.decoder", error));
    };
    this.#input.on("data", (chunk: Uint8Array) => {
      if (this.#phase !== "open") return;
      try {
        const returned: unknown = decoder.push(chunk);
        if (isPromise(returned)) returned.then(undefined, unreadable); // Only that of a framing of the application is one.
      } catch (error) {
        unreadable(error);
      }
    });
    void this.#ended.promise.then((error) => {
      if (this.#phase === "ended") receiver.end(error);
    });
  }

  get unfinished(): UnfinishedFrame | undefined {
    return this.#decoder?.unfinished;
  }

  /** Takes a frame from the framing. */
  frame(text: string): void {
    if (this.#phase === "open") this.#receiver?.frame(text);
  }

  refuse(refusal: FrameRefusal): void {
    if (this.#phase === "open") this.#receiver?.refuse(refusal);
  }

  send(frame: string): void | Promise<void> {
    if (this.#phase === "closed") return undefined;
    const text = this.#framing.encode(frame);
    return this.#writer.send(typeof text === "string" ? text : atOnce("Framing.encode", () => text));
  }

  /** The rest of the current chunk is still delivered. */
  pause(): void {
    if (this.#phase === "open") this.#input.pause();
  }

  resume(): void {
    this.#input.resume();
  }

  async close(): Promise<void> {
    await this.finish();
    this.#input.destroy();
  }

  /** Stops delivery and closes the output. Input is read and discarded, so that the peer can close its side. */
  finish(): Promise<void> {
    this.#phase = "closed";
    this.#stopDrainTimer();
    this.budget?.close();
    this.#input.resume();
    return this.#writer.end();
  }

  /** Ends the input with what was read. For an owner who knows that no more will come. */
  endInput(): void {
    this.#end(this.#writeError);
  }

  /**
   * Reads what has arrived: when the event loop is late, a timer fires before that. A turn without new bytes is the end. A peer may write
   * for ever, so turns and bytes have a limit.
   */
  async readRest(): Promise<void> {
    const first = bytesRead(this.#input);
    for (let turn = 0; turn < mostTurns; turn += 1) {
      const before = bytesRead(this.#input);
      await new Promise((resolve) => setImmediate(resolve)); // Runs after the streams were polled.
      if (bytesRead(this.#input) === before || bytesRead(this.#input) - first >= mostRest) return;
    }
  }

  #writingFailed(error: Error): void {
    if (this.#phase !== "open") return;
    this.#writeError = error;
    this.#drainTimer = this.#clock.setTimer(() => void this.readRest().then(() => this.endInput()), drainGrace);
  }

  #end(error: Error | undefined): void {
    this.#stopDrainTimer();
    if (this.#phase !== "open") return;
    const failure = failureOf("Framing.decoder", () => this.#decoder?.end()); // An incomplete frame is refused.
    if (this.#phase !== "open") return; // The refusal has closed the channel.
    this.#phase = "ended";
    this.budget?.close();
    this.#ended.resolve(error ?? failure);
  }

  #stopDrainTimer(): void {
    if (this.#drainTimer !== undefined) this.#clock.clearTimer(this.#drainTimer);
    this.#drainTimer = undefined;
  }
}

/** The maximum number of bytes, and of turns of the event loop, of `readRest`: a pipe holds at most 1 MiB. */
const mostRest = 1024 * 1024;
const mostTurns = 16;

/** The bytes that have come from a pipe or a connection, which are sockets to Node; 0 for another stream. */
function bytesRead(input: Readable): number {
  return (input as Socket).bytesRead ?? 0;
}

interface StreamWriterOptions extends Required<QueueBounds> {
  readonly keepsOutputOpen: boolean;
}

/** The maximum size of one write, so that each completed write shows that the peer reads. */
const pieceBytes = 64 * 1024;

const nothing = new Uint8Array(0);

/**
 * Writes texts to a stream, one write at a time: texts sent in one tick are written together, and the queue is
 * measured.
 *
 * `failed` is called once, if the stream breaks or the peer stops reading.
 */
class StreamWriter {
  readonly #output: Writable;
  readonly #options: StreamWriterOptions;
  readonly #failed: (error: Error) => void;
  #phase: "open" | "ending" | "over" = "open";
  /** A write is running or scheduled. */
  #busy = false;
  /** Texts not yet given to the stream: the rest of a long text, followed by whole texts. */
  #rest: Uint8Array = nothing;
  #waiting = "";
  #room: Deferred<void> | undefined;
  #stallTimer: Timer | undefined;
  #budget: ByteBudget | undefined;
  #isCharged = false;
  readonly #ended = deferred<void>();

  constructor(output: Writable, options: StreamWriterOptions, failed: (error: Error) => void) {
    this.#output = output;
    this.#options = options;
    this.#failed = failed;
    output.on("error", this.#onError);
    output.on("close", this.#onClose);
  }

  /** Charges queued text to a budget from now on. */
  charge(budget: ByteBudget | undefined): void {
    this.#budget = budget?.child();
  }

  /** Implements `Channel.send`. Texts sent after the end are dropped. */
  send(text: string): void | Promise<void> {
    if (this.#phase !== "open") return;
    this.#waiting += text;
    if (!this.#busy) {
      this.#busy = true;
      process.nextTick(this.#writeNext);
    }
    // Queued text is counted in characters, because counting bytes would mean encoding twice.
    const queued = this.#waiting.length + this.#rest.length + this.#output.writableLength;
    if (queued > freeQueueBytes && !this.#isAffordable() && queued - text.length > freeQueueBytes) {
      this.#giveUp(`${queued} bytes wait to be read, and there is no room for more`);
      return;
    }
    if (queued <= this.#options.highWaterBytes) return;
    // Judge by the text queued before: a single long text is not the reader's fault.
    if (queued - text.length > this.#options.maxQueuedBytes) {
      this.#giveUp(`${queued} bytes wait to be read`);
      return;
    }
    this.#room ??= deferred<void>();
    return this.#room.promise;
  }

  /**
   * Writes the queue, then closes the stream, unless another owner needs it. Resolves when done, when the stream
   * breaks, or when nothing is read for two seconds.
   */
  end(): Promise<void> {
    if (this.#phase === "open") {
      this.#phase = "ending";
      this.#watch();
      if (!this.#busy) process.nextTick(this.#writeNext);
    }
    return this.#ended.promise;
  }

  /**
   * Updates the budget's charge. The piece inside the stream itself is free. Returns false if the budget is exhausted.
   */
  #isAffordable(): boolean {
    const bytes = characterBytes * this.#waiting.length + this.#rest.length;
    this.#isCharged = bytes > freeQueueBytes;
    return this.#budget?.hold(bytes > freeQueueBytes ? bytes : 0) ?? true;
  }

  /** Writes the next piece of the queue. A long text is written in pieces. */
  readonly #writeNext = (): void => {
    if (this.#phase === "over") return;
    let next: Uint8Array | string = this.#waiting;
    if (this.#rest.length > 0 || next.length > pieceBytes) {
      if (this.#rest.length === 0) {
        this.#rest = Buffer.from(next);
        this.#waiting = "";
      }
      next = this.#rest.subarray(0, pieceBytes);
      this.#rest = this.#rest.subarray(pieceBytes);
    } else if (next !== "") this.#waiting = "";
    else {
      this.#busy = false;
      if (this.#phase === "ending") this.#end();
      return;
    }
    this.#output.write(next, this.#written);
    if (this.#output.writableLength > 0) this.#watch();
  };

  /** Called when the stream has taken a piece. */
  readonly #written = (error?: Error | null): void => {
    if (error) this.#onError(error);
    if (this.#phase === "over") return;
    if (this.#stallTimer !== undefined) this.#stopWatch();
    if (this.#isCharged) this.#isAffordable();
    const isLow = this.#waiting.length + this.#rest.length <= this.#options.highWaterBytes / 2;
    if (isLow && this.#room !== undefined) this.#makeRoom();
    this.#writeNext();
  };

  #end(): void {
    if (this.#options.keepsOutputOpen) {
      // All writes are complete, so later errors belong to the stream's owner.
      this.#output.off("error", this.#onError);
      this.#output.off("close", this.#onClose);
      this.#release();
    } else {
      this.#watch();
      this.#output.end(() => this.#release());
    }
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Starts the stall timer. */
  #watch(): void {
    const { clock, stallTimeout } = this.#options;
    const patience = this.#phase === "ending" ? Math.min(endGrace, stallTimeout) : stallTimeout;
    this.#stopWatch();
    this.#stallTimer = clock.setTimer(
      () => this.#giveUp(`nothing was read for ${patience} ms`),
      Math.min(patience, longestTimer),
    );
    // While open, a stalled peer must not keep the process alive. While ending, `end` may be awaited.
    if (this.#phase === "open") this.#stallTimer.unref?.();
  }

  #stopWatch(): void {
    if (this.#stallTimer !== undefined) this.#options.clock.clearTimer(this.#stallTimer);
    this.#stallTimer = undefined;
  }

  #giveUp(why: string): void {
    this.#fail(new UnreadError(why));
    this.#output.destroy();
  }

  readonly #onError = (error: Error): void => {
    this.#fail(new Error(`writing to the peer failed: ${error.message}`, { cause: error }));
  };

  readonly #onClose = (): void => {
    this.#fail(new Error("writing to the peer failed: the stream is closed"));
  };

  #fail(error: Error): void {
    const wasOpen = this.#phase === "open";
    this.#release();
    if (wasOpen) this.#failed(error);
  }

  /** Stops writing and releases all waiting senders. */
  #release(): void {
    this.#phase = "over";
    this.#waiting = "";
    this.#rest = nothing;
    this.#budget?.close();
    this.#stopWatch();
    this.#makeRoom();
    this.#ended.resolve();
  }
}
