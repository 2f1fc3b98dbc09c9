import type { Clock, Timer } from "../base/clock.js";
import type { MembersOf } from "../base/members.js";
import type { HttpCaller } from "./peers.js";

/** How long sessions last, and how many there may be. */
export interface SessionLimits {
  /** Milliseconds without a request, an answer that is waited for, or a stream that is read. Default: 900,000. */
  readonly idleTtl: number;
  /** Milliseconds from the beginning, whatever happens. Default: 43,200,000. */
  readonly absoluteTtl: number;
  /**
   * Sessions at the same time. When there are so many, a new one takes the place of the one that was idle longest; only where
   * all of them are in use it is refused with 503. Default: 10,000.
   */
  readonly max: number;
  /** The same for one authenticated caller. Default: 32. */
  readonly maxPerPrincipal: number;
  /** The same for all anonymous callers of one network address, so that none of them takes the places of others. Default: 1,000. */
  readonly maxPerAddress: number;
}

/** The members of `SessionLimits`, for the check of options. */
export const sessionLimitMembers: MembersOf<SessionLimits> = {
  idleTtl: ["ttl", "idleTimeout"],
  absoluteTtl: ["maxAge"],
  max: ["maxSessions"],
  maxPerPrincipal: [],
  maxPerAddress: [],
};

export const defaultSessionLimits: SessionLimits = {
  idleTtl: 15 * 60_000,
  absoluteTtl: 12 * 3_600_000,
  max: 10_000,
  maxPerPrincipal: 32,
  maxPerAddress: 1_000,
};

/** Bytes of a session in which nothing is under way, as they are charged to the budget of its peer. */
export const sessionBytes: number = 8 * 1024;

/** Whose a session is, and by what it is counted. */
type SessionOwner = Pick<HttpCaller, "principal" | "peer">;

/** What a table keeps. */
export interface Lasting {
  /** It is in use, though nothing comes in. */
  readonly isBusy: boolean;
  /** It is over. Called once. */
  end(): void;
}

interface Entry<Session> {
  readonly id: string;
  readonly session: Session;
  readonly principal: string | undefined;
  readonly peer: string | undefined;
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
  /** The one that was used longest ago comes first; so in those of each peer. */
  readonly #entries = new Map<string, Entry<Session>>();
  readonly #ofPeers = new Map<string, Set<Entry<Session>>>();
  #timer: Timer | undefined;

  constructor(clock: Clock, limits: SessionLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Makes room for another session of that caller: where there are too many, the one that was idle longest is ended. Its client
   * is answered 404 and opens another. Returns why there is no room, where all of them are in use.
   */
  makeRoom({ principal, peer }: SessionOwner): string | undefined {
    const { max, maxPerPrincipal, maxPerAddress } = this.#limits;
    const most = principal === undefined ? maxPerAddress : maxPerPrincipal;
    const own = peer === undefined ? undefined : this.#ofPeers.get(peer);
    if (own !== undefined && own.size >= most && !this.#endIdle(own))
      return `this caller has ${most} sessions in use: end one`;
    if (this.#entries.size >= max && !this.#endIdle(this.#entries.values()))
      return `all ${max} sessions of this server are in use`;
    return undefined;
  }

  add(id: string, { principal, peer }: SessionOwner, session: Session): void {
    const now = this.#clock.now();
    const entry = { id, session, principal, peer, openedAt: now, usedAt: now };
    this.#entries.set(id, entry);
    if (peer !== undefined) this.#ofPeers.set(peer, (this.#ofPeers.get(peer) ?? new Set()).add(entry));
    if (this.#timer === undefined) this.#watch();
  }

  /** The caller's session of that id. Asking for it is using it. */
  find(id: string, { principal }: SessionOwner): Session | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.principal !== principal) return undefined;
    const now = this.#clock.now();
    if (this.#isExpired(entry, now)) {
      this.end(id);
      return undefined;
    }
    this.#use(entry, now);
    return entry.session;
  }

  *sessions(): IterableIterator<Session> {
    for (const { session } of this.#entries.values()) yield session;
  }

  end(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    const { peer } = entry;
    const own = peer === undefined ? undefined : this.#ofPeers.get(peer);
    own?.delete(entry);
    if (peer !== undefined && own?.size === 0) this.#ofPeers.delete(peer);
    entry.session.end();
    if (this.#entries.size === 0 && this.#timer !== undefined) {
      this.#clock.clearTimer(this.#timer);
      this.#timer = undefined;
    }
  }

  endAll(): void {
    for (const id of [...this.#entries.keys()]) this.end(id);
  }

  /** Ends the first that is not in use; false if there is none. */
  #endIdle(entries: Iterable<Entry<Session>>): boolean {
    for (const { id, session } of entries) {
      if (session.isBusy) continue;
      this.end(id);
      return true;
    }
    return false;
  }

  #use(entry: Entry<Session>, now: number): void {
    entry.usedAt = now;
    this.#entries.delete(entry.id);
    this.#entries.set(entry.id, entry);
    const own = entry.peer === undefined ? undefined : this.#ofPeers.get(entry.peer);
    own?.delete(entry);
    own?.add(entry);
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
