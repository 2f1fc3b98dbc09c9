import type { Timer } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import { checkMembers, type MembersOf } from "../base/members.js";
import { longestTimer } from "../base/settles-within.js";
import { visible } from "../base/visible.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { type QueueBounds, queueBoundsOf, queueMembers } from "../jsonrpc/queue-bounds.js";
import { excerpt } from "../jsonrpc/report.js";
import type { WebSocketConstructor, WebSocketEvent, WebSocketLike } from "./websocket-like.js";
import { WebSocketWriter } from "./websocket-writer.js";

/** What can be set about a channel over a WebSocket. */
export interface WebSocketOptions extends QueueBounds {
  /** The longest message to accept. Default: 16 MiB. The web hands over a longer one whole: it is refused then. */
  readonly frameBytes?: number;
  /** The subprotocol that the server has to choose. Default: `mcp`; for a socket that somebody else has made, any. */
  readonly protocol?: string;
  /** Milliseconds until a socket that does not open is given up. Default: 10,000. */
  readonly openTimeout?: number;
  /** Default: the `WebSocket` of the platform. Node has one from version 22 on. */
  readonly WebSocket?: WebSocketConstructor;
}

/** The members of `WebSocketOptions`, for the check of options. */
export const webSocketMembers: MembersOf<WebSocketOptions> = {
  ...queueMembers,
  frameBytes: ["maxFrameBytes"],
  protocol: ["protocols", "subprotocol"],
  openTimeout: ["connectTimeout"],
  WebSocket: ["webSocket"],
};

/**
 * A channel over a WebSocket: one text message is one frame. Give `connect` a function that makes one, so that it can be made
 * anew.
 *
 * @example
 * await using client = await connect(() => webSocketChannel("wss://example.com/mcp"));
 *
 * @throws TypeError where the platform has no WebSocket; what the platform throws for a URL that is none
 */
export function webSocketChannel(target: string | URL | WebSocketLike, options: WebSocketOptions = {}): Channel {
  checkMembers("webSocketChannel", options, webSocketMembers);
  if (typeof target === "object" && "send" in target) return new WebSocketChannel(target, options);
  const { protocol = "mcp", WebSocket = globalThis.WebSocket } = options;
  if (WebSocket === undefined) {
    const remedy = "use @parlance/mcp/websocket, or give one in the options";
    throw new TypeError(`There is no WebSocket on this platform: ${remedy}`);
  }
  return new WebSocketChannel(new WebSocket(target, [protocol]), { ...options, protocol });
}

/** States of a socket. */
const connecting = 0;
const isOpen = 1;

const defaultOpenTimeout = 10_000;

/** Codes of an end that is nobody's fault: done, going away, and none given. */
const ordinaryCodes: ReadonlySet<number> = new Set([1000, 1001, 1005]);

/** The connection has broken without a word. */
const abnormalClosure = 1006;

/** A channel over a socket that is open, or is about to be. */
export class WebSocketChannel implements Channel {
  readonly #socket: WebSocketLike;
  readonly #bounds: Required<QueueBounds>;
  readonly #frameBytes: number;
  readonly #writer: WebSocketWriter;
  #receiver: ChannelReceiver | undefined;
  /** What came before the channel was opened, or while it is paused: a socket still hands over what it has read. */
  #inbox: ((receiver: ChannelReceiver) => void)[] = [];
  #paused = false;
  readonly #released = deferred<void>();
  #hasOpened = false;
  #openTimer: Timer | undefined;
  #phase: "open" | "ended" | "closed" = "open";

