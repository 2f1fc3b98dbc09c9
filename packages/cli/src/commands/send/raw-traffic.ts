import type { Tapped } from "@parlance/mcp/jsonrpc";
import type { WireMessage } from "@parlance/wire";
import { LiveConversation } from "../../shared/client/live-conversation.js";
import type { Observation } from "../../shared/client/observed-target.js";
import type { FrameRow } from "../../shared/output/conversation-rows.js";
import { IdleWatch } from "./until-idle.js";
import type { SendView } from "./view.js";

/** Everything that crosses while something is sent: its frames, and what is still owed. */
export class RawTraffic {
  readonly conversation: LiveConversation;
  readonly silence: IdleWatch = new IdleWatch();
  readonly #view: SendView;
  readonly #start = performance.now();
  #sent: readonly FrameRow[] = [];
  #error: Error | undefined;
  #isSettled = false;

  /** @param stdio whether frames are lines of stdin and stdout */
  constructor(view: SendView, { stdio }: { readonly stdio: boolean }) {
    this.conversation = new LiveConversation({ stdio });
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
      this.silence.end();
      return;
    }
    const row = this.conversation.read(tapped, this.now);
    if (row === undefined) return;
    if (row.from === "client") this.#sent = [...this.#sent, row];
    this.observe({ kind: "frame", row });
  }

  observe(observation: Observation): void {
    this.#view.observe(observation);
  }

  /** The requests that were sent and have no answer. */
  get owed(): readonly WireMessage[] {
    if (this.#isSettled) return [];
    return this.#sent
      .flatMap(({ messages }) => messages)
      .filter(({ kind, operation }) => kind === "req" && operation?.answer === undefined);
  }

  /** Whether something was sent that a server has to answer: a request, or what it cannot read. */
  get isOwed(): boolean {
    return this.owed.length > 0 || this.#sent.some(({ kind }) => kind === "noise");
  }

  /** The transport itself has answered what was sent so far, whatever it has said. */
  settle(): void {
    this.#isSettled = true;
  }
}
