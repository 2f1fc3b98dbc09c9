import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { HookError, RpcError } from "../jsonrpc/errors.js";
import { type Id, idKey } from "../jsonrpc/message.js";

/**
 * Two connected channels in memory: each message arrives at the other one in order, a microtask later. If a handler's
 * error becomes *Internal error*, the caller's error has the original as `cause`, because it does not leave the
 * process.
 *
 * @example
 * const [left, right] = memoryChannels();
 * await using server = openConnection(left, { handle: createService().method("ping", () => "pong").call });
 * await using client = openConnection(right);
 * await client.call("ping"); // "pong"
 */
export function memoryChannels(): readonly [Channel, Channel] {
  const left = new MemoryChannel();
  const right = new MemoryChannel();
  left.join(right);
  right.join(left);
  return [left, right];
}

interface Sent {
  readonly frame: string;
  cause?: unknown;
}

class MemoryChannel implements Channel {
  #peer: MemoryChannel | undefined;
  #receiver: ChannelReceiver | undefined;
  #inbox: Sent[] = [];
  /** Errors thrown by handlers, by request, until their responses are sent. */
  readonly #thrown = new Map<unknown, unknown>();
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

  send(frame: string, relatedTo?: Id, isAnswer = false): void {
    if (this.#phase === "closed") return;
    const sent: Sent = { frame };
    if (isAnswer && relatedTo !== undefined && this.#thrown.size > 0) {
      const key = idKey(relatedTo);
      sent.cause = this.#thrown.get(key);
      this.#thrown.delete(key);
    }
    this.#peer?.accept(sent);
  }

  failed(request: Id, thrown: unknown): void {
    if (this.#phase !== "closed") this.#thrown.set(idKey(request), causeOf(thrown));
  }

  unanswered(request: Id): void {
    this.#thrown.delete(idKey(request));
  }

  close(): Promise<void> {
    if (this.#phase !== "closed") {
      this.#phase = "closed";
      this.#inbox = [];
      this.#thrown.clear();
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

  accept(sent: Sent): void {
    if (this.#phase === "closed") return;
    this.#inbox.push(sent);
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
    const arrived = this.#inbox;
    this.#inbox = [];
    for (const [index, { frame, cause }] of arrived.entries()) {
      if (this.#paused) {
        this.#inbox = [...arrived.slice(index), ...this.#inbox];
        return;
      }
      if (this.#phase !== "closed") this.#receiver?.frame(frame, undefined, cause);
    }
    if (this.#inbox.length > 0) this.#schedule();
    else if (this.#phase === "ended") this.#end();
  }

  #end(): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    receiver?.end(undefined, true);
  }
}

/** The cause of an error on the wire: the error that a handler or a hook threw, or the cause of that error. */
function causeOf(thrown: unknown): unknown {
  return thrown instanceof HookError || thrown instanceof RpcError ? thrown.cause : thrown;
}
