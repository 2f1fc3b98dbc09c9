import type { HttpCaller } from "./peers.js";

/** The maximum number of concurrent requests or connections, in total and per peer. */
export interface ConcurrencyLimits {
  readonly perPrincipal: number;
  /** For the anonymous callers of one network address, which may be many. */
  readonly perAddress: number;
  readonly total: number;
}

/** A limit on connections, which are counted by address because they exist before authentication. */
export function connectionLimits(max: number, maxPerAddress: number): ConcurrencyLimit {
  return new ConcurrencyLimit({ perPrincipal: maxPerAddress, perAddress: maxPerAddress, total: max });
}

type Admitted = Pick<HttpCaller, "principal" | "peer">;

/** Counts running requests or connections, in total and per peer. Unidentified callers count towards the total only. */
export class ConcurrencyLimit {
  readonly #limits: ConcurrencyLimits;
  readonly #running = new Map<string, number>();
  #total = 0;
  #whenIdle: (() => void) | undefined;

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
  }

  /** Counts one more; returns false if the peer or the total is at its limit. */
  enter({ principal, peer }: Admitted): boolean {
    const { perPrincipal, perAddress, total } = this.#limits;
    if (this.#total >= total) return false;
    if (peer !== undefined) {
      const running = this.#running.get(peer) ?? 0;
      if (running >= (principal === undefined ? perAddress : perPrincipal)) return false;
      this.#running.set(peer, running + 1);
    }
    this.#total += 1;
    return true;
  }

  /** Call once for each successful `enter`. */
  leave({ peer }: Admitted): void {
    this.#total -= 1;
    if (peer !== undefined) {
      const running = (this.#running.get(peer) ?? 1) - 1;
      if (running > 0) this.#running.set(peer, running);
      else this.#running.delete(peer);
    }
    if (this.#total === 0) this.#whenIdle?.();
  }

  /** Resolves when nothing is running. */
  idle(): Promise<void> {
    if (this.#total === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const before = this.#whenIdle;
      this.#whenIdle = () => {
        before?.();
        this.#whenIdle = undefined;
        resolve();
      };
    });
  }
}
