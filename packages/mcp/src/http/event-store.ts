import type { ByteBudget } from "../base/byte-budget.js";
import { type Clock, systemClock } from "../base/clock.js";
import type { MaybePromise } from "../base/later.js";
import { checkMembers, type MembersOf } from "../base/members.js";

/** One event of a stream, by its place in it. */
export interface StoredEvent {
  readonly sequence: number;
  /** The message; empty for an event without one. */
  readonly frame: string;
}

/** A stream of a session. */
export interface StreamName {
  readonly session: string;
  readonly stream: string;
}

/**
 * Keeps what was sent on the streams of sessions, so that a client that has lost one gets the rest of it. What a method throws
 * or rejects with is reported under its name, e.g. `EventStore.append`, and the session goes on.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export interface EventStore {
  /** Keeps an event. Sequences of one stream come in order. A stream of which an event was not kept cannot be resumed before it. */
  append(name: StreamName, event: StoredEvent): MaybePromise<void>;
  /** All events after that one, in order; undefined if they are not all kept any more, or the stream is unknown. */
  after(name: StreamName, sequence: number): MaybePromise<readonly StoredEvent[] | undefined>;
  /** The session is over. */
  forget(session: string): MaybePromise<void>;
}

/**
 * Bounds on what is kept. It is charged to the budgets of the peers too, at most a quarter of each, and gives way to nothing: what
 * does not fit pushes out the oldest of its session. An event counts two bytes for each character of its message, and 512 for itself.
 */
export interface MemoryEventStoreOptions {
  /** Milliseconds. Default: 300,000. */
  readonly maxAge?: number;
  /** Events of one stream. Default: 1,000. */
  readonly maxEvents?: number;
  /** Default: 4 MiB. */
  readonly maxStreamBytes?: number;
  /** Default: 16 MiB. */
  readonly maxSessionBytes?: number;
  /** Default: 64 MiB. */
  readonly maxBytes?: number;
}

const storeMembers: MembersOf<MemoryEventStoreOptions> = {
  maxAge: ["ttl"],
  maxEvents: [],
  maxStreamBytes: [],
  maxSessionBytes: [],
  maxBytes: [],
};

interface KeptEvent extends StoredEvent {
  readonly at: number;
}

interface KeptStream {
  readonly name: string;
  readonly session: KeptSession;
  readonly events: KeptEvent[];
  bytes: number;
}

interface KeptSession {
  readonly budget: ByteBudget | undefined;
  /** Those that hold events. */
  readonly streams: Map<string, KeptStream>;
  bytes: number;
}

const mebibyte = 1024 * 1024;

/**
 * A store in the memory of this process, with bounds of its own.
 *
 * @example
 * await serveHttp(server, { sessions: { eventStore: memoryEventStore({ maxAge: 60_000 }) } });
 */
export function memoryEventStore(options: MemoryEventStoreOptions & { readonly clock?: Clock } = {}): EventStore {
  checkMembers("memoryEventStore", options, { ...storeMembers, clock: [] });
  const { clock = systemClock, ...bounds } = options;
  return new MemoryEventStore(clock, bounds);
}

/** Keeps events in the memory of this process. What exceeds a bound pushes out the oldest. */
export class MemoryEventStore implements EventStore {
  readonly #clock: Clock;
  readonly #limits: Required<MemoryEventStoreOptions>;
  readonly #sessions = new Map<string, KeptSession>();
  /** By session. */
  readonly #budgets = new Map<string, ByteBudget>();
  /** Those that hold events, the one that was written to longest ago first. */
  readonly #streams = new Set<KeptStream>();
  #bytes = 0;

