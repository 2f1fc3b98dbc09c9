import { type ByteBudget, characterBytes } from "../base/byte-budget.js";
import { longestTimer, type Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import { endGrace, freeQueueBytes, type QueueBounds, UnreadError } from "../jsonrpc/queue-bounds.js";

/** The sending side of a transport, as used by `PacedWriter`. */
export interface PacedSink {
  /** True while `put` must not be called. The transport calls `PacedWriter.progressed` when this changes. */
  readonly isFull: boolean;
  /** The number of characters put and not known to be read. */
  readonly unread: number;
  /** Sends the start of `rest`, as much as fits into one piece, and returns its number of characters. */
  put(rest: string): number;
  /** Closes after everything was put. Resolves when the peer has been notified. */
  end(): Promise<void>;
  /** Closes without delivering what was put. */
  abort(error: Error): void;
}

/**
 * Writes texts to an sink at the peer's reading speed, and counts what is queued. It counts characters, because
 * counting bytes would mean encoding twice.
 *
 * `failed` is called once, if the peer stops reading.
 */
export class PacedWriter {
  readonly #sink: PacedSink;
  readonly #bounds: Required<QueueBounds>;
  readonly #failed: (error: Error) => void;
  readonly #waiting = new Fifo<string>();
  #waitingLength = 0;
  /** `flushing`: the queue is still being put; `ending`: all of it was put. */
  #phase: "open" | "flushing" | "ending" | "over" = "open";
  #room: Deferred<void> | undefined;
  #stallTimer: Timer | undefined;
  #budget: ByteBudget | undefined;
  readonly #ended = deferred<void>();

  constructor(sink: PacedSink, bounds: Required<QueueBounds>, failed: (error: Error) => void) {
    this.#sink = sink;
    this.#bounds = bounds;
    this.#failed = failed;
  }

  /** The number of characters sent and not known to be read. */
  get unread(): number {
    return this.#waitingLength + this.#sink.unread;
  }

  /** Charges unread text to a budget from now on. */
  charge(budget: ByteBudget | undefined): void {
    this.#budget = budget?.child();
  }

  /** Implements `Channel.send`. Texts sent after the end are dropped. */
  send(text: string): void | Promise<void> {
    if (this.#phase !== "open") return;
    // Judge by the text queued before: a single long text is not the reader's fault.
    const before = this.unread;
    this.#waiting.push(text);
    this.#waitingLength += text.length;
    this.#write();
    if (!this.#isAffordable() && before > freeQueueBytes) {
      this.#giveUp(`${before} characters wait to be read, and there is no room for more`);
      return;
    }
    if (this.unread <= this.#bounds.highWaterBytes) return;
    if (before > this.#bounds.maxQueuedBytes) {
      this.#giveUp(`${before} characters wait to be read`);
      return;
    }
    this.#room ??= deferred<void>();
    this.#watch();
    return this.#room.promise;
  }

  /** Called when the sink has been read from or has room again. */
  progressed(): void {
    if (this.#phase === "over") return;
    this.#stopWatch();
    this.#write();
    this.#isAffordable();
    if (this.unread <= this.#bounds.highWaterBytes / 2) this.#makeRoom();
    if (this.#phase === "flushing" && this.#waiting.isEmpty) this.#end();
    else if (this.#phase !== "open" || this.#room !== undefined) this.#watch();
  }

  /**
   * Writes the queue, then closes the sink. Resolves when done, when the sink fails, or when nothing is read for
   * two seconds.
   */
  end(): Promise<void> {
    if (this.#phase === "open") {
      this.#phase = "flushing";
      this.progressed();
    }
    return this.#ended.promise;
  }

  /** Stops writing and releases all waiting senders. */
  stop(): void {
    this.#phase = "over";
    this.#waiting.clear();
    this.#waitingLength = 0;
    this.#budget?.close();
    this.#stopWatch();
    this.#makeRoom();
    this.#ended.resolve();
  }

  /** Updates the budget's charge. Returns false if the budget is exhausted. */
  #isAffordable(): boolean {
    const { unread } = this;
    return this.#budget?.hold(unread > freeQueueBytes ? characterBytes * unread : 0) ?? true;
  }

  #write(): void {
    for (let text = this.#waiting.peek(); text !== undefined && !this.#sink.isFull; text = this.#waiting.peek()) {
      const taken = this.#sink.put(text);
      this.#waitingLength -= taken;
      if (taken < text.length) this.#waiting.replace(text.slice(taken));
      else this.#waiting.shift();
    }
    if (!this.#waiting.isEmpty) this.#watch();
  }

  #end(): void {
    this.#phase = "ending";
    this.#watch();
    void this.#sink.end().then(() => this.stop());
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Starts the stall timer, unless it is running. */
  #watch(): void {
    if (this.#stallTimer !== undefined) return;
    const { clock, stallTimeout } = this.#bounds;
    const patience = this.#phase === "open" ? stallTimeout : Math.min(endGrace, stallTimeout);
    const giveUp = (): void => this.#giveUp(`nothing was read for ${patience} ms`);
    this.#stallTimer = clock.setTimer(giveUp, Math.min(patience, longestTimer));
    // While open, a stalled peer must not keep the process alive. While ending, `end` may be awaited.
    if (this.#phase === "open") this.#stallTimer.unref?.();
  }

  #stopWatch(): void {
    if (this.#stallTimer !== undefined) this.#bounds.clock.clearTimer(this.#stallTimer);
    this.#stallTimer = undefined;
  }

  #giveUp(why: string): void {
    const error = new UnreadError(why);
    const wasOpen = this.#phase === "open";
    this.stop();
    this.#sink.abort(error);
    if (wasOpen) this.#failed(error);
  }
}

/** A queue with constant-time operations at any length. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  /** The index of the first item; earlier slots are empty. */
  #first = 0;

  get isEmpty(): boolean {
    return this.#first === this.#items.length;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The first item; undefined if the queue is empty. */
  peek(): T | undefined {
    return this.#items[this.#first];
  }

  /** Replaces the first item. */
  replace(item: T): void {
    this.#items[this.#first] = item;
  }

  /** Removes and returns the first item. */
  shift(): T | undefined {
    const item = this.#items[this.#first];
    this.#items[this.#first] = undefined;
    this.#first += 1;
    if (this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#first = 0;
  }
}
