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

type Change<OutgoingCall, IncomingCall> =
  /** This side calls the peer. */
  | { readonly kind: "call"; readonly call: OutgoingCall }
  /** A call of this side has its outcome. */
  | { readonly kind: "outcome"; readonly call: OutgoingCall }
  /** A call of the peer waits for a place. */
  | { readonly kind: "wait"; readonly call: IncomingCall }
  /** A call of the peer begins to run. */
  | { readonly kind: "run"; readonly call: IncomingCall }
  /** A call of the peer is answered or cancelled: its id is free again. */
  | { readonly kind: "over"; readonly call: IncomingCall }
  /** The handler of a call has come to its end; behind a cancel that is later than `over`, and until then it takes a place. */
  | { readonly kind: "settle"; readonly call: IncomingCall }
  | { readonly kind: "phase"; readonly phase: Phase };

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
 * Everything that is under way on one connection, both ways, in one record. `change` is the only function that alters
 * it; whether the connection is idle is a question to it and to nothing else.
 */
export class InFlight<OutgoingCall extends Outgoing = Outgoing, IncomingCall extends Incoming = Incoming> {
  readonly #outgoing = new Map<number, OutgoingCall>();
  /** Made on first use, as the waiting room is: most connections never need them. */
  #tagged: Map<string | number, OutgoingCall> | undefined;
  readonly #incoming = new Map<CallKey, IncomingCall>();
  #waiting: Set<IncomingCall> | undefined;
  /** `change` alone sets this, and the next four. Fields, and no accessors: every request reads them. */
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

  change(change: Change<OutgoingCall, IncomingCall>): void {
    switch (change.kind) {
      case "call":
        this.#outgoing.set(change.call.id, change.call);
        this.calling = this.#outgoing.size;
        if (change.call.options.tag !== undefined) {
          this.#tagged ??= new Map();
          this.#tagged.set(change.call.options.tag, change.call);
        }
        return;
      case "outcome":
        this.#outgoing.delete(change.call.id);
        this.calling = this.#outgoing.size;
        if (change.call.options.tag !== undefined) this.#tagged?.delete(change.call.options.tag);
        break;
      case "wait":
        this.#incoming.set(change.call.key, change.call);
        this.#waiting ??= new Set();
        this.#waiting.add(change.call);
        this.waiting = this.#waiting.size;
        return;
      case "run":
        if (this.waiting > 0 && this.#waiting?.delete(change.call) === true) this.waiting -= 1;
        else this.#incoming.set(change.call.key, change.call);
        if (change.call.isLongLived) this.longLived += 1;
        else this.running += 1;
        return;
      case "over":
        this.#incoming.delete(change.call.key);
        if (this.waiting > 0 && this.#waiting?.delete(change.call) === true) this.waiting -= 1;
        break;
      case "settle":
        if (change.call.isLongLived) this.longLived -= 1;
        else this.running -= 1;
        break;
      case "phase":
        this.phase = change.phase;
        break;
    }
    if (this.#whenIdle.length > 0 && this.idle) this.#tellIdle();
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

  outgoingCalls(): IterableIterator<OutgoingCall> {
    return this.#outgoing.values();
  }

  incoming(key: CallKey): IncomingCall | undefined {
    return this.#incoming.get(key);
  }

  incomingCalls(): IterableIterator<IncomingCall> {
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

  #tellIdle(): void {
    const listeners = this.#whenIdle;
    this.#whenIdle = [];
    for (const listener of listeners) listener();
  }
}
