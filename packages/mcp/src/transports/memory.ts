import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";

/** Two ends of one carrier in memory: what one sends, the other receives, in order and a microtask later. */
export function memoryChannels(): readonly [Channel, Channel] {
  const left = new MemoryChannel();
  const right = new MemoryChannel();
  left.join(right);
  right.join(left);
  return [left, right];
}

class MemoryChannel implements Channel {
  #peer: MemoryChannel | undefined;
  #receiver: ChannelReceiver | undefined;
  #inbox: string[] = [];
  #scheduled = false;
  #paused = false;
  #phase: "open" | "ended" | "closed" = "open";

  join(peer: MemoryChannel): void {
    this.#peer = peer;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#schedule();
  }

  send(frame: string): void {
    if (this.#phase !== "closed") this.#peer?.accept(frame);
  }

  close(): Promise<void> {
    if (this.#phase !== "closed") {
      this.#phase = "closed";
      this.#inbox = [];
      this.#peer?.endInput();
    }
    return Promise.resolve();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  accept(frame: string): void {
    if (this.#phase === "closed") return;
    this.#inbox.push(frame);
    this.#schedule();
  }

  endInput(): void {
    if (this.#phase !== "open") return;
    this.#phase = "ended";
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#paused || this.#receiver === undefined) return;
    this.#scheduled = true;
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    this.#scheduled = false;
    const frames = this.#inbox;
    this.#inbox = [];
    for (const [index, frame] of frames.entries()) {
      if (this.#paused) {
        this.#inbox = [...frames.slice(index), ...this.#inbox];
        return;
      }
      if (this.#phase !== "closed") this.#receiver?.frame(frame);
    }
    if (this.#inbox.length > 0) this.#schedule();
    else if (this.#phase === "ended") this.#end();
  }

  #end(): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    receiver?.end();
  }
}
