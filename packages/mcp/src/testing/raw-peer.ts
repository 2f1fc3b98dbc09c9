import { type Deferred, deferred } from "../base/deferred.js";
import type { FrameRefusal } from "../base/framing.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { nextTurn } from "./pair.js";

/** A peer that sends arbitrary frames and returns received frames one by one. */
export interface RawPeer extends AsyncDisposable {
  /** Sends one frame unchanged, whether it is JSON or not. */
  send(frame: string): void;
  /**
   * The next unread frame, unchanged.
   * @throws Error if the other side closed, sent invalid frame data, or sends nothing for five seconds
   */
  next(): Promise<string>;
  /** Closes the channel. */
  close(): Promise<void>;
  /**
   * Closes the channel.
   * @throws Error if unread frames are left, because an unexpected response is a fault
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a raw peer on a channel. To send bytes that are not a frame, write to the stream under the channel.
 *
 * @example
 * const [left, right] = memoryChannels();
 * await using connection = openConnection(left);
 * await using peer = rawPeer(right);
 * peer.send("[]");
 * assert.match(await peer.next(), /"code":-32600/);
 */
export function rawPeer(channel: Channel): RawPeer {
  return new ChannelPeer(channel);
}

/** Only for tests that would wait forever, so it is generous. */
const patience = 5_000;

type Arrived = string | Error;

class ChannelPeer implements RawPeer, ChannelReceiver {
  readonly #channel: Channel;
  readonly #unread: Arrived[] = [];
  readonly #readers = new Set<Deferred<Arrived>>();
  #ended: Error | undefined;

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.open(this);
  }

  send(frame: string): void {
    void this.#channel.send(frame); // Tests do not wait until the peer has read the frame.
  }

  next(): Promise<string> {
    const arrived = this.#unread.shift() ?? this.#ended;
    if (typeof arrived === "string") return Promise.resolve(arrived);
    return arrived === undefined ? this.#wait() : Promise.reject(arrived);
  }

  close(): Promise<void> {
    this.end(new Error("this peer was closed"));
    return this.#channel.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await nextTurn();
    await this.close();
    if (this.#unread.length > 0) throw new Error(`unread frames:\n${this.#unread.join("\n")}`);
  }

  frame(text: string): void {
    this.#arrive(text);
  }

  refuse({ message, head }: FrameRefusal): void {
    this.#arrive(new Error(`${message}: ${head}`));
  }

  end(error: Error = new Error("the other side has ended")): void {
    this.#ended ??= error;
    for (const reader of this.#readers) this.#give(reader, this.#ended);
  }

  #arrive(what: Arrived): void {
    const [reader] = this.#readers;
    if (reader === undefined) this.#unread.push(what);
    else this.#give(reader, what);
  }

  #give(reader: Deferred<Arrived>, what: Arrived): void {
    this.#readers.delete(reader);
    reader.resolve(what);
  }

  async #wait(): Promise<string> {
    const reader = deferred<Arrived>();
    const timer = setTimeout(() => this.#give(reader, new Error(`no frame came within ${patience} ms`)), patience);
    this.#readers.add(reader);
    const arrived = await reader.promise;
    clearTimeout(timer);
    if (typeof arrived === "string") return arrived;
    throw arrived;
  }
}
