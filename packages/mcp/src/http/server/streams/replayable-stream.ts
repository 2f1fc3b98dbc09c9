import type { ByteBudget } from "../../../base/byte-budget.js";
import type { LossyNotification } from "../../../jsonrpc/calls/outbox.js";
import { guarded, inHook } from "../../../jsonrpc/hooks.js";
import type { Reporter } from "../../../jsonrpc/report.js";
import type { HttpResponse } from "../request.js";
import { refusal } from "../responses.js";
import { type EventStore, MemoryEventStore, type StoredEvent, type StreamName } from "./event-store.js";
import { type EventStream, messageEvent, primingEvent, retryField } from "./event-stream.js";

/**
 * The maximum number of finished response streams that can still be resumed, as far as the event store has their
 * events.
 */
const maxFinished = 32;

/** The maximum number of messages held while the event store reads earlier ones. */
const maxHeld = 1_000;

/** The name of the session's own stream. */
const mainName = "0";

/** The streams of a session by name, including finished ones. */
export class ReplayableStreams {
  readonly session: string;
  /** Undefined without an event store: a dropped stream cannot be resumed. */
  readonly store: EventStore | undefined;
  /** Called with errors of the event store. */
  readonly report: Reporter;
  /** Whether the client reconnects to a stream that was closed early. */
  isPolled = false;
  /** Made for the first stream: most sessions are answered without one. */
  #streams: Map<string, ReplayableStream> | undefined;
  #main: ReplayableStream | undefined;
  #lastName = 0;
  readonly #events: ByteBudget;

  /** @param events charged for the events in a store in memory */
  constructor(session: string, store: EventStore | undefined, events: ByteBudget, report: Reporter) {
    this.session = session;
    this.store = store;
    this.#events = events;
    this.report = report;
  }

  /** Whether a stream can be closed early: its client reconnects, and gets the rest from the event store. */
  get canRelease(): boolean {
    return this.isPolled && this.store !== undefined;
  }

  /** The session's own stream. */
  get main(): ReplayableStream {
    this.#main ??= this.add(mainName);
    return this.#main;
  }

  /** Whether the session's own stream is being read. */
  get isMainRead(): boolean {
    return this.#main?.hasReader === true;
  }

  /** Ends the session's own stream. */
  end(): void {
    this.#main?.end();
  }

  /** The name of another stream, or of a response that may become one. */
  nextName(): number {
    this.#lastName += 1;
    return this.#lastName;
  }

