import type { ByteBudget } from "../../../base/byte-budget.js";
import { checkMembers, type MembersOf } from "../../../base/check-members.js";
import { type Clock, systemClock } from "../../../base/clock.js";
import type { MaybePromise } from "../../../base/maybe-promise.js";

/** One event of a stream, with its position. */
export interface StoredEvent {
  /** The position of the event in its stream, ascending. */
  readonly sequence: number;
  /** The message; empty for an event without one. */
  readonly frame: string;
}

/** The identity of a stream of a session. */
export interface StreamName {
  /** The id of the session. */
  readonly session: string;
  /** The name of the stream in the session. */
  readonly stream: string;
}

/**
 * Stores the events of session streams, so that clients can resume them after a reconnect. Errors of a method are
 * reported under its name, e.g. `EventStore.append`, and the session continues.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export interface EventStore {
  /**
   * Stores an event. Sequence numbers of one stream arrive in order. If an event is missing, the stream cannot be
   * resumed before it.
   */
  append(name: StreamName, event: StoredEvent): MaybePromise<void>;
  /** All events after a sequence number, in order; undefined if any of them is missing or the stream is unknown. */
  after(name: StreamName, sequence: number): MaybePromise<readonly StoredEvent[] | undefined>;
  /** Deletes the events of a session that is over. */
  forget(session: string): MaybePromise<void>;
}

/**
 * Limits of the memory store. Events are also charged to the budgets of peers, up to a quarter of each. At a limit, the
 * oldest events of the session are dropped. An event counts two bytes per character of its message, plus 512.
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
  maxAge: ["number", "ttl"],
  maxEvents: ["number"],
  maxStreamBytes: ["number"],
  maxSessionBytes: ["number"],
  maxBytes: ["number"],
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
  /** Charged for its events; undefined without `charge`. */
  readonly budget: ByteBudget | undefined;
  /** Streams with events. */
  readonly streams: Map<string, KeptStream>;
  bytes: number;
}

const mebibyte = 1024 * 1024;

/**
 * An event store in the memory of this process.
 *
 * @example
 * await serveHttp(server, { sessions: { eventStore: memoryEventStore({ maxAge: 60_000 }) } });
 */
export function memoryEventStore(
  options: MemoryEventStoreOptions & {
    /** The clock by which events expire. Default: that of the system. */
    readonly clock?: Clock;
  } = {},
): EventStore {
  checkMembers("memoryEventStore", options, { ...storeMembers, clock: ["object"] });
  const { clock = systemClock, ...bounds } = options;
  return new MemoryEventStore(clock, bounds);
}

/** Stores events in memory. At a limit, the oldest are dropped. */
export class MemoryEventStore implements EventStore {
  readonly #clock: Clock;
  readonly #limits: Required<MemoryEventStoreOptions>;
  readonly #sessions = new Map<string, KeptSession>();
  /** Streams with events, the least recently written first. */
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

  /** Sets the budget for the events of a session, until `forget`. Call it before the first event. */
  charge(session: string, budget: ByteBudget): void {
    this.#sessions.set(session, { budget: budget.child(), streams: new Map(), bytes: 0 });
  }

  append({ session, stream }: StreamName, event: StoredEvent): void {
    const now = this.#clock.now();
    const bytes = bytesOf(event);
    if (!this.#makeRoom(session, bytes)) return; // Too large even for an empty session.
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
    // The event after `sequence` must still be stored.
    if (events === undefined || first === undefined || first > sequence + 1) return undefined;
    return events.filter((event) => event.sequence > sequence);
  }

  forget(session: string): void {
    const kept = this.#sessions.get(session);
    if (kept === undefined) return;
    kept.budget?.close();
    this.#sessions.delete(session);
    for (const stream of kept.streams.values()) this.#streams.delete(stream);
    this.#bytes -= kept.bytes;
  }

  /**
   * Charges bytes to the session's budget, and drops its oldest events until they fit. Returns false if they do not fit
   * in any case.
   */
  #makeRoom(session: string, bytes: number): boolean {
    const { budget, streams } = this.#sessions.get(session) ?? {};
    while (budget?.take(bytes) === false) {
      const oldest = firstOf(streams?.values() ?? []);
      if (oldest === undefined) return false;
      this.#dropOldest(oldest);
    }
    return true;
  }

  #stream(session: string, stream: string): KeptStream {
    const kept: KeptSession = this.#sessions.get(session) ?? { budget: undefined, streams: new Map(), bytes: 0 };
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

/** The overhead of an event, so that many small events are not undercounted. */
const eventBytes = 512;

function bytesOf({ frame }: StoredEvent): number {
  return eventBytes + 2 * frame.length;
}
