import type { MembersOf } from "../../../base/check-members.js";
import { type Clock, setBackgroundTimer, type Timer } from "../../../base/clock.js";
import type { HttpCaller } from "../peers.js";

/** Lifetimes and limits of sessions. */
export interface SessionLimits {
  /** Milliseconds without a request, a pending response, or a reader. Default: 900,000. */
  readonly idleTtl: number;
  /** Milliseconds from the start, in any case. Default: 43,200,000. */
  readonly absoluteTtl: number;
  /**
   * The maximum number of sessions. At the limit, a new session replaces the one that was idle longest; if none is
   * idle, it is rejected with 503. Default: 10,000.
   */
  readonly max: number;
  /** The same limit per authenticated caller. Default: 32. */
  readonly maxPerPrincipal: number;
  /**
   * The same limit for all anonymous callers of one network address, so that they cannot take all places. Default:
   * 1,000.
   */
  readonly maxPerAddress: number;
}

/** The members of `SessionLimits`, to detect unknown options. */
export const sessionLimitMembers: MembersOf<SessionLimits> = {
  idleTtl: ["number", "ttl", "idleTimeout"],
  absoluteTtl: ["number", "maxAge"],
  max: ["number", "maxSessions"],
  maxPerPrincipal: ["number"],
  maxPerAddress: ["number"],
};

export const defaultSessionLimits: SessionLimits = {
  idleTtl: 15 * 60_000,
  absoluteTtl: 12 * 3_600_000,
  max: 10_000,
  maxPerPrincipal: 32,
  maxPerAddress: 1_000,
};

/** The cost of an idle session in bytes, charged to the budget of its peer. */
export const sessionBytes: number = 8 * 1024;

/** The owner of a session, and the key by which its sessions are counted. */
type SessionOwner = Pick<HttpCaller, "principal" | "peer">;

/** A session as the table sees it. */
export interface Expirable {
  /** Whether it is in use even without incoming requests. */
  readonly isBusy: boolean;
  /** Called once, when the session ends. */
  end(): void;
}

interface Entry<Session> {
  readonly id: string;
  readonly session: Session;
  readonly principal: string | undefined;
  readonly peer: string | undefined;
  readonly openedAt: number;
  usedAt: number;
  /** The number of its latest use in this table, because many uses have the same time. */
  use: number;
}

/** Expired sessions are searched for this many times per `idleTtl`, within the bounds below in milliseconds. */
const sweepsPerTtl = 10;
const shortestSweep = 1_000;
const longestSweep = 60_000;

/** Sessions by id. Each belongs to the caller that opened it; for other callers it does not exist. */
export class SessionTable<Session extends Expirable> {
  readonly #clock: Clock;
  readonly #limits: SessionLimits;
  readonly #entries = new Map<string, Entry<Session>>();
  readonly #ofPeers = new Map<string, Set<Entry<Session>>>();
  #uses = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, limits: SessionLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Makes room for a new session of a caller: at a limit, the session that was idle longest ends. Its client gets 404
   * and opens a new one. Returns the reason if there is no room, because all sessions are in use.
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
    this.#uses += 1;
    const entry = { id, session, principal, peer, openedAt: now, usedAt: now, use: this.#uses };
    this.#entries.set(id, entry);
    if (peer !== undefined) this.#ofPeers.set(peer, (this.#ofPeers.get(peer) ?? new Set()).add(entry));
    if (this.#timer === undefined) this.#watch();
  }

  /** Returns the caller's session of that id, without marking it as used. */
  peek(id: string, { principal }: SessionOwner): Session | undefined {
    const entry = this.#entries.get(id);
    return entry?.principal === principal ? entry?.session : undefined;
  }

  /** Returns the caller's session of that id, and marks it as used. */
  find(id: string, { principal }: SessionOwner): Session | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.principal !== principal) return undefined;
    const now = this.#clock.now();
    if (this.#isExpired(entry, now)) {
      this.end(id);
      return undefined;
    }
    this.#uses += 1;
    entry.usedAt = now;
    entry.use = this.#uses;
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

  /** Ends the session that was idle longest; returns false if none is idle. */
  #endIdle(entries: Iterable<Entry<Session>>): boolean {
    let longest: Entry<Session> | undefined;
    for (const entry of entries) {
      if ((longest === undefined || entry.use < longest.use) && !entry.session.isBusy) longest = entry;
    }
    if (longest !== undefined) this.end(longest.id);
    return longest !== undefined;
  }

  #isExpired({ openedAt, usedAt, session }: Entry<Session>, now: number): boolean {
    const { idleTtl, absoluteTtl } = this.#limits;
    return now - openedAt >= absoluteTtl || (now - usedAt >= idleTtl && !session.isBusy);
  }

  #watch(): void {
    const period = Math.min(longestSweep, Math.max(shortestSweep, this.#limits.idleTtl / sweepsPerTtl));
    const check = (): void => {
      this.#timer = undefined;
      this.#sweep();
      if (this.#entries.size > 0) this.#watch();
    };
    this.#timer = setBackgroundTimer(this.#clock, check, period);
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [id, entry] of [...this.#entries]) {
      if (this.#isExpired(entry, now)) this.end(id);
      else if (entry.session.isBusy) entry.usedAt = now;
    }
  }
}