  constructor(socket: WebSocketLike, options: WebSocketOptions = {}) {
    this.#socket = socket;
    this.#bounds = queueBoundsOf(options);
    this.#frameBytes = options.frameBytes ?? clientLimits.frameBytes;
    this.#writer = new WebSocketWriter(socket, this.#bounds, (error) => this.fail(error));
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => this.#arrive((receiver) => this.#take(receiver, data)));
    socket.addEventListener("error", (event) => this.#broke(event));
    socket.addEventListener("close", (event) => this.#closed(event));
    if (socket.readyState === isOpen) this.#opened();
    else if (socket.readyState === connecting) this.#opens(options);
    else this.#closed({ type: "close" });
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#writer.charge(receiver.budget);
    this.#deliverLater();
  }

  send(frame: string): void | Promise<void> {
    return this.#writer.send(frame);
  }

  /** Nothing, where a socket cannot wait: then the peer is given up when too much waits for it. */
  pause(): void {
    if (this.#phase !== "open" || this.#socket.pause === undefined) return;
    this.#paused = true;
    if (this.#hasOpened) this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#hasOpened) this.#socket.resume?.();
    this.#deliverLater();
  }

  close(): Promise<void> {
    this.#phase = "closed";
    this.#inbox = [];
    this.resume(); // Read on, into nothing, so that the peer can close its side.
    this.#writer.end();
    return this.#released.promise;
  }

  /** Ends the channel, and leaves the peer. */
  fail(error: Error): void {
    this.#stopOpenTimer();
    this.#writer.stop();
    // It may wait for its peer as long as it likes.
    if (this.#socket.terminate === undefined) this.#released.resolve();
    try {
      if (this.#socket.terminate === undefined) this.#socket.close();
      else this.#socket.terminate();
    } catch {
      this.#released.resolve(); // `error` has ended the conversation, and a socket that cannot be ended either has no more to say.
    }
    this.#end(error);
  }

  /** Waits for the socket to open, and for the server to choose the subprotocol. */
  #opens({ protocol, openTimeout = defaultOpenTimeout }: WebSocketOptions): void {
    const giveUp = (): void => this.fail(new Error(`the WebSocket has not opened within ${openTimeout} ms`));
    this.#openTimer = this.#bounds.clock.setTimer(giveUp, Math.min(openTimeout, longestTimer));
    this.#socket.addEventListener("open", () => {
      this.#stopOpenTimer();
      const chosen = this.#socket.protocol;
      if (protocol === undefined || chosen === protocol) this.#opened();
      else this.fail(new Error(`the server has not chosen the subprotocol ${protocol}, but ${excerpt(chosen)}`));
    });
  }

  #opened(): void {
    this.#hasOpened = true;
    if (this.#paused) this.#socket.pause?.();
    this.#writer.opened();
  }

  #arrive(deliver: (receiver: ChannelReceiver) => void): void {
    if (this.#receiver === undefined || this.#paused || this.#inbox.length > 0) this.#inbox.push(deliver);
    else deliver(this.#receiver);
  }

  #deliverLater(): void {
    queueMicrotask(() => {
      while (this.#receiver !== undefined && !this.#paused) {
        const deliver = this.#inbox.shift();
        if (deliver === undefined) return;
        deliver(this.#receiver);
      }
    });
  }

  #take(receiver: ChannelReceiver, data: unknown): void {
    if (this.#phase !== "open") return;
    if (typeof data !== "string") {
      const bytes = data instanceof ArrayBuffer ? data.byteLength : 0;
      receiver.refuse({ reason: "not-text", message: "a binary message: frames are text", head: "", bytes });
    } else if (data.length > this.#frameBytes) {
      const message = `message of ${data.length} characters, at most ${this.#frameBytes} bytes are accepted`;
      receiver.refuse({ reason: "too-long", message, head: data.slice(0, headLength), bytes: data.length });
    } else {
      receiver.frame(data);
    }
  }

  /** What the platform does not say here, it says with the end that follows. */
  #broke({ message = "" }: WebSocketEvent): void {
    if (message !== "") this.#end(new Error(`${this.#whatBroke}: ${visible(message)}`));
  }

  #closed({ code = abnormalClosure, reason = "" }: WebSocketEvent): void {
    this.#stopOpenTimer();
    this.#writer.stop();
    this.#released.resolve();
    if (code === abnormalClosure || !this.#hasOpened) this.#end(new Error(this.#whatBroke));
    else if (ordinaryCodes.has(code)) this.#end();
    else
      this.#end(new Error(`the peer has closed the WebSocket: ${code}${reason === "" ? "" : ` ${excerpt(reason)}`}`));
  }

  get #whatBroke(): string {
    return this.#hasOpened ? "the WebSocket broke" : "the WebSocket could not be opened";
  }

  #end(error?: Error): void {
    this.#arrive((receiver) => {
      if (this.#phase !== "open") return;
      this.#phase = "ended";
      receiver.end(error);
    });
  }

  #stopOpenTimer(): void {
    if (this.#openTimer !== undefined) this.#bounds.clock.clearTimer(this.#openTimer);
    this.#openTimer = undefined;
  }
}

/** Characters of a message that is not read, in which an id can be looked for. */
const headLength = 64 * 1024;
