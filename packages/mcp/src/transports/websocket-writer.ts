import type { ByteBudget } from "../base/byte-budget.js";
import type { Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import { HookError } from "../jsonrpc/errors.js";
import { guarded } from "../jsonrpc/hooks.js";
import { endGrace, freeQueueBytes, type QueueBounds, UnreadError } from "../jsonrpc/queue-bounds.js";
import type { WebSocketLike } from "./websocket-like.js";

/** Milliseconds between two looks at what is left: the first, and the most while none of it goes. */
const firstLook = 10;
const longestLook = 1_000;

/** The code of an end that is nobody's fault. */
const normalClosure = 1000;

/**
 * Sends what has to wait for a socket to open, and watches how much of what was sent is still there: sockets of the web tell
 * that only to those who look.
 *
 * `failed` hears that the peer does not read, and stops the writer.
 */
export class WebSocketWriter {
  readonly #socket: WebSocketLike;
  readonly #bounds: Required<QueueBounds>;
  readonly #failed: (error: Error) => void;
  #phase: "opening" | "open" | "ending" | "over" = "opening";
  /** What was sent before the socket has opened. */
  #early: string[] = [];
  #earlyLength = 0;
  /** Bytes that the socket was given, and has got rid of. */
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

  /** Charges what is not taken to a budget from here on. */
  charge(budget: ByteBudget | undefined): void {
    this.#budget = budget?.child();
  }

  /** As `Channel.send` has it. What is sent after the end is dropped. */
  send(text: string): void | Promise<void> {
    if (this.#phase !== "opening" && this.#phase !== "open") return;
    // A single long text is no fault of the reader: what counts is what had not gone out before it.
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

  /** The socket has opened. */
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

  /** Closes the socket behind what was sent. A peer that takes nothing for two seconds is given up. */
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

  /** Nothing is written any more, and nobody is kept waiting. */
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

  /** Brings what is charged up to date. */
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
    // What is not taken is lost, so the conversation is over.
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
    // Somebody may wait for the end; other than that, a peer that stalls is no reason for the process to stay.
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
