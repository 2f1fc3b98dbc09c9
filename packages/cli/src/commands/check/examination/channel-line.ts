import { type Channel, type Tapped, tapChannel } from "@parlance/mcp/jsonrpc";
import type { ProcessExit } from "@parlance/mcp/node";
import type { FrameEntry } from "@parlance/wire";
import { isObject, type JsonObject } from "../../../shared/json.js";
import { signalGroup } from "../../../shared/signal-group.js";
import { AwaitedAnswers, silent } from "./awaited-answers.js";
import type { Line, Observer, Reply } from "./line.js";

interface ChannelLineOptions {
  readonly channel: ExaminedChannel;
  /** Milliseconds to wait for an answer. */
  readonly patience: number;
  /** Milliseconds to wait for the first answer: until then the server starts. */
  readonly firstPatience: number;
  readonly observer: Observer;
  /** The name of the session in the recording. */
  readonly session: string;
  /** Nothing is waited for any more. */
  readonly stop?: AbortSignal | undefined;
}

/** A channel; that to a process knows how the process has ended. */
export interface ExaminedChannel extends Channel {
  readonly exit?: ProcessExit | undefined;
  readonly pid?: number | undefined;
}

/** A server behind a channel: a process on its stdin and stdout, a WebSocket, or one in this process. */
export class ChannelLine implements Line {
  readonly carrier = "channel";
  readonly sessionId = undefined;
  onRequest: Line["onRequest"];
  readonly unaddressed: JsonObject[] = [];
  readonly #options: ChannelLineOptions;
  readonly #channel: Channel;
  readonly #awaited: AwaitedAnswers;
  #hasExited = false;

  constructor(options: ChannelLineOptions) {
    this.#options = options;
    this.#awaited = new AwaitedAnswers(options.patience, options.firstPatience);
    this.#channel = tapChannel(options.channel, (tapped) => this.#see(tapped));
    this.#channel.open({
      frame: (text) => this.#take(text),
      refuse: () => undefined,
      end: () => {
        this.#awaited.end();
        this.#seeExit();
      },
    });
    options.stop?.addEventListener("abort", () => this.#stop(), { once: true });
    if (options.stop?.aborted === true) this.#stop();
  }

  /** Whoever waits is answered, and a process that would take its time to leave is ended. */
  #stop(): void {
    this.#awaited.end();
    const { channel } = this.#options;
    if (channel.exit === undefined) signalGroup(channel.pid, "SIGKILL");
  }

  async say(text: string, id?: string | number): Promise<Reply> {
    const answer = id === undefined ? undefined : this.#awaited.wait(id);
    await this.#channel.send(text);
    return answer ?? silent("nothing was owed");
  }

  agree(): void {
    // Here it is said nowhere but in the messages.
  }

  async close(): Promise<number | undefined> {
    const { observer, session, channel } = this.#options;
    if ("exit" in channel && !this.#hasExited)
      observer.see((n, t) => ({ k: "l", n, s: session, t, ev: "stdin-end", d: "c2s" }));
    const before = performance.now();
    await this.#channel.close();
    const took = performance.now() - before;
    this.#seeExit();
    const { exit } = channel;
    if (exit === undefined) return 0;
    return exit.signal === null ? took : undefined;
  }

  /** Records how the process ended, once. */
  #seeExit(): void {
    const { observer, session, channel } = this.#options;
    const { exit } = channel;
    if (exit === undefined || this.#hasExited) return;
    this.#hasExited = true;
    const { code, signal: sig } = exit;
    observer.see((n, t) => ({ k: "l", n, s: session, t, ev: "exit", code, sig }));
  }

  #take(text: string): void {
    for (const message of messagesOf(text)) {
      if (isUnaddressed(message)) this.unaddressed.push(message);
      else if (typeof message.method !== "string") this.#awaited.take(message);
      else if (message.id !== undefined) {
        const answer = this.onRequest?.(message);
        if (answer !== undefined) void this.say(answer); // What goes wrong with it, the server shows.
      }
    }
  }

  #see(tapped: Tapped): void {
    const { observer, session: s } = this.#options;
    if (tapped.kind === "ended") return;
    const raw = tapped.kind === "refused" ? tapped.refusal.head : tapped.frame;
    const isSent = tapped.kind === "sent";
    const way = isSent ? ({ d: "c2s", ch: "stdin" } as const) : ({ d: "s2c", ch: "stdout" } as const);
    const len = tapped.kind === "refused" ? tapped.refusal.bytes : Buffer.byteLength(raw);
    const kept = tapped.kind === "refused" ? { kept: Buffer.byteLength(raw) } : {};
    observer.see((n, t): FrameEntry => ({ k: "f", n, s, t, ...way, len, nl: "\n", ...kept, raw }));
  }
}

/** Whether a message is an error that answers what could not be read. */
export function isUnaddressed({ method, error, id = null }: JsonObject): boolean {
  return method === undefined && error !== undefined && id === null;
}

/** The messages of a frame; none of one that is not JSON. */
export function messagesOf(text: string): readonly JsonObject[] {
  try {
    const value = JSON.parse(text) as unknown;
    return (Array.isArray(value) ? value : [value]).filter(isObject);
  } catch {
    return []; // The rules see what it is.
  }
}
