import { getEventListeners } from "node:events";
import { LocalError, RpcError } from "@parlance/mcp/jsonrpc";
import type { Outcome } from "../../../packages/mcp/src/jsonrpc/calls/outgoing-call.js";

/** A call of the connection under test. */
export interface OwnCall {
  readonly nonce: number;
  readonly signal: AbortSignal;
  /** Milliseconds without a sign of the peer. */
  readonly idle: number;
  idleAt: number;
  readonly totalAt: number;
  /** Known once the request was seen on the wire. */
  id: number | undefined;
  /** The expected outcome, by the first event that decided it. */
  fate: string | undefined;
  readonly outcomes: string[];
}

/** The calls of the connection under test, with their expected outcomes. */
export class OwnCalls {
  readonly all: OwnCall[] = [];
  readonly #ids = new Set<number>();
  readonly #cancels = new Set<number>();

  add(nonce: number, signal: AbortSignal, now: number, idle: number, total: number): OwnCall {
    const call: OwnCall = {
      nonce,
      signal,
      idle,
      idleAt: now + idle,
      totalAt: now + total,
      id: undefined,
      fate: undefined,
      outcomes: [],
    };
    this.all.push(call);
    return call;
  }

  get pending(): readonly OwnCall[] {
    return this.all.filter(({ fate }) => fate === undefined);
  }

  /** Calls that the peer knows, decided or not. */
  get seen(): readonly OwnCall[] {
    return this.all.filter(({ id }) => id !== undefined);
  }

  /** The request has been written. */
  written(nonce: number, id: number): void {
    const call = this.all.find((each) => each.nonce === nonce);
    if (call === undefined) throw new Error(`a request that nobody made: ${nonce}`);
    if (call.fate !== undefined) throw new Error(`a request was written after its end: ${call.fate}`);
    if (call.id !== undefined || this.#ids.has(id)) throw new Error(`the id ${id} was written twice`);
    this.#ids.add(id);
    call.id = id;
  }

  /** Decides what is not decided yet. `cancels`: the peer must be told. */
  decide(call: OwnCall, fate: string, cancels = false): void {
    if (call.fate !== undefined) return;
    call.fate = fate;
    if (cancels && call.id !== undefined) this.#cancels.add(call.id);
  }

  decideAll(fate: string): void {
    for (const call of this.pending) this.decide(call, fate);
  }

  /** A cancellation has been written. */
  cancelled(id: number): void {
    if (!this.#cancels.delete(id)) throw new Error(`a cancellation of ${id} that nobody asked for, or a second one`);
  }

  /** Every cancellation that was due has been written. */
  assertPeerTold(): void {
    if (this.#cancels.size > 0) throw new Error(`the peer was not told of the end of ${[...this.#cancels].join(", ")}`);
  }

  /** Each call has had its one outcome, the right one, and listens no more. */
  assertOutcomes(): void {
    for (const { nonce, id, fate, outcomes, signal } of this.all) {
      const had = outcomes.join(" and ");
      if (had !== fate)
        throw new Error(`call ${nonce} (id ${id}) should have ended as ${fate}, got: ${had || "nothing"}`);
      const listeners = getEventListeners(signal, "abort").length;
      if (listeners > 0) throw new Error(`call ${nonce} still listens to its signal`);
    }
  }
}

/** An outcome as `fate` spells it. */
export function spell(outcome: Outcome): string {
  if (outcome.ok) return `result ${JSON.stringify(outcome.result)}`;
  const { error } = outcome;
  if (error instanceof RpcError) return `error ${error.code}`;
  return error instanceof LocalError ? error.reason : String(error);
}
