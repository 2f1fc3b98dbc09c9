import { latest, latestHandshake } from "@parlance/mcp";
import {
  type Era,
  isObject,
  type JsonObject,
  mcpHeaders,
  metaKeys,
  methods,
  notifications,
  type Revision,
  revisionOf,
} from "@parlance/mcp/protocol";
import type { Sender } from "../recording/frame.js";
import { headerOf, isTaken, spokenIn } from "./exchange.js";
import type { Exchange, HandshakePhase, MessageContext, Operation, WireMessage } from "./message.js";
import { metaOf, mostRemembered, Operations } from "./operations.js";

/** A tool as the server has listed it last, and where. */
export interface ListedTool {
  readonly definition: JsonObject;
  readonly listed: WireMessage;
  readonly pointer: string;
}

/** What a conversation over HTTP has besides its messages. */
export interface HttpSession {
  /** What the server has named the session, in the answer to `initialize`. */
  id: string | undefined;
  /** Its messages come on the stream of HTTP with SSE, as the first revision has it. */
  isLegacy: boolean;
  /** The response by which the server has shown that the session is over. */
  ended: { readonly n: number; readonly by: "DELETE" | 404 } | undefined;
}

/** One conversation of a client and a server: who has asked what, and what both have agreed on. */
export class WireSession {
  readonly name: string;
  /** By name, as the server has listed them last. */
  readonly tools: Map<string, ListedTool> = new Map();
  /** Addresses that `resources/subscribe` was asked for. */
  readonly subscriptions: Set<string> = new Set();
  /** Where the server has said that its lists go on. */
  readonly cursors: Set<string> = new Set();
  /** What HTTP has shown of it. */
  readonly http: HttpSession = { id: undefined, isLegacy: false, ended: undefined };
  /** The last message of each side. */
  readonly last: Record<Sender, WireMessage | undefined> = { client: undefined, server: undefined };
  readonly #requests = new Operations();
  #phase: HandshakePhase = "new";
  #agreed: Revision | undefined;
  #named: Revision | undefined;
  #unknownVersion: string | undefined;
  #clientCapabilities: JsonObject | undefined;
  #serverCapabilities: JsonObject | undefined;
  #isWhole = true;
  #isShared = false;
  /** The server has answered a request of the stateless era with a result. */
  #speaksStateless = false;
  #logLevel: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get phase(): HandshakePhase {
    return this.#phase;
  }

  /** What `initialize` has settled on, or else what the last request has named for itself. */
  get revision(): Revision | undefined {
    return this.#agreed ?? this.#named;
  }

  /** The version that was agreed on or named, and that is not known. */
  get unknownVersion(): string | undefined {
    return this.#unknownVersion;
  }

  get era(): Era | undefined {
    return this.revision?.era;
  }

  /** As told by `initialize`, or by the last request that speaks for itself. */
  get clientCapabilities(): JsonObject | undefined {
    return this.#clientCapabilities;
  }

  /** As told by the result of `initialize` or of `server/discover`. */
  get serverCapabilities(): JsonObject | undefined {
    return this.#serverCapabilities;
  }

  /** In the order of their requests. */
  get operations(): readonly Operation[] {
    return this.#requests.all;
  }

  /** Requests without an answer, in their order. */
  get pending(): readonly Operation[] {
    return [...this.#requests.waiting];
  }

  /** The least severe log message that the client has asked for, with `logging/setLevel`. */
  get logLevel(): string | undefined {
    return this.#logLevel;
  }

  /** Whether all that crossed was seen, as far as it is known: who has missed something must not say that it is not there. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /**
   * Whether it may have messages of several clients: over HTTP, where the server names no sessions, nothing tells them
   * apart. What one of them has said must not be held against another.
   */
  get isShared(): boolean {
    return this.#isShared;
  }

  /** Something crossed that was not seen. */
  miss(): void {
    this.#isWhole = false;
  }

  /** The newest request of a side that a value names by its id. */
  requestWithId(from: Sender, id: unknown): Operation | undefined {
    return this.#requests.named(from, id);
  }

  /** The newest request of a side that wants progress under a token. */
  requestWithToken(from: Sender, token: unknown): Operation | undefined {
    return this.#requests.withToken(from, token);
  }

  /** Milliseconds in which 95 of 100 requests of a method were answered so far; undefined where they are too few. */
  usualTime(method: string): number | undefined {
    return this.#requests.usualTime(method);
  }

  /** What is known of a message before it is taken. */
  contextOf(message: WireMessage, exchange: Exchange | undefined): MessageContext {
    const { kind } = message;
    const isResponse = kind === "res" || kind === "err";
    const pairing = isResponse ? this.#requests.pairingOf(message) : undefined;
    const answered = pairing?.is === "answer" ? this.#requests.asked(message) : undefined;
    const operation = kind === "ntf" ? this.#requests.toldAbout(message) : answered;
    return {
      revision: this.#revisionOf(message, operation, exchange),
      phase: this.#phase,
      exchange,
      operation,
      pairing,
      reuses: kind === "req" ? this.#requests.reusedBy(message) : undefined,
      previous: kind === "req" ? this.#requests.roundBefore(message) : undefined,
    };
  }

  /** Takes a look at a message before it is judged: it may be that of another client. */
  meet({ from, method, context: { exchange, phase } }: WireMessage): void {
    if (from !== "client" || method !== methods.initialize || phase === "new") return;
    if (exchange === undefined || this.http.id !== undefined || this.http.isLegacy) return;
    this.#isShared = true;
    this.#logLevel = undefined;
  }

  /** HTTP has answered what an exchange brings: a handshake that it refuses may be tried again, and a session may be over. */
  answeredByHttp(exchange: Exchange): void {
    const { request, response } = exchange;
    if (response !== undefined && headerOf(request, mcpHeaders.session) !== undefined) {
      if (request.method === "DELETE" && isTaken(exchange)) this.http.ended = { n: response.n, by: "DELETE" };
      else if (response.status === 404) this.http.ended ??= { n: response.n, by: 404 };
    }
    if (isTaken(exchange) || this.#isShared || this.#phase !== "initializing") return;
    if (exchange.messages.some(({ method }) => method === methods.initialize)) this.#phase = "new";
  }

  /** Takes a message that was judged: what it says holds from here on. Gives the operation that it begins. */
  take(message: WireMessage): Operation | undefined {
    const { kind, context, method, from } = message;
    this.last[from] = message;
    if (kind === "req") return this.#begin(message);
    if (kind === "none") this.#requests.noteNoMessage(message);
    const { operation } = context;
    if (operation !== undefined && kind === "ntf") this.#requests.note(operation, message);
    if (operation !== undefined && (kind === "res" || kind === "err")) this.#answer(operation, message);
    if (kind === "ntf" && method === notifications.initialized && this.#phase === "answered") this.#phase = "ready";
    return undefined;
  }

  #revisionOf(
    message: WireMessage,
    operation: Operation | undefined,
    exchange: Exchange | undefined,
  ): Revision | undefined {
    const { method, result } = message;
    const named = namedVersion(message);
    if (named !== undefined) return revisionOf(named);
    // What opens a handshake proposes: a version that nobody knows, or that has none, is a proposal too.
    if (method === methods.initialize)
      return handshakeRevision(String(message.params.protocolVersion)) ?? latestHandshake;
    if (operation?.request.method === methods.initialize && typeof result?.protocolVersion === "string")
      return handshakeRevision(result.protocolVersion);
    const spoken = operation?.request.revision ?? (exchange && spokenIn(exchange));
    if (spoken !== undefined) {
      // A server of the handshake era, asked whether it knows the other one, says no in its own words.
      const mayNotKnow = message.kind === "err" && message.from === "server" && !this.#speaksStateless;
      const isOther = spoken.era === "stateless" && mayNotKnow && !hasStatelessCode(message);
      return isOther ? (this.#agreed ?? latestHandshake) : spoken;
    }
    if (operation !== undefined) return undefined;
    if (this.#unknownVersion !== undefined) return undefined;
    if (method === methods.discover) return latest;
    return this.revision ?? latestHandshake;
  }

  #begin(request: WireMessage): Operation {
    const operation = this.#requests.begin(request);
    if (request.from === "client") this.#hearClient(request);
    return operation;
  }

  #hearClient(request: WireMessage): void {
    const { params, method } = request;
    const version = namedVersion(request);
    if (version !== undefined) {
      this.#named = revisionOf(version);
      this.#unknownVersion = this.#named === undefined ? version : undefined;
    } else if (method === methods.initialize && !this.#isShared) this.#phase = "initializing";
    const capabilities =
      method === methods.initialize ? params.capabilities : metaOf(params)[metaKeys.clientCapabilities];
    // A request that speaks for itself changes nothing of what a handshake has settled.
    if (!isObject(capabilities) || (method !== methods.initialize && this.#agreed !== undefined)) return;
    const isKnown = !this.#isShared || JSON.stringify(capabilities) === JSON.stringify(this.#clientCapabilities);
    this.#clientCapabilities = isKnown ? capabilities : undefined;
  }

  #answer(operation: Operation, answer: WireMessage): void {
    this.#requests.end(operation, answer);
    const { request } = operation;
    const { result } = answer;
    if (request.from !== "client") return;
    if (result !== undefined) this.#hearServer(request, answer, result);
    // A handshake that was refused may be tried again.
    else if (request.method === methods.initialize && this.#phase === "initializing" && !this.#isShared)
      this.#phase = "new";
  }

  #hearServer(request: WireMessage, answer: WireMessage, result: JsonObject): void {
    const { method, params } = request;
    if (request.revision?.era === "stateless") this.#speaksStateless = true;
    if (method === methods.initialize) this.#agree(result.protocolVersion);
    if ((method === methods.initialize || method === methods.discover) && isObject(result.capabilities))
      this.#serverCapabilities = result.capabilities;
    if (method === methods.listTools) this.#hearTools(answer, result);
    if (typeof result.nextCursor === "string" && this.cursors.size < mostRemembered)
      this.cursors.add(result.nextCursor);
    const { uri, level } = params;
    if (method === methods.setLevel && typeof level === "string" && !this.#isShared) this.#logLevel = level;
    if (typeof uri !== "string") return;
    if (method === methods.subscribe && this.subscriptions.size < mostRemembered) this.subscriptions.add(uri);
    if (method === methods.unsubscribe) this.subscriptions.delete(uri);
  }

  #agree(version: unknown): void {
    if (this.#phase !== "ready" || !this.#isShared) this.#phase = "answered";
    if (typeof version !== "string") return;
    // Of several clients, one that does not name its revision in a header is one that need not.
    if (this.#isShared && this.#agreed?.facts.httpVersionHeader === "none") return;
    this.#agreed = handshakeRevision(version);
    this.#unknownVersion = this.#agreed === undefined ? version : undefined;
  }

  #hearTools(listed: WireMessage, { tools }: JsonObject): void {
    for (const [index, definition] of (Array.isArray(tools) ? (tools as readonly unknown[]) : []).entries()) {
      if (!isObject(definition) || typeof definition.name !== "string" || this.tools.size >= mostRemembered) continue;
      this.tools.set(definition.name, { definition, listed, pointer: `${listed.pointer}/result/tools/${index}` });
    }
  }
}

/** The version that a request speaks by its own word, as those of the stateless era do. */
export function namedVersion({ kind, params, from }: WireMessage): string | undefined {
  if (kind !== "req" || from !== "client") return undefined;
  const version = metaOf(params)[metaKeys.protocolVersion];
  return typeof version === "string" ? version : undefined;
}

/** Whether an error has a code that the handshake era does not know. */
function hasStatelessCode(message: WireMessage): boolean {
  const error = message.member("error");
  const code = isObject(error) ? error.code : undefined;
  const [own, before] = [latest, latestHandshake].map(({ codes }) => new Set<unknown>(Object.values(codes)));
  return own?.has(code) === true && before?.has(code) !== true;
}

/** The revision that a handshake settles on; what has no handshake is taken for the newest that has one. */
function handshakeRevision(version: string): Revision | undefined {
  const revision = revisionOf(version);
  return revision?.era === "stateless" ? latestHandshake : revision;
}
