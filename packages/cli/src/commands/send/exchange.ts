import { latestHandshake } from "@parlance/mcp";
import type { RpcRequest, Tapped } from "@parlance/mcp/jsonrpc";
import { messagesOf, methods, notifications, revisionOf } from "@parlance/mcp/protocol";
import { type Frame, FrameLog, type Part } from "../../shared/client/frames.js";
import type { Observation } from "../../shared/client/observed-target.js";
import { Silence } from "./until-quiet.js";
import type { SendView } from "./view.js";

/** Everything that crosses while something is sent: its frames, and what is still owed. */
export class RawTraffic {
  readonly log: FrameLog = new FrameLog();
  readonly silence: Silence = new Silence();
  readonly #view: SendView;
  readonly #start = performance.now();
  #frames: readonly Frame[] = [];
  #answered: (() => void) | undefined;
  #error: Error | undefined;
  #isSettled = false;

  constructor(view: SendView) {
    this.#view = view;
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return performance.now() - this.#start;
  }

  /** Why the other side has ended. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Bytes that cross, before anybody looks at them. */
  bytes(from: "client" | "server", chunk: Uint8Array): void {
    if (from === "server") this.silence.disturb();
    this.#view.bytes(from, this.now, chunk);
  }

  /** What the bytes were. */
  see(tapped: Tapped): void {
    if (tapped.kind === "ended") {
      this.#error = tapped.error;
      this.#answered?.();
      this.silence.end();
      return;
    }
    const frame = this.log.read(tapped, this.now);
    if (frame === undefined) return;
    this.#frames = [...this.#frames, frame];
    const text = tapped.kind === "refused" ? tapped.refusal.head : tapped.frame;
    this.observe({ kind: "frame", frame, text });
    if (frame.from === "server") this.#answered?.();
  }

  observe(observation: Observation): void {
    this.#view.observe(observation);
  }

  /** The requests of this side that nobody has answered. */
  get owed(): readonly Part[] {
    if (this.#isSettled) return [];
    const pairs = new Set(this.#parts("server").map(({ pair }) => pair));
    return this.#frames.flatMap(({ n, from, parts }) =>
      from === "client" && !pairs.has(n) ? parts.filter(({ kind }) => kind === "req") : [],
    );
  }

  /** Whether something was sent that a server has to answer: a request, or what it cannot read. */
  get isOwed(): boolean {
    return this.owed.length > 0 || this.#parts("client").some(({ kind }) => kind === "noise");
  }

  /** The carrier itself has answered what was sent so far, whatever it has said. */
  settle(): void {
    this.#isSettled = true;
  }

  /** Resolves when everything that was asked is answered, when the other side has ended, or when time is up. */
  async answers(timeout: number, stop: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        stop.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, timeout);
      stop.addEventListener("abort", done);
      this.#answered = () => {
        if (this.owed.length === 0 || this.#error !== undefined || stop.aborted) done();
      };
      this.#answered();
    });
    this.#answered = undefined;
  }

  #parts(from: Frame["from"]): readonly Part[] {
    return this.#frames.flatMap((frame) => (frame.from === from ? frame.parts : []));
  }
}

/** The messages that open a conversation by hand; undefined where none has to be opened. */
export function handshakeIn(version: string = latestHandshake.version): readonly [RpcRequest, string] | undefined {
  if (revisionOf(version)?.era !== "handshake") return undefined;
  const messages = messagesOf(version);
  const clientInfo = { name: "parlance send", version: "0.1.0" };
  const request = messages.request("open", methods.initialize, {
    protocolVersion: version,
    capabilities: {},
    clientInfo,
  });
  return [request, JSON.stringify(messages.notification(notifications.initialized))];
}
