import { type ByteBudget, characterBytes } from "../../base/byte-budget.js";
import { freeQueueBytes } from "../queue-bounds.js";

/** How a queued notification may be lost if the peer does not read. */
export interface Lossy {
  /**
   * A later notification with the same key replaces this one while it is queued. Undefined: none replaces it, and it is
   * dropped if the queue is too long.
   */
  readonly key?: string | undefined;
}

/** A lossy notification. */
export interface LossyNotification extends Lossy {
  /** The method of the notification. */
  readonly method: string;
}

/**
 * The queue of frames for a peer that does not keep up, in order. A lossy notification replaces a queued one with the
 * same key, so that a burst costs one frame and a slow reader gets the latest value. It is dropped if the queue is too
 * long. Other frames are never dropped.
 */
export class Outbox<Waiting extends { readonly frame: string }> {
  /** By the key of a lossy notification, or by a unique number. */
  readonly #frames = new Map<string | number, Waiting>();
  readonly #maxLength: number;
  readonly #budget: ByteBudget;
  readonly #dropped: (method: string) => void;
  /** Methods whose drop was reported since the outbox was empty. */
  readonly #reported = new Set<string>();
  #length = 0;
  #lastNumber = 0;

  /**
   * @param maxLength queued characters from which on lossy notifications are dropped
   * @param budget charged for the queue; lossy notifications are dropped if it has no room
   * @param dropped called once per method until the outbox is empty again: a burst has thousands of notifications
   */
  constructor(maxLength: number, budget: ByteBudget, dropped: (method: string) => void) {
    this.#maxLength = maxLength;
    this.#budget = budget.child();
    this.#dropped = dropped;
  }

  get isEmpty(): boolean {
    return this.#frames.size === 0;
  }

  /** Queued characters. */
  get length(): number {
    return this.#length;
  }

  /**
   * Queues a frame. Returns false if the budget has no room for it; a frame that must not be lost is queued anyway.
   * @param lossy the notification, if it may be lost
   */
  push(waiting: Waiting, lossy?: LossyNotification): boolean {
    this.#lastNumber += 1;
    const key = lossy?.key ?? this.#lastNumber;
    const replaced = this.#frames.get(key);
    const length = this.#length + waiting.frame.length - (replaced?.frame.length ?? 0);
    const isFull = replaced === undefined && this.#length >= this.#maxLength;
    const isAffordable = !(isFull && lossy !== undefined) && this.#charge(length);
    if (!isAffordable && lossy !== undefined) {
      if (!this.#reported.has(lossy.method)) this.#dropped(lossy.method);
      this.#reported.add(lossy.method);
      return false;
    }
    this.#frames.delete(key); // The later one takes its place at the end.
    this.#frames.set(key, waiting);
    this.#length = length;
    return isAffordable;
  }

  /** Removes frames and passes them to `write`, as long as there is room. */
  flush(write: (waiting: Waiting) => void, hasRoom: () => boolean): void {
    for (const [key, waiting] of this.#frames) {
      if (!hasRoom()) break;
      this.#frames.delete(key);
      this.#length -= waiting.frame.length;
      write(waiting);
    }
    this.#charge(this.#length);
    if (this.isEmpty) this.#reported.clear();
  }

  /** Drops all frames. */
  clear(): void {
    this.#frames.clear();
    this.#length = 0;
    this.#charge(0);
  }

  #charge(length: number): boolean {
    return this.#budget.hold(length > freeQueueBytes ? characterBytes * length : 0);
  }
}
