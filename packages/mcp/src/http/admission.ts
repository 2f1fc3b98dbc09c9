import type { HttpCaller } from "./peers.js";

/** How many there may be at the same time, of one peer and of all. */
export interface AdmissionLimits {
  readonly perPrincipal: number;
  /** Of the anonymous callers of one network address, who may be many. */
  readonly perAddress: number;
  readonly total: number;
}

/** Counts connections: they come from an address before it is known who they are from. */
export function connectionLimits(max: number, maxPerAddress: number): Admission {
  return new Admission({ perPrincipal: maxPerAddress, perAddress: maxPerAddress, total: max });
}

type Admitted = Pick<HttpCaller, "principal" | "peer">;

/** Counts requests that run, or connections. A peer is bounded before all of them are; one that is not known, only with all. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #running = new Map<string, number>();
  #total = 0;
  #whenIdle: (() => void) | undefined;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** False when the peer, or all of them together, have enough. */
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

  /** For each that has entered, once. */
  leave({ peer }: Admitted): void {
    this.#total -= 1;
    if (peer !== undefined) {
      const running = (this.#running.get(peer) ?? 1) - 1;
      if (running > 0) this.#running.set(peer, running);
      else this.#running.delete(peer);
    }
    if (this.#total === 0) this.#whenIdle?.();
  }

  /** Resolves when nothing runs. */
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
