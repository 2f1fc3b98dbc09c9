import { type ByteBudget, characterBytes } from "../../../base/byte-budget.js";
import { type Clock, longestTimer, setBackgroundTimer, type Timer } from "../../../base/clock.js";
import { type Deferred, deferred } from "../../../base/deferred.js";
import { type LossyNotification, Outbox } from "../../../jsonrpc/calls/outbox.js";
import { freeQueueBytes, UnreadError } from "../../../jsonrpc/queue-bounds.js";
import type { Reporter } from "../../../jsonrpc/report.js";

/** The platform's side of an event stream. */
export interface EventSink {
  /** Writes text. Returns a promise if the reader is behind; it resolves when the reader has caught up or is gone. */
  write(text: string): void | Promise<void>;
  /** Writes text, if there is any, and ends the stream. */
  end(text?: string): void;
  /** Closes the connection. */
  destroy(): void;
}

/** Limits for a reader that does not read. */
export interface StreamLimits {
  readonly clock: Clock;
  /** The maximum number of queued characters; beyond it the stream is closed. */
  readonly maxQueuedBytes: number;
  /** Milliseconds without any progress of the reader after which the stream is closed. */
  readonly stallTimeout: number;
  readonly report: Reporter;
}

/** The default limits of one server. */
export function streamLimits({ clock, report }: Pick<StreamLimits, "clock" | "report">): StreamLimits {
  return { clock, maxQueuedBytes: 8 * 1024 * 1024, stallTimeout: 30_000, report };
}

/** The number of queued characters above which droppable notifications are replaced by later ones. */
const highWater = 1024 * 1024;

/**
 * A response body that is written event by event. Events pushed in one turn go into one write. Events pushed before the
 * platform attaches are queued.
 */
export class EventStream implements Pingable {
  readonly #limits: StreamLimits;
  readonly #peer: ByteBudget;
  /** The budget for queued text, and the events that wait for room: created when there are any. */
  #budget: ByteBudget | undefined;
  #outbox: Outbox<{ readonly frame: string }> | undefined;
  #phase: "open" | "ended" | "gone" = "open";
  #sink: EventSink | undefined;
  #waiting = "";
  #isScheduled = false;
  /** Whether the platform waits for the reader. */
  #isBehind = false;
  #drained: Deferred<void> | undefined;
  #stallTimer: Timer | undefined;

  /** @param budget charged for queued text */
  constructor(limits: StreamLimits, budget: ByteBudget) {
    this.#limits = limits;
    this.#peer = budget;
  }

  get isOpen(): boolean {
    return this.#phase === "open";
  }

  /** Whether the next event is written without waiting for the reader. */
  get hasRoom(): boolean {
    return this.#waiting.length < highWater;
  }

