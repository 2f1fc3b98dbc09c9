import type { Client, ClientOptions } from "@parlance/mcp/client";
import { messagesOf, revisionOf } from "@parlance/mcp/protocol";
import { EntryWriter, type WireMessage } from "@parlance/wire";
import { openConversation } from "../../shared/client/converse.js";
import { type Observation, ObservedTarget } from "../../shared/client/observed-target.js";
import { type Failure, toFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import type { ConversationFlags } from "../../shared/options.js";
import type { FrameRow } from "../../shared/output/conversation-rows.js";
import { openRawClient } from "../../shared/target/raw-client.js";
import { routeTo } from "../../shared/target/route.js";
import type { Target } from "../../shared/target/target.js";
import { Subject } from "../check/examination/probe.js";
import { zeroProbe } from "../check/examination/probes/messages.js";

/** The maximum number of milliseconds to wait for the answer of a server that has answered others. */
const answerTimeout = 5_000;

/** The result of opening a conversation. */
export type Opened = { readonly client: Client } | { readonly failure: Failure };

/** An examined target, the conversation with it, and all observations. */
export class Examined {
  readonly target: Target;
  readonly observed: ObservedTarget;
  readonly seen: Observation[] = [];
  readonly #flags: ConversationFlags;
  readonly #invocation: Invocation;
  #opening: Promise<Opened> | undefined;

  constructor(target: Target, flags: ConversationFlags, invocation: Invocation) {
    this.target = target;
    this.#flags = flags;
    this.#invocation = invocation;
    this.observed = this.#observe((observation) => this.seen.push(observation));
  }

  get stop(): AbortSignal {
    return this.#invocation.interrupt.stop;
  }

  /** Opens the conversation on the first call. Never rejects. */
  open(): Promise<Opened> {
    this.#opening ??= this.#open(this.observed);
    return this.#opening;
  }

  /** The open conversation. @throws Error if it is not open: checks that use it come after the one that opens it */
  async client(): Promise<Client> {
    const opened = await this.open();
    if ("client" in opened) return opened.client;
    throw opened.failure;
  }

  /** Opens and closes a second conversation with a handshake. */
  async tryHandshake(): Promise<Client["revision"] | Failure> {
    const observed = this.#observe(() => undefined);
    const opened = await this.#open(observed, { era: "handshake" });
    if ("client" in opened) await opened.client.close();
    await observed.close();
    return "client" in opened ? opened.client.revision : opened.failure;
  }

  /** Whether a request with the id 0 has a response, in a conversation of its own. */
  async answersZero(): Promise<boolean> {
    const { revision: version } = await this.client();
    const revision = revisionOf(version);
    const route = await routeTo(this.target);
    const writer = new EntryWriter(() => undefined);
    const { timeout } = this.#flags; // It may take the server that long to start, but not to answer.
    const waits = { ...this.#flags, timeout: Math.min(timeout, answerTimeout), firstTimeout: timeout };
    const raw = openRawClient(route, { ...waits, writer, session: "id 0", revision, stop: this.stop });
    const subject = new Subject(raw, messagesOf(version));
    const isOpen = (await subject.open()).is === "passed";
    const finding = isOpen ? await zeroProbe.ask(subject) : undefined; // Another check says why it is not.
    await raw.close();
    return finding?.is !== "failed";
  }

  /** The frames so far, in order. */
  get frames(): readonly FrameRow[] {
    return this.seen.flatMap((each) => (each.kind === "frame" ? [each.row] : []));
  }

  /** The first frame of the server that answers a request. */
  get firstAnswer(): FrameRow | undefined {
    return this.frames.find(({ from, messages }) => from === "server" && messages.some(isAnswer));
  }

  /** Whether the server repeated a frame of the client: the program is not a server, but something like `cat`. */
  get isEcho(): boolean {
    const sent = new Set(this.frames.flatMap(({ from, entry }) => (from === "client" ? [entry.raw] : [])));
    return this.frames.some(({ from, entry }) => from === "server" && sent.has(entry.raw));
  }

  /** Ends the conversation and the started processes. */
  async close(): Promise<void> {
    const opened = await this.#opening;
    if (opened !== undefined && "client" in opened) await opened.client.close();
    await this.observed.close();
  }

  #observe(onObservation: (observation: Observation) => void): ObservedTarget {
    return new ObservedTarget(this.target, {
      interrupt: this.#invocation.interrupt,
      onObservation,
    });
  }

  async #open(observed: ObservedTarget, how: Pick<ClientOptions, "era"> = {}): Promise<Opened> {
    const { timeout } = this.#flags;
    try {
      return { client: await openConversation(observed, { flags: { timeout }, invocation: this.#invocation, ...how }) };
    } catch (error) {
      return { failure: toFailure(error, "opening") };
    }
  }
}

/** Whether a message is the response to a request. */
export function isAnswer(message: WireMessage): boolean {
  return message.operation?.answer === message;
}
