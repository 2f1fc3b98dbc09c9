import type { ByteBudget } from "../base/byte-budget.js";
import type { Limits } from "../jsonrpc/limits.js";
import { budgetOf } from "../jsonrpc/terms.js";

/** Who a request comes from. */
export interface HttpCaller {
  /** Who it is, where `authenticate` has found out. */
  readonly principal: string | undefined;
  /**
   * What its limits are counted by: the principal, or the network address of an anonymous caller. Undefined where the
   * platform tells neither; such callers share the global limits alone.
   */
  readonly peer: string | undefined;
  /** Bounds the bytes that are kept for that peer. */
  readonly budget: ByteBudget;
  /** The part of it that events to resume from may take: they are kept for convenience, and must not stand in the way of calls. */
  readonly events: ByteBudget;
}

type PeerBudgets = Pick<HttpCaller, "budget" | "events">;

/** Events may take so many parts of a budget. */
const eventParts = 4;

/** Bytes of a connection on which nothing is under way, as they are charged to the budget of its peer. */
export const connectionBytes: number = 16 * 1024;

/** Budgets are looked through for those at rest when there are so many, and from then on whenever they have doubled. */
const firstSweep = 1_024;

/** The peers of one server, and what is kept for each of them. A peer for which nothing is kept is forgotten. */
export class Peers {
  readonly #limits: Limits;
  readonly #budgets = new Map<string, PeerBudgets>();
  #sweepAt = firstSweep;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @param address of the other end of the connection */
  caller(principal: string | undefined, address: string | undefined): HttpCaller {
    const peer = principal === undefined ? networkOf(address) : `principal ${principal}`;
    const { budget, events } = this.#budgetsOf(peer);
    return { principal, peer, budget, events };
  }

  #budgetsOf(peer: string | undefined): PeerBudgets {
    if (peer === undefined) return this.#newBudgets();
    const known = this.#budgets.get(peer);
    if (known !== undefined) return known;
    if (this.#budgets.size >= this.#sweepAt) this.#sweep();
    const budgets = this.#newBudgets();
    this.#budgets.set(peer, budgets);
    return budgets;
  }

  #newBudgets(): PeerBudgets {
    const budget = budgetOf(this.#limits);
    return { budget, events: budget.child(this.#limits.peerBytes / eventParts) };
  }

  #sweep(): void {
    for (const [peer, { budget }] of this.#budgets) if (budget.held === 0) this.#budgets.delete(peer);
    this.#sweepAt = Math.max(firstSweep, 2 * this.#budgets.size);
  }
}

/**
 * The network that an address belongs to, as limits count: an IPv4 address is one, and so is an IPv6 prefix of 64 bits, because
 * a single host is given all of it.
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
