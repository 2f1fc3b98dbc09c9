import { checkMembers, type MembersOf } from "../base/check-members.js";
import { longestTimer, type Timer } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import { escapeControls } from "../base/escape-controls.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { type QueueBounds, queueBoundsOf, queueMembers } from "../jsonrpc/queue-bounds.js";
import { excerpt } from "../jsonrpc/report.js";
import {
  type WebSocketConstructor,
  type WebSocketEvent,
  type WebSocketLike,
  WebSocketWriter,
} from "./websocket-writer.js";

/** Options of a channel over a WebSocket. */
export interface WebSocketOptions extends QueueBounds {
  /**
   * The maximum size of an incoming message in bytes. Default: 16 MiB. The web's sockets buffer a longer one completely
   * before it is rejected.
   */
  readonly frameBytes?: number;
  /** The required subprotocol. Default: `mcp`; for an existing socket, any. */
  readonly protocol?: string;
  /** The time limit in milliseconds for opening the socket. Default: 10,000. */
  readonly openTimeout?: number;
  /** The constructor. Default: the platform's `WebSocket`, which Node has from version 22. */
  readonly WebSocket?: WebSocketConstructor;
}

/** The members of `WebSocketOptions`, to detect unknown options. */
export const webSocketMembers: MembersOf<WebSocketOptions> = {
  ...queueMembers,
  frameBytes: ["number", "maxFrameBytes"],
  protocol: ["string", "protocols", "subprotocol"],
  openTimeout: ["number", "connectTimeout"],
  WebSocket: ["function", "webSocket"],
};

/**
 * A channel over a WebSocket: each text message is one frame. Pass `connect` a function that returns one, so that it
 * can reconnect.
 *
 * @example
 * await using client = await connect(() => webSocketChannel("wss://example.com/mcp"));
 *
 * @throws TypeError if the platform has no WebSocket; the platform's error for an invalid URL
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

/** Values of `readyState`. */
const connecting = 0;
const isOpen = 1;

const defaultOpenTimeout = 10_000;

/** Close codes of a normal end: done, going away, and none given. */
const ordinaryCodes: ReadonlySet<number> = new Set([1000, 1001, 1005]);

/** The close code of a connection that broke without a close frame. */
const abnormalClosure = 1006;

/** A channel over a socket that is open or opening. */
export class WebSocketChannel implements Channel {
  readonly #socket: WebSocketLike;
  readonly #bounds: Required<QueueBounds>;
  readonly #frameBytes: number;
  readonly #writer: WebSocketWriter;
  #receiver: ChannelReceiver | undefined;
  /**
   * Events that came before the channel was opened, or while it is paused: a paused socket still delivers what it has
   * read.
   */
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

  /** Does nothing if the socket cannot pause. Then the channel closes if too much is queued. */
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
    this.resume(); // Read and discard, so that the peer can close its side.
    this.#writer.end();
    return this.#released.promise;
  }

  /** Ends the channel without waiting for the peer. */
  fail(error: Error): void {
    this.#stopOpenTimer();
    this.#writer.stop();
    // Without `terminate`, the socket may wait for its peer for any time, so `close` does not wait for it.
    if (this.#socket.terminate === undefined) this.#released.resolve();
    try {
      if (this.#socket.terminate === undefined) this.#socket.close();
      else this.#socket.terminate();
    } catch {
      this.#released.resolve(); // The channel ends with `error`; a failed close adds nothing.
    }
    this.#end(error);
  }

  /** Waits for the socket to open and checks the subprotocol. */
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

  /** If the platform gives no message here, the close event follows with the reason. */
  #broke({ message = "" }: WebSocketEvent): void {
    if (message !== "") this.#end(new Error(`${this.#whatBroke}: ${escapeControls(message)}`));
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
      receiver.end(error, true);
    });
  }

  #stopOpenTimer(): void {
    if (this.#openTimer !== undefined) this.#bounds.clock.clearTimer(this.#openTimer);
    this.#openTimer = undefined;
  }
}

/** The number of characters kept of a rejected message, so that its id can be found. */
const headLength = 64 * 1024;
