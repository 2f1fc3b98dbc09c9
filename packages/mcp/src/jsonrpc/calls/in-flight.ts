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
  /** It was answered or cancelled: nothing more is sent for it. Set by `InFlight` alone. */
  over: boolean;
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

/** Cancelled calls whose responses are still expected; a response to an older one is reported. */
const maxLate = 1_000;

/**
 * All calls in flight on one connection, in both directions: their ids, and which call a response belongs to. Only the methods
 * from `nextId` to `enter` change this record, and it alone decides whether the connection is idle.
 */
export class InFlight<OutgoingCall extends Outgoing = Outgoing, IncomingCall extends Incoming = Incoming> {
  /** The id of the latest call of this side. */
  lastId = 0;
  readonly #outgoing = new SmallMap<number, OutgoingCall>();
  /** Ids of cancelled calls that the peer still responds to. Created on first use. */
  #late: Set<number> | undefined;
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

  /** An id for a call of this side. Monotonic, so no id is used twice on a connection. */
  nextId(): number {
    this.lastId += 1;
    return this.lastId;
  }

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

  /** The peer still responds to a cancelled call, in this protocol. Bounded, because a peer may not do it. */
  expectLate(id: number): void {
    this.#late ??= new Set();
    this.#late.add(id);
    const [oldest] = this.#late;
    if (this.#late.size > maxLate && oldest !== undefined) this.#late.delete(oldest);
  }

  /** Whether a response is that of a cancelled call. There is one for each, so the next one with this id is not. */
  isLate(id: unknown): boolean {
    return this.#late?.delete(id as number) === true; // Any other id is not in it.
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

  /** Removes a received call that was cancelled. Its id may be used again. Its handler counts as running until `settle`. */
  cancel(call: IncomingCall): void {
    call.over = true;
    this.#incoming.delete(call.key);
    if (this.waiting > 0 && this.#waiting?.delete(call) === true) this.waiting -= 1;
    this.#checkIdle();
  }

  /** The handler of a received call has finished. Unless the call was cancelled, this removes it: its id may be used again. */
  settle(call: IncomingCall): void {
    if (!call.over) this.#incoming.delete(call.key);
    call.over = true;
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

  /** True if, in addition, no response to a cancelled call is expected. */
  get isAtRest(): boolean {
    return this.idle && this.waiting === 0 && (this.#late === undefined || this.#late.size === 0);
  }

  /** The call of this side that a response with this id belongs to. */
  outgoing(id: unknown): OutgoingCall | undefined {
    return typeof id === "number" ? this.#outgoing.get(id) : undefined;
  }

  /**
   * The call that an invalid response belongs to: an id may be a numeral, and a response without an id is for the only call in
   * flight.
   * @param mayLackId whether such a response is one to a call
   */
  meantBy(id: unknown, mayLackId: boolean): OutgoingCall | undefined {
    if (typeof id === "string") return /^\d{1,15}$/.test(id) ? this.outgoing(Number(id)) : undefined;
    if (id !== undefined && id !== null) return this.outgoing(id);
    const [only, ...others] = this.#outgoing.values();
    return mayLackId && others.length === 0 ? only : undefined;
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

/**
 * A `Map` for entries that come and go one at a time, such as the calls of a connection. The table of a `Map` is allocated anew
 * whenever its last entry is deleted, which costs more than everything else that is done for a call; here one entry is beside it.
 */
class SmallMap<Key, Value> {
  #key: Key | undefined;
  #value: Value | undefined;
  #others: Map<Key, Value> | undefined;
  /** A field, and no accessor: it is read for every call. Changed by methods of this class alone. */
  size = 0;

  get(key: Key): Value | undefined {
    if (this.size === 0) return undefined;
    return this.#value !== undefined && this.#key === key ? this.#value : this.#others?.get(key);
  }

  /** @param value not undefined */
  set(key: Key, value: Value): void {
    if (this.#value !== undefined && this.#key === key) this.#value = value;
    else if (this.#value === undefined && this.#others?.has(key) !== true) {
      this.#key = key;
      this.#value = value;
      this.size += 1;
    } else {
      this.#others ??= new Map();
      const before = this.#others.size;
      this.#others.set(key, value);
      this.size += this.#others.size - before;
    }
  }

  delete(key: Key): boolean {
    if (this.#value !== undefined && this.#key === key) {
      this.#key = undefined;
      this.#value = undefined;
    } else if (this.#others?.delete(key) !== true) return false;
    this.size -= 1;
    return true;
  }

  /** The values, in no order. */
  *values(): Generator<Value> {
    if (this.#value !== undefined) yield this.#value;
    if (this.#others !== undefined) yield* this.#others.values();
  }
}
