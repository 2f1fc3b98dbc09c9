import type { Readable, Writable } from "node:stream";
import type { ByteBudget } from "../base/byte-budget.js";
import { checkMembers, type MembersOf } from "../base/check-members.js";
import type { Clock, Timer } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import type { FrameDecoder, FrameRefusal, FrameSink, Framing } from "../base/framing.js";
import { isPromise } from "../base/maybe-promise.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { HookError } from "../jsonrpc/errors.js";
import { atOnce } from "../jsonrpc/hooks.js";
import { serverLimits } from "../jsonrpc/limits.js";
import { drainGrace, type QueueBounds, queueBoundsOf, queueMembers } from "../jsonrpc/queue-bounds.js";
import { lines } from "../transport/framing/lines.js";
import { StreamWriter } from "./stream-writer.js";

export interface StreamChannelOptions extends QueueBounds {
  /** The framing of messages in the stream. Default: `lines`. */
  readonly framing?: Framing;
  /**
   * The maximum size of an incoming frame in bytes. Default: 4 MiB. A longer one is skipped in constant memory and
   * reported.
   */
  readonly frameBytes?: number;
  /** Leave the output open on `close`, because another owner needs it. Default: false. */
  readonly keepsOutputOpen?: boolean;
}

/** The members of `StreamChannelOptions`, to detect unknown options. */
export const streamMembers: MembersOf<StreamChannelOptions> = {
  ...queueMembers,
  framing: [],
  frameBytes: ["maxFrameBytes"],
  keepsOutputOpen: [],
};

/**
 * A channel over two Node byte streams; a socket can be both. `close` waits for a peer that still reads, but closes if
 * nothing is read for two seconds.
 *
 * @example
 * await using connection = openConnection(streamChannel(socket, socket), { handle: service.call });
 *
 * @throws TypeError for an input that yields strings or objects instead of bytes
 */
export function streamChannel(input: Readable, output: Writable, options: StreamChannelOptions = {}): Channel {
  checkMembers("streamChannel", options, streamMembers);
  return new StreamChannel(input, output, options);
}

export class StreamChannel implements Channel, FrameSink {
  readonly #input: Readable;
  readonly #writer: StreamWriter;
  readonly #options: StreamChannelOptions;
  readonly #clock: Clock;
  readonly #framing: Framing;
  readonly #ended = deferred<Error | undefined>();
  #decoder: FrameDecoder | undefined;
  #receiver: ChannelReceiver | undefined;
  /** The budget for the incomplete frame. */
  budget: ByteBudget | undefined;
  #phase: "open" | "ended" | "closed" = "open";
  #writeError: Error | undefined;
  #lastWordsTimer: Timer | undefined;

  constructor(input: Readable, output: Writable, options: StreamChannelOptions) {
    if (input.readableEncoding !== null || input.readableObjectMode) {
      throw new TypeError("A channel needs a stream of bytes: do not call setEncoding on its input");
    }
    this.#input = input;
    this.#options = options;
    this.#framing = options.framing ?? lines;
    const bounds = queueBoundsOf(options);
    this.#clock = bounds.clock;
    const writerOptions = { ...bounds, keepsOutputOpen: options.keepsOutputOpen ?? false };
    this.#writer = new StreamWriter(output, writerOptions, (error) => this.#writingFailed(error));
    input.on("end", () => this.#inputEnded());
    input.on("close", () => this.#inputEnded());
    input.on("error", (error) => this.#end(error));
    if (input.destroyed || input.readableEnded) this.#inputEnded();
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.budget = receiver.budget?.child();
    this.#writer.charge(receiver.budget);
    const decoder = this.#framing.decoder(this, this.#options.frameBytes ?? serverLimits.frameBytes);
    this.#decoder = decoder;
    // A framing that fails leaves nothing that can be read.
    const unreadable = (error: unknown): void => this.#end(new HookError("Framing.decoder", error));
    this.#input.on("data", (chunk: Uint8Array) => {
      if (this.#phase !== "open") return;
      try {
        const returned: unknown = decoder.push(chunk);
        if (isPromise(returned)) returned.then(undefined, unreadable); // Only that of a framing of the application is one.
      } catch (error) {
        unreadable(error);
      }
    });
    void this.#ended.promise.then((error) => {
      if (this.#phase === "ended") receiver.end(error);
    });
  }

  /** Takes a frame from the framing. */
  frame(text: string): void {
    if (this.#phase === "open") this.#receiver?.frame(text);
  }

  refuse(refusal: FrameRefusal): void {
    if (this.#phase === "open") this.#receiver?.refuse(refusal);
  }

  send(frame: string): void | Promise<void> {
    if (this.#phase === "closed") return undefined;
    const text = this.#framing.encode(frame);
    return this.#writer.send(typeof text === "string" ? text : atOnce("Framing.encode", () => text));
  }

  /** The rest of the current chunk is still delivered. */
  pause(): void {
    if (this.#phase === "open") this.#input.pause();
  }

  resume(): void {
    this.#input.resume();
  }

  async close(): Promise<void> {
    await this.finish();
    this.#input.destroy();
  }

  /** Stops delivery and closes the output. Input is read and discarded, so that the peer can close its side. */
  finish(): Promise<void> {
    this.#phase = "closed";
    this.#stopLastWordsTimer();
    this.budget?.close();
    this.#input.resume();
    return this.#writer.end();
  }

  #inputEnded(): void {
    if (this.#phase === "open") this.#decoder?.end();
    this.#end(this.#writeError);
  }

  #writingFailed(error: Error): void {
    if (this.#phase !== "open") return;
    this.#writeError = error;
    this.#lastWordsTimer = this.#clock.setTimer(() => this.#end(error), drainGrace);
  }

  #end(error: Error | undefined): void {
    this.#stopLastWordsTimer();
    if (this.#phase !== "open") return;
    this.#phase = "ended";
    this.budget?.close();
    this.#ended.resolve(error);
  }

  #stopLastWordsTimer(): void {
    if (this.#lastWordsTimer !== undefined) this.#clock.clearTimer(this.#lastWordsTimer);
    this.#lastWordsTimer = undefined;
  }
}
