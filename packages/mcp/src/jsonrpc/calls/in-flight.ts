import { SmallMap } from "../../base/small-map.js";

/** `closing`: nothing new is taken in either direction, what runs may finish. */
export type Phase = "open" | "closing" | "closed";

/** The key of a call of the peer while it is in flight; a notification has a key of its own. */
export type CallKey = string | number | null | symbol;

interface Outgoing {
  readonly id: number;
  readonly options: { readonly tag?: string | number };
}

interface Incoming {
  readonly key: CallKey;
  /** It stays open until one side ends it, and takes no place of those that run. */
  readonly isLongLived: boolean;
}

/** How much is under way, for a leak check, a metric or a graceful stop. */
export interface InFlightCounts {
  /** Calls of this side without an outcome. */
  readonly outgoing: number;
  /** Requests of the peer without an answer, and its notifications that are not worked off. */
  readonly incoming: number;
  /** Those of them that wait for a place. */
  readonly waiting: number;
  /** Handlers that have not come to their end. */
  readonly running: number;
}

/**
 * Everything that is under way on one connection, both ways, in one record. Only the methods from `call` to
 * `enter` change it; whether the connection is idle is a question to it and to nothing else.
 */
export class InFlight<OutgoingCall extends Outgoing = Outgoing, IncomingCall extends Incoming = Incoming> {
  readonly #outgoing = new SmallMap<number, OutgoingCall>();
  /** Made on first use, as the waiting room is: most connections never need them. */
  #tagged: Map<string | number, OutgoingCall> | undefined;
  readonly #incoming = new SmallMap<CallKey, IncomingCall>();
  #waiting: Set<IncomingCall> | undefined;
  /** Only methods of this class set this, and the next four. Fields, and no accessors: every request reads them. */
  phase: Phase = "open";
  /** Handlers that run. */
  running = 0;
  /** Handlers of calls that stay open, beside those that run. */
  longLived = 0;
  /** Calls of the peer that wait for a place. */
  waiting = 0;
  /** Calls of this side without an outcome. */
  calling = 0;
  #whenIdle: (() => void)[] = [];

  /** This side calls the peer. */
  call(call: OutgoingCall): void {
    this.#outgoing.set(call.id, call);
    this.calling = this.#outgoing.size;
    if (call.options.tag === undefined) return;
    this.#tagged ??= new Map();
    this.#tagged.set(call.options.tag, call);
  }

  /** A call of this side has its outcome. */
  outcome(call: OutgoingCall): void {
    this.#outgoing.delete(call.id);
    this.calling = this.#outgoing.size;
    if (call.options.tag !== undefined) this.#tagged?.delete(call.options.tag);
    this.#checkIdle();
  }

  /** A call of the peer waits for a place. */
  wait(call: IncomingCall): void {
    this.#incoming.set(call.key, call);
    this.#waiting ??= new Set();
    this.#waiting.add(call);
    this.waiting = this.#waiting.size;
  }

  /** A call of the peer begins to run. */
  run(call: IncomingCall): void {
    if (this.waiting > 0 && this.#waiting?.delete(call) === true) this.waiting -= 1;
    else this.#incoming.set(call.key, call);
    if (call.isLongLived) this.longLived += 1;
    else this.running += 1;
  }

  /** A call of the peer is answered or cancelled: its id is free again. */
  over(call: IncomingCall): void {
    this.#incoming.delete(call.key);
    if (this.waiting > 0 && this.#waiting?.delete(call) === true) this.waiting -= 1;
    this.#checkIdle();
  }

  /** The handler of a call has come to its end; behind a cancel that is later than `over`, and until then it takes a place. */
  settle(call: IncomingCall): void {
    if (call.isLongLived) this.longLived -= 1;
    else this.running -= 1;
    this.#checkIdle();
  }

  enter(phase: Phase): void {
    this.phase = phase;
    this.#checkIdle();
  }

  get counts(): InFlightCounts {
    return {
      outgoing: this.#outgoing.size,
      incoming: this.#incoming.size,
      waiting: this.waiting,
      running: this.running + this.longLived,
    };
  }

  /** Nothing is under way. */
  get idle(): boolean {
    return this.#outgoing.size === 0 && this.#incoming.size === 0 && this.running === 0 && this.longLived === 0;
  }

  outgoing(id: unknown): OutgoingCall | undefined {
    return typeof id === "number" ? this.#outgoing.get(id) : undefined;
  }

  /** The call of this side whose notifications carry `tag`. */
  tagged(tag: string | number): OutgoingCall | undefined {
    return this.#tagged?.get(tag);
  }

  outgoingCalls(): Iterable<OutgoingCall> {
    return this.#outgoing.values();
  }

  incoming(key: CallKey): IncomingCall | undefined {
    return this.#incoming.get(key);
  }

  incomingCalls(): Iterable<IncomingCall> {
    return this.#incoming.values();
  }

  isWaiting(call: IncomingCall): boolean {
    return this.#waiting?.has(call) === true;
  }

  /** The call that has waited longest. */
  nextWaiting(): IncomingCall | undefined {
    return this.#waiting?.values().next().value;
  }

  /** Resolves as soon as nothing is under way. */
  whenIdle(): Promise<void> {
    return this.idle ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #checkIdle(): void {
    if (this.#whenIdle.length === 0 || !this.idle) return;
    const listeners = this.#whenIdle;
    this.#whenIdle = [];
    for (const listener of listeners) listener();
  }
}
