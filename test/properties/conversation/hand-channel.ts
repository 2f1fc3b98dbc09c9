import type { Channel, ChannelReceiver } from "@parlance/mcp/jsonrpc";
import type { FrameRefusal } from "../../../packages/mcp/src/base/framing.js";
import { turn } from "./turn.js";

/** A channel whose remote end is the test: what is delivered and when, and when there is room for more. */
export interface HandChannel extends Channel {
  /** Everything that passed, in order: `<` from the peer, `>` to the peer. */
  readonly transcript: string[];
  readonly phase: "open" | "ended" | "closed";
  readonly isPaused: boolean;
  /** Delivers a frame of the peer, be the channel paused or closed: it may stand in a chunk that has arrived. */
  deliver(frame: string): void;
  /** Delivers bytes that are no frame. */
  refuse(refusal: FrameRefusal): void;
  end(error?: Error): void;
  /** From now on whoever sends is asked to wait. */
  block(): void;
  /** Whether frames may wait at the owner: there is no room, or it has not noticed yet that there is. */
  readonly holds: boolean;
  /** There is room again. */
  release(): void;
}

/** @param onSent sees each frame as it is sent */
export function handChannel(onSent: (frame: string) => void): HandChannel {
  return new TestedChannel(onSent);
}

class TestedChannel implements HandChannel {
  readonly transcript: string[] = [];
  readonly #onSent: (frame: string) => void;
  #receiver: ChannelReceiver | undefined;
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  /** Releases that the owner may not have noticed yet. */
  #released = 0;
  phase: "open" | "ended" | "closed" = "open";
  isPaused = false;

  constructor(onSent: (frame: string) => void) {
    this.#onSent = onSent;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
  }

  send(frame: string): void | Promise<void> {
    this.transcript.push(`> ${frame}`);
    this.#onSent(frame);
    return this.#room?.promise;
  }

  close(): Promise<void> {
    this.transcript.push("> close");
    this.phase = "closed";
    this.release();
    return Promise.resolve();
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  deliver(frame: string): void {
    this.transcript.push(`< ${frame}`);
    this.#receiver?.frame(frame);
  }

  refuse(refusal: FrameRefusal): void {
    this.transcript.push("< refused");
    this.#receiver?.refuse(refusal);
  }

  end(error?: Error): void {
    if (this.phase !== "open") return;
    this.transcript.push(`< end ${error?.message ?? ""}`);
    this.phase = "ended";
    this.#receiver?.end(error);
  }

  block(): void {
    let resolve = (): void => undefined;
    const promise = new Promise<void>((resolved) => {
      resolve = resolved;
    });
    this.#room ??= { promise, resolve };
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

  get holds(): boolean {
    return this.#room !== undefined || this.#released > 0;
  }
}
