import { type Channel, clientLimits, lines, type Tapped, tapChannel } from "@parlance/mcp/jsonrpc";
import type { JsonObject } from "@parlance/mcp/protocol";
import { joined } from "../recording/frame.js";
import { dispatch, noAnswer, PendingReplies, type RawClient, type RawOptions, type RawReply } from "./raw-client.js";

/** A channel to a server. The channel of a process also reports how the process ended, and can kill it. */
export interface RawTransport {
  readonly channel: Channel & {
    readonly exit?: { readonly code: number | null; readonly signal: string | null } | undefined;
  };
  /** Writes arbitrary bytes, without framing. Default: every frame is sent as text through the channel. */
  readonly write?: (bytes: Uint8Array) => void;
  /** Ends the process at once. */
  readonly kill?: () => void;
}

interface RawChannelOptions extends RawOptions, RawTransport {
  /** Milliseconds to wait for the first answer, during which the server may have to start. Default: `timeout`. */
  readonly firstTimeout?: number;
}

const encoder = new TextEncoder();

/** Milliseconds between the pieces of a frame, in which the server may read the first one. */
const pieceDelay = 50;

/**
 * A raw client on a channel: a process on its stdin and stdout, a WebSocket, or a server in this process.
 *
 * @example
 * const conversation = new Conversation();
 * const writer = new EntryWriter((entry) => conversation.push(entry));
 * const client = new RawChannel({ channel, writer, timeout: 5_000, session: "1" });
 * const { answer } = await client.send('{"jsonrpc":"2.0","id":1,"method":"ping"}', 1);
 */
export class RawChannel implements RawClient {
  readonly transport = "channel";
  /** Always undefined: only HTTP has session ids. */
  readonly sessionId = undefined;
  /** Returns the frame that answers a request of the server. Called in order of arrival. */
  onRequest: RawClient["onRequest"];
  /** The responses without an id so far. */
  readonly responsesWithoutId: JsonObject[] = [];
  /** How many responses so far answer no request that waits. */
  unpairedResponses = 0;
  readonly #options: RawChannelOptions;
  readonly #channel: Channel;
  readonly #pending: PendingReplies;
  #hasExited = false;

  constructor(options: RawChannelOptions) {
    this.#options = options;
    this.#channel = tapChannel(options.channel, (tapped) => this.#record(tapped));
    this.#pending = new PendingReplies(
      options.timeout,
      options.firstTimeout,
      () => this.#channel.unfinished !== undefined,
    );
    this.#channel.open({
      frame: (text) => dispatch(text, this, this.#pending),
      refuse: () => undefined,
      end: (error) => {
        this.#pending.end(error);
        this.#recordExit();
      },
    });
    options.stop?.addEventListener("abort", this.#stop, { once: true });
    if (options.stop?.aborted === true) this.#stop();
  }

  /** Ends every wait, and kills a process that is slow to exit. */
  readonly #stop = (): void => {
    this.#pending.end();
    if (this.#options.channel.exit === undefined) this.#options.kill?.();
  };

  /** Sends a frame, and waits for the response to `id` if one is given. */
  async send(frame: string | Uint8Array | readonly Uint8Array[], id?: string | number): Promise<RawReply> {
    const answer = id === undefined ? undefined : this.#pending.wait(id);
    if (typeof frame === "string") await this.#channel.send(frame);
    else await this.#write(frame instanceof Uint8Array ? [frame] : frame);
    return answer ?? noAnswer("nothing was owed");
  }

  async #write(pieces: readonly Uint8Array[]): Promise<void> {
    const { write } = this.#options;
    const bytes = joined(pieces);
    if (write === undefined) {
      void this.#channel.send(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
      return;
    }
    // Recorded as lines, as a server on stdio reads them; the last line may be incomplete.
    const sent = (frame: string): void => this.#record({ kind: "sent", frame });
    const decoder = lines.decoder({ frame: sent, refuse: ({ head }) => sent(head) }, clientLimits.frameBytes);
    decoder.push(bytes);
    decoder.end();
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await new Promise((resolve) => setTimeout(resolve, pieceDelay));
      write(piece);
    }
  }

  /** Does nothing: on a channel, only messages name the version. */
  useVersion(): void {
    // On a channel only the messages name the version.
  }

  /** Closes the connection. Resolves to the milliseconds that the server took to exit; undefined if it had to be killed. */
  async close(): Promise<number | undefined> {
    const { writer, session, channel, stop } = this.#options;
    if ("exit" in channel && !this.#hasExited)
      writer.write((n, t) => ({ k: "l", n, s: session, t, ev: "stdin-end", d: "c2s" }));
    const { unfinished } = this.#channel;
    if (unfinished !== undefined) this.#recordReceived(unfinished.head, "", unfinished.bytes);
    const before = performance.now();
    await this.#channel.close();
    stop?.removeEventListener("abort", this.#stop); // A program may pass one signal to many channels.
    const took = performance.now() - before;
    this.#recordExit();
    const { exit } = channel;
    if (exit === undefined) return 0;
    return exit.signal === null ? took : undefined;
  }

  /** Records how the process ended, once. */
  #recordExit(): void {
    const { writer, session, channel } = this.#options;
    const { exit } = channel;
    if (exit === undefined || this.#hasExited) return;
    this.#hasExited = true;
    const { code, signal: sig } = exit;
    writer.write((n, t) => ({ k: "l", n, s: session, t, ev: "exit", code, sig }));
  }

  #record(tapped: Tapped): void {
    const { writer, session: s, onFrame } = this.#options;
    onFrame?.(tapped);
    if (tapped.kind === "sent") writer.frame(encoder.encode(tapped.frame), { s, d: "c2s", ch: "stdin", nl: "\n" });
    else if (tapped.kind === "received") this.#recordReceived(tapped.frame, "\n");
    else if (tapped.kind === "refused") {
      const { reason, head, bytes } = tapped.refusal;
      this.#recordReceived(head, reason === "truncated" ? "" : "\n", bytes);
    }
  }

  /** Records a line of the server, of which only the head may be known. A last line may have no end. */
  #recordReceived(head: string, nl: "" | "\n", bytes?: number): void {
    const { writer, session: s } = this.#options;
    writer.frame(encoder.encode(head), { s, d: "s2c", ch: "stdout", nl }, bytes);
  }
}
