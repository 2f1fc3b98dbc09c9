import { guarded, inHook } from "../jsonrpc/hooks.js";
import type { LossyNotification } from "../jsonrpc/outbox.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { EventStore, StoredEvent, StreamName } from "./event-store.js";
import type { EventStream } from "./event-stream.js";
import { messageEvent, primingEvent, retryField } from "./events.js";

/** What an outlet needs of its session. */
export interface OutletHost {
  readonly session: string;
  /** Undefined where nothing is kept, so that a stream that is lost is lost. */
  readonly store: EventStore | undefined;
  /** Whether the client comes back for a stream that was ended early. */
  readonly isPolled: boolean;
  /** Takes what the store throws or rejects with. */
  readonly report: Reporter;
}

/** Messages that wait for a store to say what came before them. */
const maxHeld = 1_000;

/**
 * One stream of a session, whoever reads it: the answer to a POST, or what belongs to no request. Its reader may be lost and
 * come back, and then gets what was sent meanwhile.
 */
export class Outlet {
  readonly #host: OutletHost;
  readonly #name: string;
  #reader: EventStream | undefined;
  #sequence = 0;
  /** While a reader that came back is given what it has missed. */
  #held: StoredEvent[] | undefined;
  #isOver = false;

  constructor(host: OutletHost, name: string) {
    this.#host = host;
    this.#name = name;
  }

  get hasReader(): boolean {
    return this.#reader?.isOpen === true;
  }

  get canRelease(): boolean {
    return this.#host.isPolled && this.#host.store !== undefined;
  }

  /** Gives it its first reader, or the next one. */
  attach(reader: EventStream): void {
    this.#reader = reader;
    if (this.canRelease) reader.push(primingEvent(this.#record("")));
  }

  /** `lossy`: a notification that may be lost while it waits. */
  message(frame: string, lossy?: LossyNotification): void {
    const id = this.#host.store === undefined ? undefined : this.#record(frame);
    // The store has it too: a reader that would wait for too much comes back once more.
    if (this.#held !== undefined && this.#held.length >= maxHeld) this.#held = undefined;
    if (this.#held !== undefined) this.#held.push({ sequence: this.#sequence, frame });
    else this.#reader?.push(messageEvent(frame, id), lossy);
  }

  /** Nothing comes any more. */
  end(): void {
    this.#isOver = true;
    if (this.#held === undefined) this.#reader?.end();
  }

  release(retry: number): void {
    this.#reader?.push(retryField(retry));
    this.#reader?.end();
    this.#reader = undefined;
  }

  /** Resolves when the reader has room for more; without a reader, at once. */
  drained(): Promise<void> {
    return this.#reader?.drained() ?? Promise.resolve();
  }

  /**
   * Gives a reader that came back what it has missed, then what follows. False if that is not all kept any more, and the
   * reader that was there stays. Of several that come back at once the last one is the reader.
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

  /** Undefined unless it is every event there was: one that the store has failed to keep would be lost without a word. */
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

/** What an event id says; undefined for one that is none of ours. */
export function readEventId(id: string): { readonly stream: string; readonly sequence: number } | undefined {
  const [, stream, sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined || sequence === undefined ? undefined : { stream, sequence: Number(sequence) };
}
