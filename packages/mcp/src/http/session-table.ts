import type { Clock, Timer } from "../base/clock.js";

/** How long sessions last, and how many there may be. */
export interface SessionLimits {
  /** Milliseconds without a request, an answer that is waited for, or a stream that is read. Default: 900,000. */
  readonly idleTtl: number;
  /** Milliseconds from the beginning, whatever happens. Default: 43,200,000. */
  readonly absoluteTtl: number;
  /** Default: 10,000. */
  readonly max: number;
  /** Of one authenticated caller. Default: 32. */
  readonly maxPerPrincipal: number;
}

export const defaultSessionLimits: SessionLimits = {
  idleTtl: 15 * 60_000,
  absoluteTtl: 12 * 3_600_000,
  max: 10_000,
  maxPerPrincipal: 32,
};

/** What a table keeps. */
export interface Lasting {
  /** It is in use, though nothing comes in. */
  readonly isBusy: boolean;
  /** It is over. Called once. */
  end(): void;
}

interface Entry<Session> {
  readonly session: Session;
  readonly principal: string | undefined;
  readonly openedAt: number;
  usedAt: number;
}

/** How often what has expired is looked for, in parts of the time that a session may be idle; but not more often than once a second. */
const sweepsPerTtl = 10;
const shortestSweep = 1_000;
const longestSweep = 60_000;

/** Sessions by their ids, each bound to who has opened it: to anybody else it does not exist. */
export class SessionTable<Session extends Lasting> {
  readonly #clock: Clock;
  readonly #limits: SessionLimits;
  readonly #entries = new Map<string, Entry<Session>>();
  readonly #perPrincipal = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(clock: Clock, limits: SessionLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Why there can be no more sessions of that caller; undefined if there can. */
  fullness(principal: string | undefined): string | undefined {
    const { max, maxPerPrincipal } = this.#limits;
    if (this.#entries.size >= max) return `all ${max} sessions of this server are taken`;
    if (principal === undefined || (this.#perPrincipal.get(principal) ?? 0) < maxPerPrincipal) return undefined;
    return `this caller has ${maxPerPrincipal} sessions already: end one`;
  }

  add(id: string, principal: string | undefined, session: Session): void {
    const now = this.#clock.now();
    this.#entries.set(id, { session, principal, openedAt: now, usedAt: now });
    if (principal !== undefined) this.#perPrincipal.set(principal, (this.#perPrincipal.get(principal) ?? 0) + 1);
    if (this.#timer === undefined) this.#watch();
  }

  /** The caller's session of that id. Asking for it is using it. */
  find(id: string, principal: string | undefined): Session | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.principal !== principal) return undefined;
    const now = this.#clock.now();
    if (this.#isExpired(entry, now)) {
      this.end(id);
      return undefined;
    }
    entry.usedAt = now;
    return entry.session;
  }

  *sessions(): IterableIterator<Session> {
    for (const { session } of this.#entries.values()) yield session;
  }

  end(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    const { principal } = entry;
    if (principal !== undefined) {
      const left = (this.#perPrincipal.get(principal) ?? 1) - 1;
      if (left > 0) this.#perPrincipal.set(principal, left);
      else this.#perPrincipal.delete(principal);
    }
    entry.session.end();
    if (this.#entries.size === 0 && this.#timer !== undefined) {
      this.#clock.clearTimer(this.#timer);
      this.#timer = undefined;
    }
  }

  endAll(): void {
    for (const id of [...this.#entries.keys()]) this.end(id);
  }

  #isExpired({ openedAt, usedAt, session }: Entry<Session>, now: number): boolean {
    const { idleTtl, absoluteTtl } = this.#limits;
    return now - openedAt >= absoluteTtl || (now - usedAt >= idleTtl && !session.isBusy);
  }

  #watch(): void {
    const period = Math.min(longestSweep, Math.max(shortestSweep, this.#limits.idleTtl / sweepsPerTtl));
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#sweep();
      if (this.#entries.size > 0) this.#watch();
    }, period);
    this.#timer.unref?.();
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [id, entry] of [...this.#entries]) {
      if (this.#isExpired(entry, now)) this.end(id);
      else if (entry.session.isBusy) entry.usedAt = now;
    }
  }
}
