/** Holds what comes under a key until somebody takes it, and lets whoever takes wait for it. */
export class Mailbox<Item> {
  readonly #arrived = new Map<string, Item[]>();
  readonly #waiting = new Map<string, ((item: Item | undefined) => void)[]>();
  #closed = false;

  /** Gives an item to the one that waits longest for its key, or keeps it. */
  put(key: string, item: Item): void {
    const waiting = this.#waiting.get(key)?.shift();
    if (waiting !== undefined) waiting(item);
    else this.#arrived.set(key, [...(this.#arrived.get(key) ?? []), item]);
  }

  /** The next item of a key; undefined once nothing more can come. */
  take(key: string): Promise<Item | undefined> {
    const arrived = this.#arrived.get(key)?.shift();
    if (arrived !== undefined || this.#closed) return Promise.resolve(arrived);
    return new Promise((resolve) => {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), resolve]);
    });
  }

  /** Nothing more comes: whoever waits, waits no longer. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve(undefined);
    this.#waiting.clear();
  }
}