  constructor(clock: Clock, options: MemoryEventStoreOptions = {}) {
    this.#clock = clock;
    this.#limits = {
      maxAge: 300_000,
      maxEvents: 1_000,
      maxStreamBytes: 4 * mebibyte,
      maxSessionBytes: 16 * mebibyte,
      maxBytes: 64 * mebibyte,
      ...options,
    };
  }

  /** Charges what is kept of a session to a budget, from before its first event until it is forgotten. */
  charge(session: string, budget: ByteBudget): void {
    this.#budgets.set(session, budget.child());
  }

  append({ session, stream }: StreamName, event: StoredEvent): void {
    const now = this.#clock.now();
    const bytes = bytesOf(event);
    if (!this.#makeRoom(session, bytes)) return; // Nothing of the session is left: it cannot be resumed from here.
    const kept = this.#stream(session, stream);
    kept.events.push({ ...event, at: now });
    this.#count(kept, bytes);
    this.#streams.delete(kept);
    this.#streams.add(kept);
    const { maxEvents, maxStreamBytes, maxSessionBytes, maxBytes } = this.#limits;
    while (kept.events.length > maxEvents || kept.bytes > maxStreamBytes) this.#dropOldest(kept);
    while (kept.session.bytes > maxSessionBytes) this.#dropOldest(firstOf(kept.session.streams.values()) ?? kept);
    while (this.#bytes > maxBytes) this.#dropOldest(firstOf(this.#streams) ?? kept);
    this.#expire(now);
  }

  after({ session, stream }: StreamName, sequence: number): readonly StoredEvent[] | undefined {
    this.#expire(this.#clock.now());
    const events = this.#sessions.get(session)?.streams.get(stream)?.events;
    const first = events?.[0]?.sequence;
    // The next one must still be there, or there was none.
    if (events === undefined || first === undefined || first > sequence + 1) return undefined;
    return events.filter((event) => event.sequence > sequence);
  }

  forget(session: string): void {
    this.#budgets.get(session)?.close();
    this.#budgets.delete(session);
    const kept = this.#sessions.get(session);
    if (kept === undefined) return;
    this.#sessions.delete(session);
    for (const stream of kept.streams.values()) this.#streams.delete(stream);
    this.#bytes -= kept.bytes;
  }

  /** Takes the bytes, and drops what is oldest in the session where they do not fit. False if they do not fit all the same. */
  #makeRoom(session: string, bytes: number): boolean {
    const budget = this.#budgets.get(session);
    while (budget?.take(bytes) === false) {
      const oldest = firstOf(this.#sessions.get(session)?.streams.values() ?? []);
      if (oldest === undefined) return false;
      this.#dropOldest(oldest);
    }
    return true;
  }

  #stream(session: string, stream: string): KeptStream {
    const kept = this.#sessions.get(session) ?? {
      budget: this.#budgets.get(session),
      streams: new Map<string, KeptStream>(),
      bytes: 0,
    };
    this.#sessions.set(session, kept);
    const known = kept.streams.get(stream) ?? { name: stream, session: kept, events: [], bytes: 0 };
    kept.streams.set(stream, known);
    return known;
  }

  #expire(now: number): void {
    for (const stream of this.#streams) {
      const last = stream.events.at(-1);
      if (last !== undefined && last.at > now - this.#limits.maxAge) return;
      this.#drop(stream);
    }
  }

  #dropOldest(stream: KeptStream): void {
    const event = stream.events.shift();
    if (event !== undefined) this.#release(stream, bytesOf(event));
    if (stream.events.length === 0) this.#drop(stream);
  }

  #drop(stream: KeptStream): void {
    this.#release(stream, stream.bytes);
    stream.session.streams.delete(stream.name);
    this.#streams.delete(stream);
  }

  #release(stream: KeptStream, bytes: number): void {
    this.#count(stream, -bytes);
    stream.session.budget?.give(bytes);
  }

  #count(stream: KeptStream, bytes: number): void {
    stream.bytes += bytes;
    stream.session.bytes += bytes;
    this.#bytes += bytes;
  }
}

function firstOf(streams: Iterable<KeptStream>): KeptStream | undefined {
  for (const stream of streams) return stream;
  return undefined;
}

/** So many small events would else cost much more than they count. */
const eventBytes = 512;

function bytesOf({ frame }: StoredEvent): number {
  return eventBytes + 2 * frame.length;
}
