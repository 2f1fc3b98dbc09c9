/**
 * A bound on bytes that are kept for a peer, and the count of those that are. Budgets form a tree: what a child takes is
 * taken from its parents too, so a peer has one bound over everything that is kept for it, and a process one over all
 * peers.
 *
 * Synchronous and exact: what was taken is given back by its owner, on every path, and a budget at rest holds zero.
 *
 * @example
 * const tenant = new ByteBudget(64 * 1024 * 1024, processBudget);
 * serveChannel(server, channel, { budget: tenant }); // Every channel of the tenant shares 64 MiB.
 */
export class ByteBudget {
  readonly #limit: number;
  readonly #ceiling: number | undefined;
  #parent: ByteBudget | undefined;
  #held = 0;

  /**
   * @param limit bytes that may be held at the same time
   * @param parent is charged as well
   * @param ceiling the bound on the parent's bytes, where it differs from the parent's own
   */
  constructor(limit: number, parent?: ByteBudget, ceiling?: number) {
    this.#limit = limit;
    this.#parent = parent;
    this.#ceiling = ceiling;
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#held;
  }

  /** A budget for one part of what this one bounds. Its default is no bound of its own. */
  child(limit: number = Number.POSITIVE_INFINITY): ByteBudget {
    return new ByteBudget(limit, this);
  }

  /** Takes the bytes, here and from all parents, or returns false and takes nothing. */
  take(bytes: number): boolean {
    return this.#take(bytes, this.#limit);
  }

  /** Gives back bytes that were taken. */
  give(bytes: number): void {
    this.#held -= bytes;
    this.#parent?.give(bytes);
  }

  /** Whether `take` would succeed. */
  fits(bytes: number): boolean {
    return this.#fits(bytes, this.#limit);
  }

  /** Whether the parents have room: after a refused `take`, true says that the bound that was hit is this budget's own. */
  parentFits(bytes: number): boolean {
    const parent = this.#parent;
    return parent === undefined || parent.#fits(bytes, this.#ceiling ?? parent.#limit);
  }

  /** Changes what is held to `bytes`: for an owner that keeps one amount. False, and no change, where that does not fit. */
  hold(bytes: number): boolean {
    if (bytes > this.#held) return this.take(bytes - this.#held);
    if (bytes < this.#held) this.give(this.#held - bytes);
    return true;
  }

  /** Gives everything back, and leaves the tree: what is still given or taken here counts no more. */
  close(): void {
    this.#parent?.give(this.#held);
    this.#parent = undefined;
  }

  #take(bytes: number, limit: number): boolean {
    if (this.#held + bytes > limit) return false;
    const parent = this.#parent;
    if (parent !== undefined && !parent.#take(bytes, this.#ceiling ?? parent.#limit)) return false;
    this.#held += bytes;
    return true;
  }

  #fits(bytes: number, limit: number): boolean {
    return this.#held + bytes <= limit && this.parentFits(bytes);
  }
}

/**
 * What this process holds for all its peers. Shared by everything that is served and called in it, because memory is; each
 * peer's budget brings its own bound on it (`Limits.processBytes`).
 */
export const processBudget: ByteBudget = new ByteBudget(Number.POSITIVE_INFINITY);