  /**
   * Writes one or more whole events; dropped after the end. `lossy`: a notification that may be dropped while queued.
   */
  push(text: string, lossy?: LossyNotification): void {
    if (this.#phase !== "open") return;
    if (this.hasRoom) {
      this.#waiting += text;
      if (this.#isAffordable() || !this.#isBehind) this.#schedule();
      else this.#giveUp(`${this.#waiting.length} characters wait to be read, and more is not kept`);
      return;
    }
    this.#outbox ??= new Outbox(this.#limits.maxQueuedBytes / 2, this.#peer, (method) =>
      this.#limits.report({ kind: "dropped", method, unread: true }),
    );
    const queued = this.#waiting.length + this.#outbox.length;
    const isAffordable = this.#outbox.push({ frame: text }, lossy) && queued <= this.#limits.maxQueuedBytes;
    const isUnread = this.#isBehind && lossy === undefined && !isAffordable;
    if (isUnread) this.#giveUp(`${queued} characters wait to be read`);
  }

  /** Sends a keep-alive. */
  ping(): boolean {
    // A reader that is behind needs none.
    if (!this.#isBehind) this.push(keepAliveComment);
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
    if (this.#phase === "gone" || (!this.#isBehind && this.hasRoom)) return Promise.resolve();
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
    this.#budget?.close();
    this.#outbox?.clear();
    this.#caughtUp();
    this.#tellDrained();
  }

  /** Charges the budget for the queue. Returns false if it is exhausted. */
  #isAffordable(): boolean {
    const { length } = this.#waiting;
    if (length <= freeQueueBytes && this.#budget === undefined) return true;
    this.#budget ??= this.#peer.child();
    return this.#budget.hold(length > freeQueueBytes ? characterBytes * length : 0);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#sink === undefined || this.#isBehind) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#sink === undefined || this.#isBehind || this.#phase === "gone") return;
    for (;;) {
      this.#refill();
      const isLast = this.#phase === "ended" && this.#waiting.length <= shortRest;
      if (isLast || this.#waiting === "") break;
      const text = beginningOf(this.#waiting);
      this.#waiting = this.#waiting.slice(text.length);
      const behind = this.#sink.write(text);
      this.#isAffordable();
      if (behind === undefined) continue;
      this.#waitForRoom(behind);
      return;
    }
    if (this.#phase === "ended") {
      this.#sink.end(this.#waiting);
      this.#waiting = "";
      this.#isAffordable();
    }
    this.#tellDrained();
  }

  #refill(): void {
    if (this.#outbox === undefined || this.#outbox.isEmpty) return;
    this.#outbox.flush(
      ({ frame }) => {
        this.#waiting += frame;
      },
      () => this.hasRoom,
    );
  }

  #tellDrained(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  #waitForRoom(behind: Promise<void>): void {
    const { clock, stallTimeout } = this.#limits;
    this.#isBehind = true;
    const giveUp = (): void => this.#giveUp(`nothing was read for ${stallTimeout} ms`);
    this.#stallTimer = setBackgroundTimer(clock, giveUp, stallTimeout);
    void behind.then(() => {
      this.#caughtUp();
      this.#flush();
    });
  }

  #caughtUp(): void {
    if (this.#stallTimer !== undefined) this.#limits.clock.clearTimer(this.#stallTimer);
    this.#stallTimer = undefined;
    this.#isBehind = false;
  }

  #giveUp(why: string): void {
    this.#limits.report({ kind: "given-up", error: new UnreadError(why) });
    this.#sink?.destroy();
    this.gone();
  }
}

/** The maximum number of characters that are written together with the end, without a stall timer. */
const shortRest = 16 * 1024;

/** The maximum number of characters of one write. Progress within a write is invisible. */
const longestWrite = 128 * 1024;

/** The part of a text for one write. It never splits a surrogate pair. */
function beginningOf(text: string): string {
  if (text.length <= longestWrite) return text;
  const last = text.charCodeAt(longestWrite - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? longestWrite - 1 : longestWrite);
}

/**
 * The body of a response that is one text. A long one is written in pieces, so that the stall timer detects a reader that
 * does not read.
 *
 * @param budget charged for queued text
 */
export function bodyOf(text: string, limits: StreamLimits, budget: ByteBudget): string | EventStream {
  if (text.length <= longestWrite) return text;
  const body = new EventStream(limits, budget);
  body.push(text);
  body.end();
  return body;
}

/** Something that sends keep-alives. */
export interface Pingable {
  /** Sends a keep-alive. Returns false if the stream is over. */
  ping(): boolean;
}

/**
 * Sends keep-alives on streams. Each stream has its own timer: on workers, a timer ends with the request that set it,
 * and a request that waits for nothing of its own is aborted as hung.
 */
export class KeepAlive {
  readonly #clock: Clock;
  readonly #period: number;
  readonly #timers = new Map<Pingable, Timer>();

  /**
   * @param period milliseconds; `Infinity` for no keep-alives
   * @throws RangeError for a period that is not above zero
   */
  constructor(clock: Clock, period: number) {
    if (!(period > 0)) throw new RangeError(`keepAlive must be above 0 ms, got ${period}: Infinity turns it off`);
    this.#clock = clock;
    this.#period = period;
  }

  add(stream: Pingable): void {
    this.delete(stream);
    if (this.#period > longestTimer) return;
    const ping = (): void => {
      this.#timers.delete(stream);
      if (stream.ping()) this.add(stream);
    };
    this.#timers.set(stream, setBackgroundTimer(this.#clock, ping, this.#period));
  }

  delete(stream: Pingable): void {
    const timer = this.#timers.get(stream);
    if (timer === undefined) return;
    this.#timers.delete(stream);
    this.#clock.clearTimer(timer);
  }
}

/**
 * Formats a JSON-RPC message as an event. Serialised JSON from handlers may contain line breaks, so each line gets its
 * own `data` field.
 */
export function messageEvent(frame: string, id?: string): string {
  const data = frame.includes("\n") || frame.includes("\r") ? frame.replaceAll(/\r\n|\r|\n/g, "\ndata: ") : frame;
  return id === undefined ? `event: message\ndata: ${data}\n\n` : `id: ${id}\nevent: message\ndata: ${data}\n\n`;
}

/** A comment without content, so that intermediaries do not close an idle stream. */
const keepAliveComment = ": keep-alive\n\n";

/** An event without a message, whose id lets clients resume from here. */
export function primingEvent(id: string): string {
  return `id: ${id}\ndata: \n\n`;
}

/** Sets the reconnection delay of the reader. */
export function retryField(milliseconds: number): string {
  return `retry: ${Math.max(0, Math.round(milliseconds))}\n\n`;
}

/** Announces the URL for POSTs, in HTTP+SSE. */
export function endpointEvent(url: string): string {
  return `event: endpoint\ndata: ${url}\n\n`;
}
