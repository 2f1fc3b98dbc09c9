import type { ByteBudget } from "../../base/byte-budget.js";
import { type Deferred, deferred } from "../../base/deferred.js";
import type { Authentication, Identity } from "../../jsonrpc/call.js";
import type { Limits } from "../../jsonrpc/limits.js";
import { budgetOf } from "../../jsonrpc/peer-settings.js";

/** The caller of a request. */
export interface HttpCaller {
  readonly auth: Authentication;
  /** The principal, if authenticated. */
  readonly principal: string | undefined;
  /**
   * The key by which limits are counted: the principal, or the network address of an anonymous caller. Undefined if
   * neither is known; only the global limits apply then.
   */
  readonly peer: string | undefined;
  /** The memory budget of the peer. */
  readonly budget: ByteBudget;
  /** The part of it for resumable events, so that they leave room for calls. */
  readonly events: ByteBudget;
}

/** The divisor of a budget: events may use one part of it. */
const eventParts = 4;

/** The cost of an idle connection in bytes, charged to the budget of its peer. */
export const connectionBytes: number = 16 * 1024;

/** The number of budgets at which unused ones are deleted; the next sweep is at twice as many. */
const firstSweep = 1_024;

/** The peers of one server, with their budgets. A peer without charges is deleted. */
export class Peers {
  readonly #limits: Limits;
  readonly #callers = new Map<string, HttpCaller>();
  #sweepAt = firstSweep;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @param address the address of the connection's peer */
  caller(identity: Identity | undefined, address: string | undefined): HttpCaller {
    const principal = identity?.principal;
    const auth: Authentication = identity ?? "anonymous";
    const peer = principal === undefined ? networkOf(address) : `principal ${principal}`;
    const known = peer === undefined ? undefined : this.#callers.get(peer);
    if (known !== undefined && known.principal === principal) return known.auth === auth ? known : { ...known, auth };
    if (this.#callers.size >= this.#sweepAt) this.#sweep();
    const budget = budgetOf(this.#limits);
    const caller = { auth, principal, peer, budget, events: budget.child(this.#limits.peerBytes / eventParts) };
    if (peer !== undefined) this.#callers.set(peer, caller);
    return caller;
  }

  #sweep(): void {
    for (const [peer, { budget }] of this.#callers) if (budget.held === 0) this.#callers.delete(peer);
    this.#sweepAt = Math.max(firstSweep, 2 * this.#callers.size);
  }
}

/**
 * The network of an address, for limits: an IPv4 address, or an IPv6 /64, because one host usually gets a whole /64.
 */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || !address.includes(":")) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.toLowerCase().replace(/%.*$/, "").split("::", 2);
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(Math.max(0, 8 - groups.length - behind.length)).fill("0");
  const prefix = [...groups, ...(tail === undefined ? [] : zeros), ...behind].slice(0, 4);
  return `${prefix.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}

/** The maximum number of concurrent requests or connections, in total and per peer. */
export interface ConcurrencyLimits {
  readonly perPrincipal: number;
  /** For the anonymous callers of one network address, which may be many. */
  readonly perAddress: number;
  readonly total: number;
}

/** The limits on requests without a session. */
export const requestLimits: ConcurrencyLimits = { perPrincipal: 512, perAddress: 2_048, total: 8_192 };

/** A limit on connections, which are counted by address because they exist before authentication. */
export function connectionLimits(max: number, maxPerAddress: number): ConcurrencyLimit {
  return new ConcurrencyLimit({ perPrincipal: maxPerAddress, perAddress: maxPerAddress, total: max });
}

/** Up to this number of peers, those without running requests are kept. */
const maxIdlePeers = 64;

/** The exhausted resource: the places, or the byte budget of the peer or of all peers together. */
export type NoRoom = "place" | "peer bytes" | "process bytes";

/**
 * Counts running requests or connections, in total and per peer, and charges their bytes to the budget of the peer.
 * Unidentified callers count towards the total only.
 */
export class ConcurrencyLimit {
  readonly #limits: ConcurrencyLimits;
  readonly #running = new Map<string, number>();
  #total = 0;
  #idle: Deferred<void> | undefined;

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
  }

  /** Counts one more and takes its bytes. Returns undefined, or why there is no room; then nothing is counted or taken. */
  enter({ principal, peer, budget }: HttpCaller, bytes: number): NoRoom | undefined {
    const { perPrincipal, perAddress, total } = this.#limits;
    const running = peer === undefined ? 0 : (this.#running.get(peer) ?? 0);
    if (this.#total >= total) return "place";
    if (peer !== undefined && running >= (principal === undefined ? perAddress : perPrincipal)) return "place";
    if (!budget.take(bytes)) return budget.parentFits(bytes) ? "peer bytes" : "process bytes";
    if (peer !== undefined) this.#running.set(peer, running + 1);
    this.#total += 1;
    return undefined;
  }

  /** Call once for each successful `enter`, with the same bytes. */
  leave({ peer, budget }: HttpCaller, bytes: number): void {
    budget.give(bytes);
    this.#total -= 1;
    if (peer !== undefined) {
      const running = (this.#running.get(peer) ?? 1) - 1;
      // Deleting and adding the same key for each request costs more than keeping some of them.
      if (running > 0 || this.#running.size <= maxIdlePeers) this.#running.set(peer, running);
      else this.#running.delete(peer);
    }
    if (this.#total > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** Resolves when nothing is running. */
  idle(): Promise<void> {
    if (this.#total === 0) return Promise.resolve();
    this.#idle ??= deferred<void>();
    return this.#idle.promise;
  }
}
