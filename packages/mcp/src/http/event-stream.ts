import type { ByteBudget } from "../base/byte-budget.js";
import type { Clock, Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import { type LossyNotification, Outbox } from "../jsonrpc/outbox.js";
import { freeQueueBytes, UnreadError } from "../jsonrpc/queue-bounds.js";
import type { Reporter } from "../jsonrpc/report.js";
import { characterBytes } from "../jsonrpc/weight.js";
import { keepAliveComment } from "./events.js";
import type { Living } from "./pulse.js";

/** Where the text of an event stream goes: the platform's end of it. */
export interface EventSink {
  /** Takes text. A promise says that the reader is behind, and resolves when it has caught up or is gone. */
  write(text: string): void | Promise<void>;
  /** Ends the stream. */
  end(): void;
  /** Breaks the connection. */
  destroy(): void;
}

/** What bounds a stream whose reader does not read. */
export interface StreamTerms {
  readonly clock: Clock;
  /** Characters that wait for the reader, from which on it is given up instead of given more. */
  readonly maxQueuedBytes: number;
  /** Milliseconds without any of them being read, after which it is given up. */
  readonly stallTimeout: number;
  readonly report: Reporter;
}

/** Characters that wait, from which on notifications give way to later ones. */
const highWater = 1024 * 1024;

/**
 * A body that is written event by event. What is pushed in one turn goes out in one write, and what is pushed before the
 * platform takes the stream waits for it.
 */
export class EventStream implements Living {
  readonly #terms: StreamTerms;
  readonly #budget: ByteBudget;
  #phase: "open" | "ended" | "gone" = "open";
  #sink: EventSink | undefined;
  #waiting = "";
  /** What comes behind that, once there is room. */
  readonly #outbox: Outbox<{ readonly frame: string }>;
  #isScheduled = false;
  /** There while the reader is behind. */
  #room: Deferred<void> | undefined;
  #drained: Deferred<void> | undefined;
  #stallTimer: Timer | undefined;

  /** @param budget is charged for what waits for the reader */
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

  /** Writes text that is made of whole events. After the end it is dropped. `lossy`: a notification that may be lost while it waits. */
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

  /** A sign of life. */
  beat(): boolean {
    // A reader that is behind has something to read.
    if (this.#room === undefined) this.push(keepAliveComment);
    return this.isOpen;
  }

  /** Ends the stream behind what was pushed. */
  end(): void {
    if (this.#phase !== "open") return;
    this.#phase = "ended";
    this.#schedule();
  }

  /** Resolves when the reader has room for more, or is gone. */
  drained(): Promise<void> {
    if (this.#phase === "gone" || (this.#room === undefined && this.#hasRoom())) return Promise.resolve();
    this.#drained ??= deferred<void>();
    return this.#drained.promise;
  }

  /** The platform takes the stream. */
  attach(sink: EventSink): void {
    this.#sink = sink;
    if (this.#phase === "gone") sink.destroy();
    else this.#flush();
  }

  /** The platform has lost the reader. */
  gone(): void {
    if (this.#phase === "gone") return;
    this.#phase = "gone";
    this.#waiting = "";
    this.#budget.close();
    this.#outbox.clear();
    this.#makeRoom();
    this.#tellDrained();
  }

  /** Brings what is charged up to date, for so many characters more. */
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

/** Characters of one write. What a reader takes of a longer one could not be seen. */
export const longestWrite: number = 128 * 1024;

/** As much as goes out in one write. It ends behind a whole character. */
function beginningOf(text: string): string {
  if (text.length <= longestWrite) return text;
  const last = text.charCodeAt(longestWrite - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? longestWrite - 1 : longestWrite);
}
