import { type ByteBudget, characterBytes } from "../../base/byte-budget.js";
import { freeQueueBytes } from "../queue-bounds.js";

/** How a notification may be lost while it waits for a peer that does not read. */
export interface Lossy {
  /** Of two that tell the same, only the later one is sent if the first still waits. Undefined: it is dropped if too much waits. */
  readonly tells?: string | undefined;
}

/** A lossy notification. */
export interface LossyNotification extends Lossy {
  /** The method of the notification. */
  readonly method: string;
}

/**
 * Frames that wait until a peer has room for them, in order. A lossy notification replaces one that waits and tells the same, so
 * that a burst costs one frame, and a peer that reads slowly gets the latest value; it is dropped when too much waits. Other frames
 * never are.
 */
export class Outbox<Waiting extends { readonly frame: string }> {
  /** By what they tell, or by a number of their own. */
  readonly #frames = new Map<string | number, Waiting>();
  readonly #maxLength: number;
  readonly #budget: ByteBudget;
  readonly #dropped: (method: string) => void;
  /** Methods whose drop was reported since the outbox was empty. */
  readonly #reported = new Set<string>();
  #length = 0;
  #lastNumber = 0;

  /**
   * @param maxLength characters that wait, from which on lossy notifications are dropped
   * @param budget is charged for what waits; without room in it lossy notifications are dropped as well
   * @param dropped called once for each method until the outbox is empty again: a burst has thousands of them
   */
  constructor(maxLength: number, budget: ByteBudget, dropped: (method: string) => void) {
    this.#maxLength = maxLength;
    this.#budget = budget.child();
    this.#dropped = dropped;
  }

  get isEmpty(): boolean {
    return this.#frames.size === 0;
  }

  /** Characters that wait. */
  get length(): number {
    return this.#length;
  }

  /**
   * Lets a frame wait. False if the budget has no room for it: a frame that must not be lost waits all the same.
   * `lossy`: the notification, where the frame is one that may be lost.
   */
  push(waiting: Waiting, lossy?: LossyNotification): boolean {
    this.#lastNumber += 1;
    const key = lossy?.tells ?? this.#lastNumber;
    const replaced = this.#frames.get(key);
    const length = this.#length + waiting.frame.length - (replaced?.frame.length ?? 0);
    const isFull = replaced === undefined && this.#length >= this.#maxLength;
    const isAffordable = !(isFull && lossy !== undefined) && this.#charge(length);
    if (!isAffordable && lossy !== undefined) {
      if (!this.#reported.has(lossy.method)) this.#dropped(lossy.method);
      this.#reported.add(lossy.method);
      return false;
    }
    this.#frames.delete(key); // The later one stands behind what came between them.
    this.#frames.set(key, waiting);
    this.#length = length;
    return isAffordable;
  }

  /** Takes frames out and hands them to `write`, as long as there is room. */
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

  /** Nothing is sent any more. */
  clear(): void {
    this.#frames.clear();
    this.#length = 0;
    this.#charge(0);
  }

  #charge(length: number): boolean {
    return this.#budget.hold(length > freeQueueBytes ? characterBytes * length : 0);
  }
}
