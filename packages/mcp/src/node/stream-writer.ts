import type { Writable } from "node:stream";
import { type ByteBudget, characterBytes } from "../base/byte-budget.js";
import type { Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import { longestTimer } from "../base/settles-within.js";
import { endGrace, freeQueueBytes, type QueueBounds, UnreadError } from "../jsonrpc/queue-bounds.js";

export interface StreamWriterOptions extends Required<QueueBounds> {
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
export class StreamWriter {
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
    if (!this.#busy) this.#start();
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
      if (!this.#busy) this.#start();
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

  #start(): void {
    this.#busy = true;
    process.nextTick(this.#writeNext);
  }

  readonly #writeNext = (): void => {
    if (this.#phase === "over") return;
    const next = this.#take();
    if (next === undefined) {
      this.#busy = false;
      if (this.#phase === "ending") this.#end();
      return;
    }
    this.#output.write(next, this.#written);
    if (this.#output.writableLength > 0) this.#watch();
  };

  /** Removes the next piece to write from the queue. */
  #take(): Uint8Array | string | undefined {
    if (this.#rest.length === 0) {
      const text = this.#waiting;
      this.#waiting = "";
      if (text.length <= pieceBytes) return text === "" ? undefined : text;
      this.#rest = Buffer.from(text);
    }
    const piece = this.#rest.subarray(0, pieceBytes);
    this.#rest = this.#rest.subarray(pieceBytes);
    return piece;
  }

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
