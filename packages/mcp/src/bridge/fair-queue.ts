import { onAbort } from "../jsonrpc/abort-listeners.js";

/** How many calls run at the same time, of all peers and of one. */
export interface FairQueueLimits {
  readonly total: number;
  readonly perPeer: number;
}

/** A peer that has calls here. */
interface Lane {
  running: number;
  /** What starts each call that waits, in order. */
  readonly waiting: Set<() => void>;
}

/**
 * Lets calls run at the same time up to a bound, and shares the places among peers: those that wait take turns, and none has
 * all places, since its calls may never end. How many wait is bounded where they come from.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** The peer whose turn is next comes first. Callers that nothing is known of are one. */
  readonly #lanes = new Map<string | undefined, Lane>();
  #running = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Runs the work when there is a place. @throws the reason of the signal when that comes first; what the work throws */
  async run<T>(peer: string | undefined, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(peer) ?? { running: 0, waiting: new Set() };
    this.#lanes.set(peer, lane);
    if (lane.waiting.size > 0 || !this.#hasPlace(lane)) await this.#turn(peer, lane, signal);
    else this.#start(peer, lane);
    try {
      return await work();
    } finally {
      lane.running -= 1;
      this.#running -= 1;
      this.#forget(peer, lane);
      this.#next();
    }
  }

  #turn(peer: string | undefined, lane: Lane, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        forget();
        this.#start(peer, lane);
        resolve();
      };
      const forget = onAbort(signal, () => {
        lane.waiting.delete(begin);
        this.#forget(peer, lane);
        reject(signal.reason);
      });
      if (signal.aborted) reject(signal.reason);
      else lane.waiting.add(begin);
    });
  }

  /** The peer goes behind all others. */
  #start(peer: string | undefined, lane: Lane): void {
    lane.running += 1;
    this.#running += 1;
    this.#lanes.delete(peer);
    this.#lanes.set(peer, lane);
  }

  #next(): void {
    for (const lane of this.#lanes.values()) {
      const [begin] = lane.waiting;
      if (begin === undefined || !this.#hasPlace(lane)) continue;
      lane.waiting.delete(begin);
      begin();
      return;
    }
  }

  #hasPlace(lane: Lane): boolean {
    return this.#running < this.#limits.total && lane.running < this.#limits.perPeer;
  }

  #forget(peer: string | undefined, lane: Lane): void {
    if (lane.running === 0 && lane.waiting.size === 0) this.#lanes.delete(peer);
  }
}
