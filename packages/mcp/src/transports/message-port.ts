import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { HookError } from "../jsonrpc/errors.js";
import { guarded } from "../jsonrpc/hooks.js";
import { freeQueueBytes, type QueueBounds, queueBoundsOf } from "../jsonrpc/queue-bounds.js";
import { Fifo } from "./fifo.js";
import { type Outlet, PacedWriter } from "./paced-writer.js";

/** What two realms speak through: a `MessagePort` of the web or of Node, a `Worker`, or `self` in a dedicated worker. */
export interface MessagePortLike extends EventTarget {
  postMessage(message: unknown): void;
  /** Ports have it: they hold messages back until they are started. */
  start?(): void;
  close?(): void;
}

/**
 * A channel over a message port, with one at the other end as well. The port belongs to the channel from here on.
 *
 * A frame is a string. Three messages that are none keep the two ends in step: a number `n` asks to be told when the first `n`
 * characters have been read, `-n` tells it, and `null` is the end. Ports never push back by themselves; with this, a
 * peer that does not read costs `highWaterBytes` in flight and `maxQueuedBytes` on this side, and a peer that does not
 * wait is given up when `maxQueuedBytes` are unread. All bounds count characters here.
 *
 * A port that is closed says so (`null`, or its `close` event). A worker that is terminated says nothing in browsers without
 * that event: there its owner closes the channel.
 */
export function messagePortChannel(port: MessagePortLike, options: QueueBounds = {}): Channel {
  return new MessagePortChannel(port, queueBoundsOf(options));
}

/** What came and was not delivered: a frame, a question how far this side has read, the end, or something else. */
type Arrived = string | number | null | undefined;

class MessagePortChannel implements Channel {
  readonly #port: MessagePortLike;
  readonly #outlet: PortOutlet;
  readonly #writer: PacedWriter;
  readonly #inboxBound: number;
  readonly #inbox = new Fifo<Arrived>();
  #inboxSize = 0;
  #receiver: ChannelReceiver | undefined;
  #paused = false;
  #delivering = false;
  #phase: "open" | "ended" | "closed" = "open";
  #closeError: HookError | undefined;

