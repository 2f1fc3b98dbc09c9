import type { ByteBudget } from "../base/byte-budget.js";
import { checkMembers, type MembersOf } from "../base/check-members.js";
import type { Clock, Timer } from "../base/clock.js";
import { type Deferred, deferred } from "../base/deferred.js";
import type { FrameDecoder, FrameSink, Framing, UnfinishedFrame } from "../base/framing.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { thrownText } from "../jsonrpc/errors.js";
import { failureOf } from "../jsonrpc/hooks.js";
import { serverLimits } from "../jsonrpc/limits.js";
import { drainGrace, type QueueBounds, queueBoundsOf, queueMembers } from "../jsonrpc/queue-bounds.js";
import { lines } from "./framing/lines.js";
import { type PacedSink, PacedWriter } from "./paced-writer.js";

/** A byte stream for each direction, e.g. a connection of Deno or of a worker's `connect`. */
export interface ByteStreams {
  /** The bytes of the peer. */
  readonly readable: ReadableStream<Uint8Array>;
  /** The bytes for the peer. */
  readonly writable: WritableStream<Uint8Array>;
}

export interface WebStreamOptions extends QueueBounds {
  /** The framing of messages in the stream. Default: `lines`. */
  readonly framing?: Framing;
  /**
   * The maximum size of an incoming frame in bytes. Default: 4 MiB. A longer one is skipped in constant memory and
   * reported.
   */
  readonly frameBytes?: number;
}

const webStreamMembers: MembersOf<WebStreamOptions> = {
  ...queueMembers,
  framing: ["object"],
  frameBytes: ["number", "maxFrameBytes"],
};

/**
 * A channel over web streams. The channel owns the streams. `close` waits for a peer that still reads, but closes if
 * nothing is read for two seconds.
 *
 * @example
 * const connection = await Deno.connect({ port: 7007 }); // has `readable` and `writable`
 * await using client = await connect(webStreamChannel(connection));
 *
 * @throws TypeError if a stream is locked
 */
export function webStreamChannel(streams: ByteStreams, options: WebStreamOptions = {}): Channel {
  checkMembers("webStreamChannel", options, webStreamMembers);
  return new WebStreamChannel(streams, options);
}

class WebStreamChannel implements Channel {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: PacedWriter;
  readonly #clock: Clock;
  readonly #framing: Framing;
  readonly #frameBytes: number;
  /** Set while reading is paused. */
  #gate: Deferred<void> | undefined;
  #phase: "open" | "ended" | "closed" = "open";
  #receiver: ChannelReceiver | undefined;
  #decoder: FrameDecoder | undefined;
  /** The budget for the incomplete frame. */
  #reading: ByteBudget | undefined;
  #writeError: Error | undefined;
  #drainTimer: Timer | undefined;

