import { type Channel, type ChannelReceiver, lines } from "@parlance/mcp/jsonrpc";
import { turn } from "../properties/conversation/turn.js";
import type { Random } from "../properties/random.js";

/** Sees everything that one end sends and receives. */
export interface Watcher {
  sent(frame: string): void;
  /** Just before the owner of the end sees the frame. */
  arriving(frame: string, holds: boolean): void;
  /** Just behind it. */
  arrived(): void;
  /** Just before the owner hears that no more will come. */
  ending(): void;
}

/** One end of a transport whose frames travel when chance says so: late, twice, in another order, in pieces, or never. */
export class CarrierEnd implements Channel {
  readonly #random: Random;
  readonly #watcher: Watcher;
  #peer: CarrierEnd | undefined;
  #receiver: ChannelReceiver | undefined;
  #phase: "open" | "ended" | "closed" = "open";
  /** Frames on their way to this end. */
  #transit: string[] = [];
  /** Bytes of a frame the beginning of which has arrived. */
  #rest: Uint8Array = nothing;
  #paused = false;
  #peerIsGone = false;
  /** Releases that the owner may not have noticed yet. */
  #released = 0;
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  readonly #decoder = lines.decoder(
    { frame: (text) => this.#arrive(text), refuse: (refusal) => this.#receiver?.refuse(refusal) },
    Number.POSITIVE_INFINITY,
  );

  constructor(random: Random, watcher: Watcher) {
    this.#random = random;
    this.#watcher = watcher;
  }

  join(peer: CarrierEnd): void {
    this.#peer = peer;
  }

  get hasTransit(): boolean {
    return this.#phase === "open" && (this.#transit.length > 0 || this.#rest.length > 0 || this.#peerIsGone);
  }

  get isPaused(): boolean {
    return this.#paused && this.#phase === "open";
  }

  accept(frame: string): void {
    if (this.#phase === "open") this.#transit.push(frame);
  }

  /** The peer sends no more: that is heard behind what it has sent. */
  leave(): void {
    this.#peerIsGone = true;
  }

  /** Whether frames may wait at its owner: there is no room, or its owner has not noticed yet that there is. */
  get holds(): boolean {
    return this.#room !== undefined || this.#released > 0;
  }

  // Operations of its owner.

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
  }

  send(frame: string): void | Promise<void> {
    this.#watcher.sent(frame);
    this.#peer?.accept(frame);
    return this.#room?.promise;
  }

  close(): Promise<void> {
    if (this.#phase !== "closed") {
      this.#phase = "closed";
      this.#lose();
      this.release();
      this.#peer?.leave();
    }
    return Promise.resolve();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
  }

  // Random events.

  /** Lets the next frames arrive, maybe cut and joined on their way. */
  deliver(count: number): void {
    if (this.#paused || this.#phase !== "open") return;
    if (this.#rest.length > 0) {
      this.#decoder.push(this.#rest);
      this.#rest = nothing;
    }
    const frames = this.#transit.splice(0, count);
    if (frames.length > 0 && this.#random.chance(0.3)) {
      const bytes = encoder.encode(frames.map((frame) => lines.encode(frame)).join(""));
      const cut = this.#random.below(bytes.length + 1);
      this.#decoder.push(bytes.subarray(0, cut));
      this.#rest = bytes.subarray(cut);
    } else for (const frame of frames) this.#arrive(frame);
    if (this.#peerIsGone && this.#transit.length === 0 && this.#rest.length === 0) this.end();
  }

  /** Everything arrives, in order. */
  deliverAll(): void {
    while (this.hasTransit && !this.#paused) this.deliver(this.#transit.length);
  }

  /** A response or a notification comes twice: next to itself, or later. */
  duplicate(): void {
    const at = this.#somewhere(isRequest, false);
    if (at === undefined) return;
    const frame = this.#transit[at] as string; // In range: it was just found there.
    this.#transit.splice(at + 1 + this.#random.below(this.#transit.length - at), 0, frame);
  }

  /** A response overtakes what was sent before it. */
  reorder(): void {
    const at = this.#somewhere(isResponse, true);
    if (at === undefined) return;
    const [frame] = this.#transit.splice(at, 1);
    this.#transit.splice(this.#random.below(at + 1), 0, frame as string); // In range: it was just found there.
  }

  /** A frame is never seen again. */
  loseOne(): void {
    if (this.#transit.length > 0) this.#transit.splice(this.#random.below(this.#transit.length), 1);
  }

  /** The peer sends no more, or the transport has broken. */
  end(error?: Error): void {
    if (this.#phase !== "open") return;
    this.#phase = "ended";
    this.#lose();
    this.#watcher.ending();
    this.#receiver?.end(error);
  }

  /** From now on whoever sends is asked to wait. */
  block(): void {
    let resolve = (): void => undefined;
    const promise = new Promise<void>((resolved) => {
      resolve = resolved;
    });
    if (this.#phase !== "closed") this.#room ??= { promise, resolve };
  }

  release(): void {
    if (this.#room === undefined) return;
    this.#room.resolve();
    this.#room = undefined;
    this.#released += 1;
    void turn().then(() => {
      this.#released -= 1;
    });
  }

  #arrive(frame: string): void {
    if (this.#phase === "closed") return; // By what an earlier frame of the chunk set off.
    this.#watcher.arriving(frame, this.holds);
    this.#receiver?.frame(frame);
    this.#watcher.arrived();
  }

  #lose(): void {
    this.#transit = [];
    this.#rest = nothing;
  }

  /** The place of some frame that fits, if chance finds one. */
  #somewhere(fits: (frame: string) => boolean, wanted: boolean): number | undefined {
    if (this.#transit.length === 0) return undefined;
    const at = this.#random.below(this.#transit.length);
    return fits(this.#transit[at] as string) === wanted ? at : undefined; // In range: the list is not empty.
  }
}

const nothing = new Uint8Array();
const encoder = new TextEncoder();

function isRequest(frame: string): boolean {
  return frame.includes('"method":') && (frame.includes('"id":') || frame.startsWith("["));
}

function isResponse(frame: string): boolean {
  return !frame.includes('"method":');
}