  constructor(port: MessagePortLike, bounds: Required<QueueBounds>) {
    this.#port = port;
    this.#inboxBound = bounds.maxQueuedBytes;
    this.#outlet = new PortOutlet((message) => this.#post(message), bounds.highWaterBytes);
    this.#writer = new PacedWriter(this.#outlet, bounds, (error) => this.#end(error));
    // Before it is opened as well: the peer's answers how far it has read, and what a `Worker` does not hold back.
    port.addEventListener("message", this.#onMessage);
    port.addEventListener("messageerror", this.#onMessageError);
    port.addEventListener("close", this.#onClose);
    port.start?.();
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#writer.charge(receiver.budget);
    this.resume();
  }

  send(frame: string): void | Promise<void> {
    return this.#writer.send(frame);
  }

  async close(): Promise<void> {
    const hasFailed = this.#closeError !== undefined; // Then its end has said so.
    this.#phase = "closed";
    while (!this.#inbox.isEmpty) this.#drop(this.#inbox.shift());
    await this.#writer.end();
    this.#port.removeEventListener("message", this.#onMessage);
    this.#port.removeEventListener("messageerror", this.#onMessageError);
    this.#port.removeEventListener("close", this.#onClose);
    // Only a port is this channel's own: `close` of a worker's global scope would end the worker.
    if (this.#port.start !== undefined) this.#port.close?.();
    if (!hasFailed && this.#closeError !== undefined) throw this.#closeError;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    queueMicrotask(() => this.#deliver());
  }

  readonly #onMessage = (event: Event): void => {
    const { data } = event as MessageEvent<unknown>; // A port dispatches no other event by this name.
    if (typeof data === "number" && data < 0) {
      if (this.#outlet.acknowledged(-data)) this.#writer.progressed();
    } else if (typeof data === "string" || typeof data === "number" || data === null) this.#arrive(data);
    else this.#arrive(undefined);
  };

  readonly #onMessageError = (): void => this.#arrive(undefined);

  readonly #onClose = (): void => this.#arrive(null);

  #arrive(arrived: Arrived): void {
    if (arrived === null) this.#writer.stop(); // Nobody takes anything any more.
    if (this.#phase !== "open") {
      this.#drop(arrived);
      return;
    }
    if (this.#inboxSize > this.#inboxBound) {
      this.#end(new Error(`the peer does not wait: ${this.#inboxSize} characters of it are unread`));
      return;
    }
    this.#inbox.push(arrived);
    this.#inboxSize += sizeOf(arrived);
    this.#deliver();
  }

  #deliver(): void {
    if (this.#delivering || this.#receiver === undefined) return;
    this.#delivering = true;
    try {
      while (!this.#paused && this.#phase === "open" && !this.#inbox.isEmpty) {
        const arrived = this.#inbox.shift();
        this.#inboxSize -= sizeOf(arrived);
        this.#take(this.#receiver, arrived);
      }
    } finally {
      this.#delivering = false;
    }
  }

  #take(receiver: ChannelReceiver, arrived: Arrived): void {
    if (typeof arrived === "string") receiver.frame(arrived);
    else if (typeof arrived === "number") this.#post(-arrived);
    else if (arrived === null) this.#end();
    else {
      const message = "received a message that is not a string; it was skipped";
      receiver.refuse({ reason: "not-text", message, head: "", bytes: 0 });
    }
  }

  /** What is not delivered is read all the same, so that the peer can come to its end. */
  #drop(arrived: Arrived): void {
    if (typeof arrived === "number") this.#post(-arrived);
  }

  /** What is not taken is lost, so the conversation is over. */
  #post(message: string | number | null): void {
    const hook = "MessagePort.postMessage";
    guarded(
      hook,
      () => this.#port.postMessage(message),
      ({ error }) => {
        this.#closeError = new HookError(hook, error);
        this.#end(this.#closeError);
      },
    );
  }

  #end(error?: Error): void {
    if (this.#phase !== "open") return;
    this.#phase = "ended";
    this.#inbox.clear();
    this.#receiver?.end(error);
  }
}

/** What keeping it costs, about: the smallest message takes room as well. */
function sizeOf(arrived: Arrived): number {
  return typeof arrived === "string" ? arrived.length + 1 : 1;
}

/** The sending half of a port. At most so many characters and one frame are in flight. */
class PortOutlet implements Outlet {
  readonly #post: (message: string | number | null) => void;
  readonly #mostUnread: number;
  #sent = 0;
  /** How many of them the peer has been asked about, and has read. */
  #asked = 0;
  #read = 0;

  constructor(post: (message: string | number | null) => void, mostUnread: number) {
    this.#post = post;
    this.#mostUnread = mostUnread;
  }

  get unread(): number {
    return this.#sent - this.#read;
  }

  get isFull(): boolean {
    return this.unread > this.#mostUnread;
  }

  put(frame: string): number {
    this.#post(frame);
    this.#sent += frame.length;
    this.#ask();
    return frame.length;
  }

  /** The peer has read that much. False for a number that it was not asked about. */
  acknowledged(count: number): boolean {
    if (count !== this.#asked || count === this.#read) return false;
    this.#read = count;
    this.#ask();
    return true;
  }

  end(): Promise<void> {
    this.#post(null);
    return Promise.resolve();
  }

  abort(): void {
    void this.end();
  }

  /** One question at a time, and none in short conversations; soon enough that a peer that reads is never charged to a budget. */
  #ask(): void {
    if (this.#asked > this.#read || this.unread <= Math.min(this.#mostUnread, freeQueueBytes) / 2) return;
    this.#asked = this.#sent;
    this.#post(this.#asked);
  }
}
