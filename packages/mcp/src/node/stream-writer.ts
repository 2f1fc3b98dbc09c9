import type { Writable } from "node:stream";
import type { ByteBudget } from "../base/byte-budget.js";
import type { Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import { longestTimer } from "../base/settles-within.js";
import { endGrace, freeQueueBytes, type QueueBounds, UnreadError } from "../jsonrpc/queue-bounds.js";
import { characterBytes } from "../jsonrpc/weight.js";

export interface StreamWriterOptions extends Required<QueueBounds> {
  readonly keepsOutputOpen: boolean;
}

/** The most that one write holds, so that every write that ends is a sign that the peer reads. */
const pieceBytes = 64 * 1024;

const nothing = new Uint8Array(0);

/**
 * Writes to a stream, one write at a time: what was sent in one tick goes out together, and what waits is known.
 *
 * `failed` hears, once, that nothing can be written any more: the carrier broke, or the peer does not read.
 */
export class StreamWriter {
  readonly #output: Writable;
  readonly #options: StreamWriterOptions;
  readonly #failed: (error: Error) => void;
  #phase: "open" | "ending" | "over" = "open";
  /** A write is under way, or about to be. */
  #busy = false;
  /** What was sent and is not with the stream: the rest of a long text, and behind it whole texts. */
  #rest: Uint8Array = nothing;
  #waiting = "";
  #room: Deferred<void> | undefined;
  #stallTimer: Timer | undefined;
  #budget: ByteBudget | undefined;
  readonly #ended = deferred<void>();

  constructor(output: Writable, options: StreamWriterOptions, failed: (error: Error) => void) {
    this.#output = output;
    this.#options = options;
    this.#failed = failed;
    output.on("error", this.#onError);
    output.on("close", this.#onClose);
  }

  /** Charges what waits to a budget from here on. */
  charge(budget: ByteBudget | undefined): void {
    this.#budget = budget?.child();
  }

  /** As `Channel.send` has it. What is sent after the end is dropped. */
  send(text: string): void | Promise<void> {
    if (this.#phase !== "open") return;
    this.#waiting += text;
    this.#start();
    // A text that waits is counted in characters: to count its bytes is to encode it.
    const queued = this.#waiting.length + this.#rest.length + this.#output.writableLength;
    if (queued > freeQueueBytes && !this.#isAffordable() && queued - text.length > freeQueueBytes) {
      this.#giveUp(`${queued} bytes wait to be read, and there is no room for more`);
      return;
    }
    if (queued <= this.#options.highWaterBytes) return;
    // A single long text is no fault of the reader: what counts is what had not gone out before it.
    if (queued - text.length > this.#options.maxQueuedBytes) {
      this.#giveUp(`${queued} bytes wait to be read`);
      return;
    }
    this.#room ??= deferred<void>();
    return this.#room.promise;
  }

  /**
   * Writes what waits, then ends the stream, unless somebody else owns it. Resolves when that is done or cannot be
   * done: the stream is broken, or the peer takes nothing for two seconds.
   */
  end(): Promise<void> {
    if (this.#phase === "open") {
      this.#phase = "ending";
      this.#watch();
      this.#start();
    }
    return this.#ended.promise;
  }

  /** Brings what is charged up to date. What the stream itself holds is a piece, and free. */
  #isAffordable(): boolean {
    const bytes = characterBytes * this.#waiting.length + this.#rest.length;
    return this.#budget?.hold(bytes > freeQueueBytes ? bytes : 0) ?? true;
  }

  #start(): void {
    if (this.#busy) return;
    this.#busy = true;
    process.nextTick(() => this.#writeNext());
  }

  #writeNext(): void {
    if (this.#phase === "over") return;
    const next = this.#take();
    if (next === undefined) {
      this.#busy = false;
      if (this.#phase === "ending") this.#end();
      return;
    }
    this.#output.write(next, (error) => (error ? this.#onError(error) : this.#written()));
    if (this.#output.writableLength > 0) this.#watch();
  }

  /** The next piece to write. */
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

  /** The peer took a piece. */
  #written(): void {
    if (this.#phase === "over") return;
    this.#stopWatch();
    this.#isAffordable();
    if (this.#waiting.length + this.#rest.length <= this.#options.highWaterBytes / 2) this.#makeRoom();
    this.#writeNext();
  }

  #end(): void {
    if (this.#options.keepsOutputOpen) {
      // Every write has been answered, so what goes wrong from here on is the owner's to hear.
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

  /** Waits for a sign of the peer from here on. */
  #watch(): void {
    const { clock, stallTimeout } = this.#options;
    const patience = this.#phase === "ending" ? Math.min(endGrace, stallTimeout) : stallTimeout;
    this.#stopWatch();
    this.#stallTimer = clock.setTimer(
      () => this.#giveUp(`nothing was read for ${patience} ms`),
      Math.min(patience, longestTimer),
    );
    // Somebody may wait for the end; other than that, a peer that stalls is no reason for the process to stay.
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
    this.#fail(new Error(`the peer takes no more input: ${error.message}`, { cause: error }));
  };

  readonly #onClose = (): void => {
    this.#fail(new Error("the peer takes no more input: the stream is closed"));
  };

  #fail(error: Error): void {
    const wasOpen = this.#phase === "open";
    this.#release();
    if (wasOpen) this.#failed(error);
  }

  /** Nothing is written any more, and nobody is kept waiting. */
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
