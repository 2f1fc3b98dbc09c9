/** How many requests run at the same time, of one caller and of all. */
export interface AdmissionLimits {
  readonly perPrincipal: number;
  readonly total: number;
}

/** Counts what runs. Callers that nobody has authenticated are not told apart. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #running = new Map<string, number>();
  #total = 0;
  #whenIdle: (() => void) | undefined;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** False when the caller, or everybody together, has enough. */
  enter(principal: string | undefined): boolean {
    if (this.#total >= this.#limits.total) return false;
    if (principal !== undefined) {
      const running = this.#running.get(principal) ?? 0;
      if (running >= this.#limits.perPrincipal) return false;
      this.#running.set(principal, running + 1);
    }
    this.#total += 1;
    return true;
  }

  /** For each that has entered, once. */
  leave(principal: string | undefined): void {
    this.#total -= 1;
    if (principal !== undefined) {
      const running = (this.#running.get(principal) ?? 1) - 1;
      if (running > 0) this.#running.set(principal, running);
      else this.#running.delete(principal);
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
