import { handshakeVersions } from "@parlance/mcp";
import type { Channel, ConnectionOptions } from "@parlance/mcp/jsonrpc";
import { tapChannel } from "@parlance/mcp/jsonrpc";
import { methods, notifications, revisionOf } from "@parlance/mcp/protocol";
import { type Connection, openConnection } from "../../packages/mcp/src/jsonrpc/connection.js";
import { assertOfficial, type Sender } from "../protocol/shapes/official.js";
import { violations } from "./violations.js";

// Every conversation that servers and clients of ours hold in the process of a test is opened here instead of by the
// module that this one stands for (see vitest.config.ts): whatever our side sends must have the shape that the schema of
// its revision says, in any test.

/** Enough to see every kind of message; a test that sends a million is about something else. */
const mostMessages = 1_000;

/** Opens connections of one side, and holds what they send against the schemas. */
export function watched(side: Sender): (channel: Channel, options?: ConnectionOptions) => Connection {
  return (channel, options) => {
    const watch = new Watch(side);
    const tapped = tapChannel(channel, (each) => {
      if (each.kind === "sent") {
        watch.sent(each.frame);
        violations.push(...watch.violations.splice(0));
      }
      if (each.kind === "received") watch.received(each.frame);
    });
    return openConnection(tapped, options);
  };
}

/** A channel to a server of ours in a process of its own, whose frames are held against the schemas as well. */
export function watchedServer(channel: Channel): Channel {
  const watch = new Watch("server");
  return tapChannel(channel, (each) => {
    if (each.kind === "sent") watch.received(each.frame);
    if (each.kind === "received") watch.sent(each.frame);
    violations.push(...watch.violations.splice(0));
  });
}

/** The `fetch` of a client whose requests name their own revision: no connection is there to be watched. */
export function watchedFetch(
  fetch: (url: URL | string, init: RequestInit) => Promise<Response>,
): (url: URL | string, init: RequestInit) => Promise<Response> {
  const watch = new Watch("client");
  return (url, init) => {
    if (typeof init.body === "string" && new Headers(init.headers).has("mcp-method")) watch.sent(init.body);
    violations.push(...watch.violations.splice(0));
    return fetch(url, init);
  };
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly _meta?: Readonly<Record<string, unknown>>; readonly protocolVersion?: unknown };
  readonly result?: { readonly protocolVersion?: unknown };
}

interface Asked {
  readonly method: string;
  readonly version: string;
}

const known: ReadonlySet<unknown> = new Set([...Object.values(methods), ...Object.values(notifications)]);

/** One side of a conversation, as it is seen from outside. Made for every connection; told every frame, in order. */
export class Watch {
  /** Messages of this side that no schema has. */
  readonly violations: string[] = [];
  readonly #side: Sender;
  readonly #other: Sender;
  /** By side and id. */
  readonly #asked = new Map<string, Asked>();
  /** That of the handshake, as soon as there is one. */
  #version = handshakeVersions[0] ?? "";
  #isAgreed = false;
  #isGreeted = false;
  /** That of the last request that spoke for itself. */
  #stateless: string | undefined;
  #messages = 0;

  constructor(side: Sender) {
    this.#side = side;
    this.#other = side === "client" ? "server" : "client";
  }

  received(frame: string): void {
    for (const message of messagesOf(frame)) {
      this.#learn(this.#other, message);
      this.#answered(this.#side, message);
    }
  }

  sent(frame: string): void {
    for (const message of messagesOf(frame)) {
      this.#learn(this.#side, message);
      // A lenient client may have taken an answer that names no revision: the handshake is over when the client says so.
      if (message.method === notifications.initialized && this.#isGreeted) this.#isAgreed = true;
      const asked = this.#answered(this.#other, message);
      this.#messages += 1;
      if (this.#messages <= mostMessages) this.#judge(message, asked);
    }
  }

  /** Remembers a request, so that its answer can be judged. */
  #learn(sender: Sender, { id, method, params }: Message): void {
    if (typeof method !== "string" || id === undefined) return;
    const own = versionOf(params);
    if (method === methods.initialize) this.#isGreeted = true;
    if (method !== methods.initialize) this.#stateless = own ?? this.#stateless;
    this.#asked.set(keyOf(sender, id), { method, version: own ?? this.#version });
  }

  /** The request that a message answers, if it is an answer. */
  #answered(asker: Sender, { id, method, result }: Message): Asked | undefined {
    if (method !== undefined) return undefined;
    const asked = this.#asked.get(keyOf(asker, id));
    if (result !== undefined) this.#asked.delete(keyOf(asker, id)); // A request with an id that is taken fails, and leaves it.
    const agreed = asked?.method === methods.initialize ? result?.protocolVersion : undefined;
    if (typeof agreed !== "string" || revisionOf(agreed) === undefined) return asked;
    this.#version = agreed;
    this.#isAgreed = true;
    return { method: methods.initialize, version: agreed };
  }

  #judge(message: Message, asked: Asked | undefined): void {
    // An id that no double can hold is a test of its own: here it is read as one.
    if (typeof message.id === "number" && !Number.isSafeInteger(message.id)) return;
    const method = message.method ?? asked?.method;
    // A method that is not in the protocol is an extension of the test.
    if (method !== undefined && !known.has(method)) return;
    const version = asked?.version ?? versionOf(message.params) ?? this.#spoken(message);
    const isRequest = message.method !== undefined && message.id !== undefined;
    if (isRequest && revisionOf(version)?.requests[this.#side].has(String(method)) !== true) {
      this.violations.push(`${version}: ${String(method)} is not a request that the ${this.#side} may send`);
    }
    try {
      assertOfficial(version, this.#side, message, asked?.method);
    } catch (error) {
      this.violations.push(`${version}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** The revision of what does not name one. A connection may speak both eras: a subscription belongs to the later one. */
  #spoken({ id, method, params }: Message): string {
    // Before a handshake is over, a client may ask for a sign of life.
    if (this.#side === "client" && method !== undefined && id !== undefined) return this.#version;
    const isSubscription = params?._meta?.["io.modelcontextprotocol/subscriptionId"] !== undefined;
    return (isSubscription || !this.#isAgreed ? this.#stateless : undefined) ?? this.#version;
  }
}

function messagesOf(frame: string): readonly Message[] {
  try {
    const message = JSON.parse(frame) as Message | readonly Message[] | null;
    return (Array.isArray(message) ? message : [message]).filter(
      (each): each is Message => typeof each === "object" && each !== null,
    );
  } catch {
    return []; // A raw peer writes what it likes.
  }
}

/** The revision that a message names itself: a request of the stateless era, or one that opens a conversation. */
function versionOf(params: Message["params"]): string | undefined {
  const named = params?._meta?.["io.modelcontextprotocol/protocolVersion"] ?? params?.protocolVersion;
  return typeof named === "string" && revisionOf(named) !== undefined ? named : undefined;
}

function keyOf(sender: Sender, id: unknown): string {
  return `${sender} ${JSON.stringify(id)}`;
}
