/**
 * Counts and limits the bytes that are kept for a peer. Budgets form a tree: a child also takes from its parents, so there is one
 * limit for everything kept for a peer, and one for all peers of the process.
 *
 * Synchronous and exact: the owner gives back the bytes that it took, on every path, and an unused budget holds zero.
 *
 * @example
 * // All connections from one address share one budget.
 * await acceptTcp({ port: 7007 }, (channel, { budget }) => serveChannel(server, channel, { budget }));
 */
export class ByteBudget {
  readonly #limit: number;
  readonly #ceiling: number | undefined;
  #parent: ByteBudget | undefined;
  #held = 0;
  /** Shared by all budgets of a peer. */
  readonly #refused: RefusedBytes;

  /**
   * @param limit the maximum number of bytes held at the same time
   * @param parent is charged as well
   * @param ceiling the limit of the parent's bytes for this child, if it differs from the parent's own
   */
  constructor(limit: number, parent?: ByteBudget, ceiling?: number) {
    this.#limit = limit;
    this.#parent = parent;
    this.#ceiling = ceiling;
    this.#refused = parent === undefined || parent === processBudget ? new RefusedBytes() : parent.#refused;
  }

  /** The number of held bytes. */
  get held(): number {
    return this.#held;
  }

  /** A budget for a part of this one. Default: no limit of its own. */
  child(limit: number = Number.POSITIVE_INFINITY): ByteBudget {
    return new ByteBudget(limit, this);
  }

  /**
   * Counts a refused long message. Returns the milliseconds for which its sender must not be read: reading and parsing long
   * messages takes time from all other peers.
   */
  refuse(bytes: number, now: number): number {
    return this.#refused.add(bytes, now);
  }

  /** Takes the bytes, here and from all parents, or returns false and takes nothing. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#limit || !this.parentFits(bytes)) return false;
    this.give(-bytes);
    return true;
  }

  /** Gives back bytes that were taken. */
  give(bytes: number): void {
    this.#held -= bytes;
    for (let parent = this.#parent; parent !== undefined; parent = parent.#parent) parent.#held -= bytes;
  }

  /** Whether `take` would succeed. */
  fits(bytes: number): boolean {
    return this.#held + bytes <= this.#limit && this.parentFits(bytes);
  }

  /** Whether the parents have room. If `take` failed, true means that the limit of this budget itself is exceeded. */
  parentFits(bytes: number): boolean {
    let ceiling = this.#ceiling;
    for (let budget = this.#parent; budget !== undefined; budget = budget.#parent) {
      if (budget.#held + bytes > (ceiling ?? budget.#limit)) return false;
      ceiling = budget.#ceiling;
    }
    return true;
  }

  /** Changes the held bytes to `bytes`, for an owner of one amount. False, and no change, if that does not fit. */
  hold(bytes: number): boolean {
    if (bytes > this.#held) return this.take(bytes - this.#held);
    if (bytes < this.#held) this.give(this.#held - bytes);
    return true;
  }

  /** Gives everything back and leaves the tree: later calls do not change the parents. */
  close(): void {
    this.#parent?.give(this.#held);
    this.#parent = undefined;
  }
}

/** The bytes of refused long messages of a peer, which decay over time. */
class RefusedBytes {
  #bytes = 0;
  #countedAt = 0;

  add(bytes: number, now: number): number {
    this.#bytes = Math.max(0, this.#bytes - (now - this.#countedAt) * refusedPerMillisecond) + bytes;
    this.#countedAt = now;
    const excess = this.#bytes - refusedAtOnce;
    return excess <= 0 ? 0 : Math.min(longestPause, Math.ceil(excess / refusedPerMillisecond));
  }
}

/**
 * The refused bytes before a peer is slowed down, the bytes that decay per millisecond, and the longest pause in milliseconds.
 */
const refusedAtOnce = 16 * 1024 * 1024;
const refusedPerMillisecond = 16 * 1024;
const longestPause = 10_000;

/**
 * The bytes that this process holds for all its peers. All servers and clients of the process share it, as they share its memory;
 * the budget of each peer has its own limit on it (`Limits.processBytes`).
 */
export const processBudget: ByteBudget = new ByteBudget(Number.POSITIVE_INFINITY);

// Charges: estimates of the memory of texts, values and calls.

/** The bytes of a character of a string: V8 stores Latin-1 in one byte, other strings in two. */
export const characterBytes = 2;

/** The bytes of a parsed value without its characters: an empty object, the largest value, takes 56 and a slot of 8. */
const valueBytes = 64;

/** The bytes of a call itself: its record, its promise, its map entries. */
const callBytes = 1_024;

/**
 * The maximum number of characters of a frame that is charged by its length: counting its values would cost more than parsing it.
 * With frames of this length, as many calls as may run and wait fit into the default `peerBytes`.
 */
const shortFrame = 2_048;

/** The most bytes that a character of a frame can take: `{},` is three characters, and an object of 64 bytes. */
const shortFrameFactor = 24;

/** The bytes of a text that is queued or kept. */
export function weightOfText({ length }: string): number {
  return characterBytes * length;
}

/** The bytes of a message from its arrival to the end of its handler. @param length the number of characters of its frame */
export function weightOfMessage(message: unknown, length: number): number {
  return callBytes + (length <= shortFrame ? shortFrameFactor * length : weightOfValue(message));
}

/** The bytes of a parsed JSON value: 64 for each value in it, and two for each character of its strings and keys. */
export function weightOfValue(value: unknown): number {
  let bytes = 0;
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === "string") bytes += weightOfText(next);
    else if (Array.isArray(next)) for (const element of next) left.push(element);
    else if (typeof next === "object" && next !== null) {
      const members = next as Readonly<Record<string, unknown>>;
      // Parsed objects inherit no enumerable members.
      for (const key in members) {
        bytes += weightOfText(key);
        left.push(members[key]);
      }
    }
    bytes += valueBytes;
  }
  return bytes;
}