  /** Adds a stream. If too many can be resumed, the oldest finished one no longer can. */
  add(name: string): ReplayableStream {
    const stream = new ReplayableStream(this, name);
    if (this.#streams === undefined) {
      this.#streams = new Map();
      if (this.store instanceof MemoryEventStore) this.store.charge(this.session, this.#events);
    }
    this.#streams.set(name, stream);
    if (this.#streams.size <= maxFinished) return stream;
    for (const [oldest, { isOver }] of this.#streams) {
      if (!isOver) continue;
      this.#streams.delete(oldest);
      break;
    }
    return stream;
  }

  /**
   * Resumes the stream of an event id, from the position of that event, with a new reader. Returns an error response if that is not
   * possible; then the reader is not used.
   */
  async resume(lastEventId: string, reader: EventStream): Promise<HttpResponse | undefined> {
    const [, name = "", sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(lastEventId) ?? [];
    const stream = name === mainName ? this.main : this.#streams?.get(name);
    if (stream === undefined) return refusal(400, "Last-Event-ID does not belong to this session");
    const isWhole = await stream.resume(reader, Number(sequence));
    return isWhole ? undefined : refusal(400, "the events after Last-Event-ID are no longer stored");
  }
}

/**
 * One stream of a session that can be resumed: the response to a POST, or the session's own stream. Its reader may
 * disconnect, reconnect, and get the messages sent in between.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export class ReplayableStream {
  readonly #streams: ReplayableStreams;
  readonly #name: string;
  #reader: EventStream | undefined;
  #sequence = 0;
  /** Messages held while a reader is being resumed. */
  #held: StoredEvent[] | undefined;
  #isOver = false;

  /** Created by `ReplayableStreams`. */
  constructor(streams: ReplayableStreams, name: string) {
    this.#streams = streams;
    this.#name = name;
  }

  get hasReader(): boolean {
    return this.#reader?.isOpen === true;
  }

  /** Whether it has ended; its events can still be resumed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sets the reader. */
  attach(reader: EventStream): void {
    this.#reader = reader;
    if (this.#streams.canRelease) reader.push(primingEvent(this.#record("")));
  }

  /** `lossy`: a notification that may be dropped while queued. */
  message(frame: string, lossy?: LossyNotification): void {
    const id = this.#streams.store === undefined ? undefined : this.#record(frame);
    // The event store has the messages too, so the reader can resume again.
    if (this.#held !== undefined && this.#held.length >= maxHeld) this.#held = undefined;
    if (this.#held !== undefined) this.#held.push({ sequence: this.#sequence, frame });
    else this.#reader?.push(messageEvent(frame, id), lossy);
  }

  /** Ends the stream. */
  end(): void {
    this.#isOver = true;
    if (this.#held === undefined) this.#reader?.end();
  }

  /** Ends the reader; the client reconnects after `retry` milliseconds for the rest. */
  release(retry: number): void {
    this.#reader?.push(retryField(retry));
    this.#reader?.end();
    this.#reader = undefined;
  }

  /** Resolves when the reader has room; immediately without a reader. */
  drained(): Promise<void> {
    return this.#reader?.drained() ?? Promise.resolve();
  }

  /**
   * Sends a reconnected reader the events it missed, then continues. Returns false, and keeps the current reader, if
   * events are missing. If several readers resume at once, the last one wins.
   */
  async resume(reader: EventStream, sequence: number): Promise<boolean> {
    const { store, session } = this.#streams;
    if (store === undefined || sequence > this.#sequence) return false;
    const held: StoredEvent[] = [];
    this.#held = held;
    let missed: readonly StoredEvent[] | undefined;
    try {
      missed = await this.#missed(store, { session, stream: this.#name }, sequence);
    } finally {
      if (this.#held === held) this.#resumed(missed === undefined ? this.#reader : reader, missed ?? [], held);
      else reader.end();
    }
    return missed !== undefined;
  }

  /** Undefined if any event is missing: one that the store failed to keep would otherwise be lost silently. */
  async #missed(store: EventStore, name: StreamName, sequence: number): Promise<readonly StoredEvent[] | undefined> {
    const last = this.#sequence;
    if (sequence === last) return [];
    const events = await inHook("EventStore.after", () => store.after(name, sequence));
    const isWhole = events?.every((event, index) => event.sequence === sequence + 1 + index);
    return isWhole === true && (events?.at(-1)?.sequence ?? 0) >= last ? events : undefined;
  }

  #resumed(reader: EventStream | undefined, missed: readonly StoredEvent[], held: readonly StoredEvent[]): void {
    this.#held = undefined;
    if (reader !== this.#reader) this.#reader?.end();
    this.#reader = reader;
    const last = missed.at(-1)?.sequence ?? 0;
    for (const event of [...missed, ...held.filter((each) => each.sequence > last)]) {
      const id = this.#idOf(event.sequence);
      reader?.push(event.frame === "" ? primingEvent(id) : messageEvent(event.frame, id));
    }
    if (this.#isOver) reader?.end();
  }

  #record(frame: string): string {
    this.#sequence += 1;
    const { store, session, report } = this.#streams;
    const event = { sequence: this.#sequence, frame };
    guarded("EventStore.append", () => store?.append({ session, stream: this.#name }, event), report);
    return this.#idOf(this.#sequence);
  }

  #idOf(sequence: number): string {
    return `${this.#name}-${sequence}`;
  }
}
