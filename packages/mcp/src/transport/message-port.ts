import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { HookError } from "../jsonrpc/errors.js";
import { guarded } from "../jsonrpc/hooks.js";
import { freeQueueBytes, type QueueBounds, queueBoundsOf } from "../jsonrpc/queue-bounds.js";
import { Fifo, type PacedSink, PacedWriter } from "./paced-writer.js";

/**
 * The endpoint of a pair of realms: a `MessagePort` of the web or of Node, a `Worker`, or `self` in a dedicated worker.
 */
export interface MessagePortLike extends EventTarget {
  /** Sends a message to the other port. */
  postMessage(message: unknown): void;
  /** Ports queue messages until `start` is called. Workers have no `start`. */
  start?(): void;
  /** Closes the port. */
  close?(): void;
}

/**
 * A channel over a message port; the other end needs one too. The channel owns the port.
 *
 * A frame is a string. Three other messages provide flow control: a number `n` requests an acknowledgement once the
 * first `n` characters are read, `-n` acknowledges it, and `null` closes. Ports have no backpressure of their own; with
 * this protocol, a peer that does not read costs `highWaterBytes` in flight and `maxQueuedBytes` on this side, and the
 * channel closes if a peer sends on while `maxQueuedBytes` are unread. All limits count characters here.
 *
 * A closed port announces it (with `null` or a `close` event). In browsers without that event a terminated worker does
 * not; there its owner must close the channel.
 *
 * @example
 * const worker = new Worker("server.js", { type: "module" });
 * await using client = await connect(messagePortChannel(worker));
 */
export function messagePortChannel(port: MessagePortLike, options: QueueBounds = {}): Channel {
  return new MessagePortChannel(port, queueBoundsOf(options));
}

/**
 * A received message that is not delivered yet: a frame, a request for acknowledgement, the close, or an invalid
 * message.
 */
type Arrived = string | number | null | undefined;

class MessagePortChannel implements Channel {
  readonly #port: MessagePortLike;
  readonly #sink: PortSink;
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
    this.#sink = new PortSink((message) => this.#post(message), bounds.highWaterBytes);
    this.#writer = new PacedWriter(this.#sink, bounds, (error) => this.#end(error));
    // Listen before `open` too: for acknowledgements, and because a `Worker` does not queue messages.
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
    const hasFailed = this.#closeError !== undefined; // The receiver already got that error.
    this.#phase = "closed";
    while (!this.#inbox.isEmpty) this.#drop(this.#inbox.shift());
    await this.#writer.end();
    this.#port.removeEventListener("message", this.#onMessage);
    this.#port.removeEventListener("messageerror", this.#onMessageError);
    this.#port.removeEventListener("close", this.#onClose);
    // Close real ports only: `close` of a worker's global scope would terminate the worker.
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
    const { data } = event as MessageEvent<unknown>; // Ports dispatch only message events under this name.
    if (typeof data === "number" && data < 0) {
      if (this.#sink.acknowledged(-data)) this.#writer.progressed();
    } else if (typeof data === "string" || typeof data === "number" || data === null) this.#arrive(data);
    else this.#arrive(undefined);
  };

  readonly #onMessageError = (): void => this.#arrive(undefined);

  readonly #onClose = (): void => this.#arrive(null);

  #arrive(arrived: Arrived): void {
    if (arrived === null) this.#writer.stop(); // The peer reads no more.
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

  /** Acknowledges a message that is not delivered, so that the peer can finish sending and close. */
  #drop(arrived: Arrived): void {
    if (typeof arrived === "number") this.#post(-arrived);
  }

  /** Posts a message. A message that cannot be posted is lost, so the channel ends. */
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
    this.#receiver?.end(error, true);
  }
}

/** The approximate memory of a queued message; even the smallest takes some. */
function sizeOf(arrived: Arrived): number {
  return typeof arrived === "string" ? arrived.length + 1 : 1;
}

/** The sending half of a port. Allows up to `mostUnread` characters plus one frame in flight. */
class PortSink implements PacedSink {
  readonly #post: (message: string | number | null) => void;
  readonly #mostUnread: number;
  #sent = 0;
  /** The character counts of the last requested and the last received acknowledgement. */
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

  /** Handles an acknowledgement. Returns false for a count that was not requested. */
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

  /**
   * Requests an acknowledgement: one at a time, none for little traffic, and early enough that a peer that reads is
   * never charged to a budget.
   */
  #ask(): void {
    if (this.#asked > this.#read || this.unread <= Math.min(this.#mostUnread, freeQueueBytes) / 2) return;
    this.#asked = this.#sent;
    this.#post(this.#asked);
  }
}
