import { onAbort } from "../jsonrpc/abort-listeners.js";

/** The maximum number of concurrent calls, in total and per peer. */
export interface FairQueueLimits {
  readonly total: number;
  readonly perPeer: number;
}

/** A peer with running or waiting calls. */
interface Lane {
  running: number;
  /** Functions that start the waiting calls, in order. */
  readonly waiting: Set<() => void>;
}

/**
 * Limits concurrent calls and divides them fairly: waiting peers take turns, and no peer can take all places, because
 * its calls may never end. The number of waiting calls is limited by the downstream connections.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** The next peer to run comes first. All unidentified callers count as one peer. */
  readonly #lanes = new Map<string | undefined, Lane>();
  #running = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when a place is free.
   * @throws the signal's reason if it aborts first; otherwise what `work` throws
   */
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

  /** Moves the peer to the end of the order. */
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
