import type { ByteBudget } from "../../base/byte-budget.js";
import type { Limits } from "../../jsonrpc/limits.js";
import { budgetOf } from "../../jsonrpc/peer-settings.js";

/** The caller of a request. */
export interface HttpCaller {
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

type PeerBudgets = Pick<HttpCaller, "budget" | "events">;

/** Events may use one part in so many. */
const eventParts = 4;

/** The cost of an idle connection in bytes, charged to the budget of its peer. */
export const connectionBytes: number = 16 * 1024;

/** The number of budgets at which unused ones are deleted; the next sweep is at twice as many. */
const firstSweep = 1_024;

/** The peers of one server, with their budgets. A peer without charges is deleted. */
export class Peers {
  readonly #limits: Limits;
  readonly #budgets = new Map<string, PeerBudgets>();
  #sweepAt = firstSweep;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @param address the address of the connection's peer */
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
