import { type ByteBudget, characterBytes } from "../../../base/byte-budget.js";
import type { Clock, Timer } from "../../../base/clock.js";
import { type Deferred, deferred } from "../../../base/deferred.js";
import { type LossyNotification, Outbox } from "../../../jsonrpc/calls/outbox.js";
import { freeQueueBytes, UnreadError } from "../../../jsonrpc/queue-bounds.js";
import type { Reporter } from "../../../jsonrpc/report.js";
import type { Pingable } from "./keep-alive.js";
import { keepAliveComment } from "./sse-events.js";

/** The platform's side of an event stream. */
export interface EventSink {
  /** Writes text. Returns a promise if the reader is behind; it resolves when the reader has caught up or is gone. */
  write(text: string): void | Promise<void>;
  /** Ends the stream. */
  end(): void;
  /** Closes the connection. */
  destroy(): void;
}

/** Limits for a reader that does not read. */
export interface StreamTerms {
  readonly clock: Clock;
  /** The maximum number of queued characters; beyond it the stream is closed. */
  readonly maxQueuedBytes: number;
  /** Milliseconds without any progress of the reader after which the stream is closed. */
  readonly stallTimeout: number;
  readonly report: Reporter;
}

/** The number of queued characters above which droppable notifications are replaced by later ones. */
const highWater = 1024 * 1024;

/**
 * A response body that is written event by event. Events pushed in one turn go into one write. Events pushed before the
 * platform attaches are queued.
 */
export class EventStream implements Pingable {
  readonly #terms: StreamTerms;
  readonly #budget: ByteBudget;
  #phase: "open" | "ended" | "gone" = "open";
  #sink: EventSink | undefined;
  #waiting = "";
  /** Events that wait for room. */
  readonly #outbox: Outbox<{ readonly frame: string }>;
  #isScheduled = false;
  /** Set while the reader is behind. */
  #room: Deferred<void> | undefined;
  #drained: Deferred<void> | undefined;
  #stallTimer: Timer | undefined;

  /** @param budget charged for queued text */
  constructor(terms: StreamTerms, budget: ByteBudget) {
    this.#terms = terms;
    this.#budget = budget.child();
    this.#outbox = new Outbox(terms.maxQueuedBytes / 2, budget, (method) =>
      terms.report({ kind: "dropped", method, unread: true }),
    );
  }

  get isOpen(): boolean {
    return this.#phase === "open";
  }

  /**
   * Writes one or more whole events; dropped after the end. `lossy`: a notification that may be dropped while queued.
   */
  push(text: string, lossy?: LossyNotification): void {
    if (this.#phase !== "open") return;
    if (this.#hasRoom()) {
      this.#waiting += text;
      if (this.#isAffordable(0) || this.#room === undefined) this.#schedule();
      else this.#giveUp(`${this.#waiting.length} characters wait to be read, and more is not kept`);
      return;
    }
    const queued = this.#waiting.length + this.#outbox.length;
    const isAffordable = this.#outbox.push({ frame: text }, lossy) && queued <= this.#terms.maxQueuedBytes;
    const isUnread = this.#room !== undefined && lossy === undefined && !isAffordable;
    if (isUnread) this.#giveUp(`${queued} characters wait to be read`);
  }

  /** Sends a keep-alive. */
  ping(): boolean {
    // A reader that is behind needs none.
    if (this.#room === undefined) this.push(keepAliveComment);
    return this.isOpen;
  }

  /** Ends the stream after the queued events. */
  end(): void {
    if (this.#phase !== "open") return;
    this.#phase = "ended";
    this.#schedule();
  }

  /** Resolves when the reader has room, or is gone. */
  drained(): Promise<void> {
    if (this.#phase === "gone" || (this.#room === undefined && this.#hasRoom())) return Promise.resolve();
    this.#drained ??= deferred<void>();
    return this.#drained.promise;
  }

  /** Called when the platform starts to send the body. */
  attach(sink: EventSink): void {
    this.#sink = sink;
    if (this.#phase === "gone") sink.destroy();
    else this.#flush();
  }

  /** Called when the platform has lost the reader. */
  gone(): void {
    if (this.#phase === "gone") return;
    this.#phase = "gone";
    this.#waiting = "";
    this.#budget.close();
    this.#outbox.clear();
    this.#makeRoom();
    this.#tellDrained();
  }

  /** Charges the budget for the queue plus `more` characters. Returns false if it is exhausted. */
  #isAffordable(more: number): boolean {
    const length = this.#waiting.length + more;
    return this.#budget.hold(length > freeQueueBytes ? characterBytes * length : 0);
  }

  readonly #hasRoom = (): boolean => this.#waiting.length < highWater;

  #schedule(): void {
    if (this.#isScheduled || this.#sink === undefined || this.#room !== undefined) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#sink === undefined || this.#room !== undefined || this.#phase === "gone") return;
    for (;;) {
      this.#refill();
      if (this.#waiting === "") break;
      const text = beginningOf(this.#waiting);
      this.#waiting = this.#waiting.slice(text.length);
      const behind = this.#sink.write(text);
      this.#isAffordable(0);
      if (behind === undefined) continue;
      this.#waitForRoom(behind);
      return;
    }
    this.#tellDrained();
    if (this.#phase === "ended") this.#sink.end();
  }

  #refill(): void {
    const take = ({ frame }: { readonly frame: string }): void => {
      this.#waiting += frame;
    };
    if (!this.#outbox.isEmpty) this.#outbox.flush(take, this.#hasRoom);
  }

  #tellDrained(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  #waitForRoom(behind: Promise<void>): void {
    const { clock, stallTimeout } = this.#terms;
    this.#room = deferred<void>();
    this.#stallTimer = clock.setTimer(() => this.#giveUp(`nothing was read for ${stallTimeout} ms`), stallTimeout);
    this.#stallTimer.unref?.();
    void behind.then(() => {
      this.#makeRoom();
      this.#flush();
    });
  }

  #makeRoom(): void {
    if (this.#stallTimer !== undefined) this.#terms.clock.clearTimer(this.#stallTimer);
    this.#stallTimer = undefined;
    this.#room?.resolve();
    this.#room = undefined;
  }

  #giveUp(why: string): void {
    this.#terms.report({ kind: "given-up", error: new UnreadError(why) });
    this.#sink?.destroy();
    this.gone();
  }
}

/** The maximum number of characters of one write. Progress within a write is invisible. */
export const longestWrite: number = 128 * 1024;

/** The part of a text for one write. It never splits a surrogate pair. */
function beginningOf(text: string): string {
  if (text.length <= longestWrite) return text;
  const last = text.charCodeAt(longestWrite - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? longestWrite - 1 : longestWrite);
}
