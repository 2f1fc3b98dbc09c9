import type { ByteBudget } from "../base/byte-budget.js";
import type { Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import { longestTimer } from "../jsonrpc/caller.js";
import { endGrace, freeQueueBytes, type QueueBounds, UnreadError } from "../jsonrpc/queue-bounds.js";
import { characterBytes } from "../jsonrpc/weight.js";
import { Fifo } from "./fifo.js";

/** The way out of a carrier, as a `PacedWriter` uses it. */
export interface Outlet {
  /** Nothing can be put for now; the carrier calls `PacedWriter.progressed` when that has changed. */
  readonly isFull: boolean;
  /** Characters that were put and, as far as this side knows, not taken. */
  readonly unread: number;
  /** Hands over the beginning of what waits, as much as goes in one piece, and tells how many characters that was. */
  put(rest: string): number;
  /** Everything has been put. Resolves when the other side knows. */
  end(): Promise<void>;
  /** Nobody will take what was put. */
  abort(error: Error): void;
}

/**
 * Puts texts into an outlet no faster than they are taken, and knows how much waits. What it counts are characters: to count
 * the bytes of a text is to encode it.
 *
 * `failed` hears, once, that the peer does not read.
 */
export class PacedWriter {
  readonly #outlet: Outlet;
  readonly #bounds: Required<QueueBounds>;
  readonly #failed: (error: Error) => void;
  readonly #waiting = new Fifo<string>();
  #waitingLength = 0;
  /** `flushing`: what waits is still put; `ending`: all of it was. */
  #phase: "open" | "flushing" | "ending" | "over" = "open";
  #room: Deferred<void> | undefined;
  #stallTimer: Timer | undefined;
  #budget: ByteBudget | undefined;
  readonly #ended = deferred<void>();

  constructor(outlet: Outlet, bounds: Required<QueueBounds>, failed: (error: Error) => void) {
    this.#outlet = outlet;
    this.#bounds = bounds;
    this.#failed = failed;
  }

  /** Characters that were sent and, as far as this side knows, not taken. */
  get unread(): number {
    return this.#waitingLength + this.#outlet.unread;
  }

  /** Charges what is not taken to a budget from here on. */
  charge(budget: ByteBudget | undefined): void {
    this.#budget = budget?.child();
  }

  /** As `Channel.send` has it. What is sent after the end is dropped. */
  send(text: string): void | Promise<void> {
    if (this.#phase !== "open") return;
    // A single long text is no fault of the reader: what counts is what had not been taken before it.
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

  /** The outlet has taken something, or can take more. */
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
   * Puts what waits, then ends the outlet. Resolves when that is done or cannot be done: the outlet is broken, or nothing
   * is taken for two seconds.
   */
  end(): Promise<void> {
    if (this.#phase === "open") {
      this.#phase = "flushing";
      this.progressed();
    }
    return this.#ended.promise;
  }

  /** Nothing is put any more, and nobody is kept waiting. */
  stop(): void {
    this.#phase = "over";
    this.#waiting.clear();
    this.#waitingLength = 0;
    this.#budget?.close();
    this.#stopWatch();
    this.#makeRoom();
    this.#ended.resolve();
  }

  /** Brings what is charged up to date. */
  #isAffordable(): boolean {
    const { unread } = this;
    return this.#budget?.hold(unread > freeQueueBytes ? characterBytes * unread : 0) ?? true;
  }

  #write(): void {
    for (let text = this.#waiting.peek(); text !== undefined && !this.#outlet.isFull; text = this.#waiting.peek()) {
      const taken = this.#outlet.put(text);
      this.#waitingLength -= taken;
      if (taken < text.length) this.#waiting.replace(text.slice(taken));
      else this.#waiting.shift();
    }
    if (!this.#waiting.isEmpty) this.#watch();
  }

  #end(): void {
    this.#phase = "ending";
    this.#watch();
    void this.#outlet.end().then(() => this.stop());
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Waits for a sign of the peer from here on, unless it does already. */
  #watch(): void {
    if (this.#stallTimer !== undefined) return;
    const { clock, stallTimeout } = this.#bounds;
    const patience = this.#phase === "open" ? stallTimeout : Math.min(endGrace, stallTimeout);
    const giveUp = (): void => this.#giveUp(`nothing was read for ${patience} ms`);
    this.#stallTimer = clock.setTimer(giveUp, Math.min(patience, longestTimer));
    // Somebody may wait for the end; other than that, a peer that stalls is no reason for the process to stay.
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
    this.#outlet.abort(error);
    if (wasOpen) this.#failed(error);
  }
}
