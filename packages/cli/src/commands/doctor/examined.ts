import type { Client, ClientOptions } from "@parlance/mcp/client";
import { openConversation } from "../../shared/client/conversation.js";
import type { Frame, Part } from "../../shared/client/frames.js";
import { type Observation, ObservedTarget } from "../../shared/client/observed-target.js";
import { type Failure, toFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import type { ConversationFlags } from "../../shared/options.js";
import type { Target } from "../../shared/target/target.js";

/** A frame as it was seen, with its text. */
export type SeenFrame = Extract<Observation, { kind: "frame" }>;

/** What came of opening a conversation. */
export type Opened = { readonly client: Client } | { readonly failure: Failure };

/** A target that is examined, the conversation with it, and everything that was seen. */
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

  /** Opens the conversation, the first time. Never rejects. */
  open(): Promise<Opened> {
    this.#opening ??= this.#open(this.observed);
    return this.#opening;
  }

  /** The open conversation. @throws Error before there is one: checks that need it come behind it */
  async client(): Promise<Client> {
    const opened = await this.open();
    if ("client" in opened) return opened.client;
    throw opened.failure;
  }

  /** Opens a second conversation with a handshake, and ends it. */
  async tryHandshake(): Promise<Client["revision"] | Failure> {
    const observed = this.#observe(() => undefined);
    const opened = await this.#open(observed, { era: "handshake" });
    if ("client" in opened) await opened.client.close();
    await observed.close();
    return "client" in opened ? opened.client.revision : opened.failure;
  }

  /** The frames that have crossed, in order. */
  get frames(): readonly SeenFrame[] {
    return this.seen.filter((each): each is SeenFrame => each.kind === "frame");
  }

  /** What the server has sent although it is what it was sent: something that is no server, like `cat`. */
  get isEcho(): boolean {
    const sent = new Set(this.frames.flatMap(({ frame, text }) => (frame.from === "client" ? [text] : [])));
    return this.frames.some(({ frame, text }) => frame.from === "server" && sent.has(text));
  }

  /** Ends the conversation, and whatever was started. */
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
    const { err, interrupt } = this.#invocation;
    try {
      return { client: await openConversation(observed, { revision: undefined, timeout, err, interrupt, ...how }) };
    } catch (error) {
      return { failure: toFailure(error, "opening") };
    }
  }
}

/** Whether a part is an answer to something that was asked. */
export function isAnswer({ kind, latency }: Part): boolean {
  return (kind === "res" || kind === "err") && latency !== undefined;
}

/** The first frame of the server that answers something; undefined if none has. */
export function firstAnswer(frames: readonly SeenFrame[]): Frame | undefined {
  return frames.find(({ frame }) => frame.from === "server" && frame.parts.some(isAnswer))?.frame;
}
