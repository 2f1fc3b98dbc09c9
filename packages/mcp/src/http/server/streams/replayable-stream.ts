import type { LossyNotification } from "../../../jsonrpc/calls/outbox.js";
import { guarded, inHook } from "../../../jsonrpc/hooks.js";
import type { Reporter } from "../../../jsonrpc/report.js";
import type { EventStore, StoredEvent, StreamName } from "./event-store.js";
import type { EventStream } from "./event-stream.js";
import { messageEvent, primingEvent, retryField } from "./sse-events.js";

/** The parts of the session that a stream needs. */
export interface ReplayableStreamHost {
  readonly session: string;
  /** Undefined without an event store: a dropped stream cannot be resumed. */
  readonly store: EventStore | undefined;
  /** Whether the client reconnects to a stream that was closed early. */
  readonly isPolled: boolean;
  /** Called with errors of the event store. */
  readonly report: Reporter;
}

/** The maximum number of messages held while the event store reads earlier ones. */
const maxHeld = 1_000;

/**
 * One stream of a session that can be resumed: the response to a POST, or the session's own stream. Its reader may
 * disconnect, reconnect, and get the messages sent in between.
 */
export class ReplayableStream {
  readonly #host: ReplayableStreamHost;
  readonly #name: string;
  #reader: EventStream | undefined;
  #sequence = 0;
  /** Messages held while a reader is being resumed. */
  #held: StoredEvent[] | undefined;
  #isOver = false;

  constructor(host: ReplayableStreamHost, name: string) {
    this.#host = host;
    this.#name = name;
  }

  get hasReader(): boolean {
    return this.#reader?.isOpen === true;
  }

  get canRelease(): boolean {
    return this.#host.isPolled && this.#host.store !== undefined;
  }

  /** Sets the reader. */
  attach(reader: EventStream): void {
    this.#reader = reader;
    if (this.canRelease) reader.push(primingEvent(this.#record("")));
  }

  /** `lossy`: a notification that may be dropped while queued. */
  message(frame: string, lossy?: LossyNotification): void {
    const id = this.#host.store === undefined ? undefined : this.#record(frame);
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
    const { store, session } = this.#host;
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
    const { store, session, report } = this.#host;
    const event = { sequence: this.#sequence, frame };
    guarded("EventStore.append", () => store?.append({ session, stream: this.#name }, event), report);
    return this.#idOf(this.#sequence);
  }

  #idOf(sequence: number): string {
    return `${this.#name}-${sequence}`;
  }
}

/** Parses an event id; undefined if it is not one of ours. */
export function readEventId(id: string): { readonly stream: string; readonly sequence: number } | undefined {
  const [, stream, sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined || sequence === undefined ? undefined : { stream, sequence: Number(sequence) };
}