  constructor({ readable, writable }: ByteStreams, options: WebStreamOptions) {
    const bounds = queueBoundsOf(options);
    this.#clock = bounds.clock;
    this.#framing = options.framing ?? lines;
    this.#frameBytes = options.frameBytes ?? serverLimits.frameBytes;
    this.#reader = readable.getReader();
    const replayable = new StreamOutlet(writable.getWriter(), () => this.#writer.progressed());
    this.#writer = new PacedWriter(replayable, bounds, (error) => this.#writingFailed(error, true));
    void replayable.broken.then((error) => this.#outputBroken(error));
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#reading = receiver.budget?.child();
    this.#writer.charge(receiver.budget);
    void this.#read(receiver).then(
      () => this.#end(this.#writeError),
      (error) => this.#end(toError(error)),
    );
  }

  get unfinished(): UnfinishedFrame | undefined {
    return this.#decoder?.unfinished;
  }

  send(frame: string): void | Promise<void> {
    return this.#writer.send(this.#framing.encode(frame));
  }

  /** The rest of the current chunk is still delivered. */
  pause(): void {
    this.#gate ??= deferred<void>();
  }

  resume(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  async close(): Promise<void> {
    this.#phase = "closed";
    this.#stopDrainTimer();
    this.#reading?.close();
    this.resume(); // Read and discard, so that the peer can end its side.
    await this.#writer.end();
    await this.#reader.cancel().catch(() => undefined); // An earlier failure was reported.
  }

  async #read(receiver: ChannelReceiver): Promise<void> {
    const sink: FrameSink = {
      budget: this.#reading,
      frame: (text) => {
        if (this.#phase === "open") receiver.frame(text);
      },
      refuse: (refusal) => {
        if (this.#phase === "open") receiver.refuse(refusal);
      },
    };
    const decoder = this.#framing.decoder(sink, this.#frameBytes);
    this.#decoder = decoder;
    for (;;) {
      const { done, value } = await this.#reader.read();
      await this.#gate?.promise;
      if (done) break;
      if (!ArrayBuffer.isView(value)) throw new TypeError(`A channel needs a stream of bytes, got ${typeof value}`);
      decoder.push(value);
    }
  }

  #outputBroken(error: Error): void {
    const isLost = this.#writer.unread > 0;
    this.#writer.stop();
    this.#writingFailed(error, isLost);
  }

  /** Waits briefly for the peer's own end: a peer that read everything and then closes has ended normally. */
  #writingFailed(error: Error, isLost: boolean): void {
    if (this.#phase !== "open" || this.#drainTimer !== undefined) return;
    if (isLost) this.#writeError = error;
    this.#drainTimer = this.#clock.setTimer(() => {
      // When the event loop is late, a timer fires before what has arrived is read; the next one fires after that.
      this.#drainTimer = this.#clock.setTimer(() => this.#end(error), 0);
    }, drainGrace);
  }

  #end(error: Error | undefined): void {
    this.#stopDrainTimer();
    if (this.#phase !== "open") return;
    const failure = failureOf("Framing.decoder", () => this.#decoder?.end()); // An incomplete frame is refused.
    if (this.#phase !== "open") return; // The refusal has closed the channel.
    this.#phase = "ended";
    this.#reading?.close();
    this.#receiver?.end(error ?? failure);
  }

  #stopDrainTimer(): void {
    if (this.#drainTimer !== undefined) this.#clock.clearTimer(this.#drainTimer);
    this.#drainTimer = undefined;
  }
}

/** The maximum size of one write, so that each completed write shows that the peer reads. */
const pieceBytes = 64 * 1024;

const encoder = new TextEncoder();

class StreamOutlet implements PacedSink {
  /** Resolves with the error if the stream fails. */
  readonly broken: Promise<Error>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #progressed: () => void;
  #unread = 0;

  constructor(writer: WritableStreamDefaultWriter<Uint8Array>, progressed: () => void) {
    this.#writer = writer;
    this.#progressed = progressed;
    const broken = deferred<Error>();
    this.broken = broken.promise;
    writer.closed.catch((error) => {
      broken.resolve(new Error(`writing to the peer failed: ${toError(error).message}`, { cause: error }));
    });
  }

  get unread(): number {
    return this.#unread;
  }

  /** A stream may be configured with no room at all; one piece at a time is always allowed. */
  get isFull(): boolean {
    return this.#unread > 0 && (this.#writer.desiredSize ?? 0) <= 0;
  }

  put(rest: string): number {
    const piece = new Uint8Array(Math.min(rest.length * 3, pieceBytes));
    const { read, written } = encoder.encodeInto(rest, piece);
    this.#unread += read;
    const taken = (): void => {
      this.#unread -= read;
      this.#progressed();
    };
    this.#writer.write(piece.subarray(0, written)).then(taken, () => undefined); // `broken` reports failures.
    return read;
  }

  end(): Promise<void> {
    return this.#writer.close().catch(() => undefined); // `broken` reports failures.
  }

  abort(error: Error): void {
    this.#writer.abort(error).catch(() => undefined); // It is over either way.
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(thrownText(thrown));
}
