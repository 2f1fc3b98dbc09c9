import { SmallMap } from "../../base/small-map.js";

/** `closing`: no new calls in either direction; running ones may finish. */
export type Phase = "open" | "closing" | "closed";

/** The key of a received call while it is in flight. A notification gets a unique one. */
export type CallKey = string | number | null | symbol;

interface Outgoing {
  readonly id: number;
  readonly options: { readonly tag?: string | number };
}

interface Incoming {
  readonly key: CallKey;
  /** The call stays open until one side ends it, and does not count as running. */
  readonly isLongLived: boolean;
}

/** Counts of calls in flight, for leak checks, metrics and graceful shutdown. */
export interface InFlightCounts {
  /** Calls of this side that have no outcome yet. */
  readonly outgoing: number;
  /** Received requests without a response, and received notifications whose handlers have not finished. */
  readonly incoming: number;
  /** Received calls that are queued because too many are running. */
  readonly waiting: number;
  /** Handlers that have not finished. */
  readonly running: number;
}

/**
 * All calls in flight on one connection, in both directions. Only the methods from `call` to `enter` change this
 * record, and it alone decides whether the connection is idle.
 */
export class InFlight<OutgoingCall extends Outgoing = Outgoing, IncomingCall extends Incoming = Incoming> {
  readonly #outgoing = new SmallMap<number, OutgoingCall>();
  /** Created on first use, like `#waiting`: most connections never need them. */
  #tagged: Map<string | number, OutgoingCall> | undefined;
  readonly #incoming = new SmallMap<CallKey, IncomingCall>();
  #waiting: Set<IncomingCall> | undefined;
  /** This and the next four are set only by this class. They are fields rather than accessors because every request reads them. */
  phase: Phase = "open";
  /** Running handlers, without those of long-lived calls. */
  running = 0;
  /** Running handlers of long-lived calls. */
  longLived = 0;
  /** Received calls that are queued. */
  waiting = 0;
  /** Calls of this side that have no outcome yet. */
  calling = 0;
  #whenIdle: (() => void)[] = [];

  /** Adds a call of this side. */
  call(call: OutgoingCall): void {
    this.#outgoing.set(call.id, call);
    this.calling = this.#outgoing.size;
    if (call.options.tag === undefined) return;
    this.#tagged ??= new Map();
    this.#tagged.set(call.options.tag, call);
  }

  /** Removes a call of this side: it has its outcome. */
  outcome(call: OutgoingCall): void {
    this.#outgoing.delete(call.id);
    this.calling = this.#outgoing.size;
    if (call.options.tag !== undefined) this.#tagged?.delete(call.options.tag);
    this.#checkIdle();
  }

  /** Queues a received call. */
  wait(call: IncomingCall): void {
    this.#incoming.set(call.key, call);
    this.#waiting ??= new Set();
    this.#waiting.add(call);
    this.waiting = this.#waiting.size;
  }

  /** Starts a received call, queued or new. */
  run(call: IncomingCall): void {
    if (this.waiting > 0 && this.#waiting?.delete(call) === true) this.waiting -= 1;
    else this.#incoming.set(call.key, call);
    if (call.isLongLived) this.longLived += 1;
    else this.running += 1;
  }

  /** Removes a received call that was answered or cancelled. Its id may be used again. */
  over(call: IncomingCall): void {
    this.#incoming.delete(call.key);
    if (this.waiting > 0 && this.#waiting?.delete(call) === true) this.waiting -= 1;
    this.#checkIdle();
  }

  /** The handler of a received call has finished. After a cancellation this is later than `over`, and until then it counts as running. */
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

  /** True if no call is in flight and no handler runs. */
  get idle(): boolean {
    return this.#outgoing.size === 0 && this.#incoming.size === 0 && this.running === 0 && this.longLived === 0;
  }

  outgoing(id: unknown): OutgoingCall | undefined {
    return typeof id === "number" ? this.#outgoing.get(id) : undefined;
  }

  /** The call of this side that notifications with `tag` belong to. */
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

  /** The call that has been queued longest. */
  nextWaiting(): IncomingCall | undefined {
    return this.#waiting?.values().next().value;
  }

  /** Resolves when the connection is idle. */
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
