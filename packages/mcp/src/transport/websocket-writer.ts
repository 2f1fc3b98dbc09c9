import type { ByteBudget } from "../base/byte-budget.js";
import type { Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import { HookError } from "../jsonrpc/errors.js";
import { guarded } from "../jsonrpc/hooks.js";
import { endGrace, freeQueueBytes, type QueueBounds, UnreadError } from "../jsonrpc/queue-bounds.js";

/** The interval in milliseconds of polling `bufferedAmount`: initially, and at most while nothing drains. */
const firstLook = 10;
const longestLook = 1_000;

/** The close code of a normal end. */
const normalClosure = 1000;

/**
 * Queues texts until the socket opens, then tracks how much of them is unsent. Web sockets offer no event for that, so
 * it polls `bufferedAmount`.
 *
 * `failed` is called, and the writer stops, if the peer stops reading.
 */
export class WebSocketWriter {
  readonly #socket: WebSocketLike;
  readonly #bounds: Required<QueueBounds>;
  readonly #failed: (error: Error) => void;
  #phase: "opening" | "open" | "ending" | "over" = "opening";
  /** Texts sent before the socket opened. */
  #early: string[] = [];
  #earlyLength = 0;
  /** Bytes given to the socket, and bytes that left its buffer. */
  #given = 0;
  #taken = 0;
  #takenAt = 0;
  #look: Timer | undefined;
  #untilLook = firstLook;
  #room: Deferred<void> | undefined;
  #budget: ByteBudget | undefined;

  constructor(socket: WebSocketLike, bounds: Required<QueueBounds>, failed: (error: Error) => void) {
    this.#socket = socket;
    this.#bounds = bounds;
    this.#failed = failed;
  }

  /** Charges unsent text to a budget from now on. */
  charge(budget: ByteBudget | undefined): void {
    this.#budget = budget?.child();
  }

  /** Implements `Channel.send`. Texts sent after the end are dropped. */
  send(text: string): void | Promise<void> {
    if (this.#phase !== "opening" && this.#phase !== "open") return;
    // Judge by the text queued before: a single long text is not the reader's fault.
    const before = this.#queued;
    if (before > this.#bounds.maxQueuedBytes) {
      this.#giveUp(`${before} bytes wait to be read`);
      return;
    }
    this.#put(text);
    if (!this.#isAffordable() && before > freeQueueBytes) {
      this.#giveUp(`${before} bytes wait to be read, and there is no room for more`);
      return;
    }
    if (this.#queued <= this.#bounds.highWaterBytes) return;
    this.#room ??= deferred<void>();
    return this.#room.promise;
  }

  /** Called when the socket opens. */
  opened(): void {
    if (this.#phase === "over") return;
    const isEnding = this.#phase === "ending";
    this.#phase = "open";
    const early = this.#early;
    this.#early = [];
    this.#earlyLength = 0;
    for (const text of early) this.#put(text);
    this.#makeRoom();
    if (isEnding) this.end();
  }

  /** Closes the socket after the queued texts. If nothing is read for two seconds, closes without them. */
  end(): void {
    if (this.#phase !== "opening" && this.#phase !== "open") return;
    const mustOpen = this.#phase === "opening" && this.#early.length > 0;
    this.#phase = "ending";
    this.#stopLooking();
    this.#watch();
    if (mustOpen) return;
    try {
      this.#socket.close(normalClosure);
    } catch (error) {
      this.#failed(new HookError("WebSocket.close", error));
    }
  }

  /** Stops writing and releases all waiting senders. */
  stop(): void {
    this.#phase = "over";
    this.#early = [];
    this.#budget?.close();
    this.#stopLooking();
    this.#room?.resolve();
  }

  get #queued(): number {
    return this.#earlyLength + this.#socket.bufferedAmount;
  }

  /** Updates the budget's charge. Returns false if the budget is exhausted. */
  #isAffordable(): boolean {
    const queued = this.#queued;
    return this.#budget?.hold(queued > freeQueueBytes ? queued : 0) ?? true;
  }

  #put(text: string): void {
    if (this.#phase === "opening") {
      this.#early.push(text);
      this.#earlyLength += text.length;
      return;
    }
    const before = this.#socket.bufferedAmount;
    const hook = "WebSocket.send";
    // A text that cannot be sent is lost, so the channel ends.
    guarded(
      hook,
      () => this.#socket.send(text, this.#makeRoom),
      ({ error }) => this.#failed(new HookError(hook, error)),
    );
    if (this.#phase === "over") return;
    this.#given += this.#socket.bufferedAmount - before;
    if (this.#look === undefined) this.#watch();
  }

  #watch(): void {
    this.#takenAt = this.#bounds.clock.now();
    this.#untilLook = firstLook;
    this.#lookLater();
  }

  #lookLater(): void {
    const { clock } = this.#bounds;
    const untilLook = Math.min(this.#untilLook, this.#takenAt + this.#patience - clock.now());
    this.#look = clock.setTimer(() => this.#lookNow(), untilLook);
    // While open, a stalled peer must not keep the process alive. While ending, `end` may be awaited.
    if (this.#phase === "open") this.#look.unref?.();
  }

  #lookNow(): void {
    this.#look = undefined;
    this.#makeRoom();
    const { bufferedAmount } = this.#socket;
    if (bufferedAmount === 0 && this.#phase === "open") return;
    const taken = this.#given - bufferedAmount;
    if (taken > this.#taken) {
      this.#taken = taken;
      this.#watch();
    } else if (this.#bounds.clock.now() - this.#takenAt >= this.#patience) {
      this.#giveUp(`nothing was read for ${this.#patience} ms`);
    } else {
      this.#untilLook = Math.min(this.#untilLook * 2, longestLook);
      this.#lookLater();
    }
  }

  get #patience(): number {
    const { stallTimeout } = this.#bounds;
    return this.#phase === "ending" ? Math.min(endGrace, stallTimeout) : stallTimeout;
  }

  readonly #makeRoom = (): void => {
    this.#isAffordable();
    if (this.#queued > this.#bounds.highWaterBytes / 2) return;
    this.#room?.resolve();
    this.#room = undefined;
  };

  #stopLooking(): void {
    if (this.#look !== undefined) this.#bounds.clock.clearTimer(this.#look);
    this.#look = undefined;
  }

  #giveUp(why: string): void {
    this.#failed(new UnreadError(why));
  }
}

/** The members of WebSocket events that the channel reads. */
export interface WebSocketEvent {
  /** The name of the event. */
  readonly type: string;
  /** The data of a message event. */
  readonly data?: unknown;
  /** The message of an error event, if the platform exposes it. */
  readonly message?: string;
  /** The code of a close event. */
  readonly code?: number;
  /** The reason, on close events. */
  readonly reason?: string;
}

/** The part of the `WebSocket` interface that a channel needs; both the web's and that of `ws` have it. */
export interface WebSocketLike {
  /** 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** Bytes that were sent and have not left this side. */
  readonly bufferedAmount: number;
  /** The subprotocol that was selected; empty for none. */
  readonly protocol: string;
  /** `"arraybuffer"`, so that binary messages need no asynchronous read. */
  binaryType: string;
  /** Adds a listener of one kind of event. */
  addEventListener(type: "open" | "message" | "error" | "close", listener: (event: WebSocketEvent) => void): void;
  /** `taken` is called, if the platform supports it, when the text has left this side's buffer. */
  send(text: string, taken?: () => void): void;
  /** Closes the socket, with a code. */
  close(code?: number): void;
  /** Present if the socket can pause reading, so that the peer is slowed down. */
  pause?(): void;
  /** Continues reading after `pause`. */
  resume?(): void;
  /** Present if the socket can be closed without the peer's response. */
  terminate?(): void;
}

/** A constructor that opens a socket. */
export type WebSocketConstructor = new (url: string | URL, protocols: string[]) => WebSocketLike;
