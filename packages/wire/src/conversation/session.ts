import { latest, latestHandshake } from "@parlance/mcp";
import {
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
import { changeableLists } from "./capability-use.js";
import { Contract } from "./contract.js";
import { headerOf, isTaken, spokenIn } from "./exchange.js";
import type { HandshakePhase, HttpExchange, MessageContext, RecordedOperation, WireMessage } from "./message.js";
import { metaOf, mostRemembered, Operations } from "./operations.js";
import { type ServerProcess, unseenProcess } from "./server-process.js";
import { SignIns } from "./sign-in.js";

/** A tool as the server listed it last, with the place of its definition. */
export interface ListedTool {
  /** The definition, as the server listed it. */
  readonly definition: JsonObject;
  /** The response that listed it. */
  readonly listed: WireMessage;
  /** A JSON pointer to the definition in that response. */
  readonly pointer: string;
}

/** A list as the server gave it last, whole and in one response. */
export interface KnownList {
  /** The response with the list. */
  readonly listed: WireMessage;
  /** The definitions, as the server listed them. */
  readonly items: readonly unknown[];
}

/** The HTTP part of a session. */
export interface HttpSession {
  /** The session id, from the response to `initialize`. */
  id: string | undefined;
  /** Whether the session uses HTTP+SSE, the transport of the first revision. */
  isLegacy: boolean;
  /** The response that shows that the server has ended the session. */
  ended:
    | {
        /** The number of that response. */
        readonly n: number;
        /** The request or status that ended the session. */
        readonly by: "DELETE" | 404;
      }
    | undefined;
}

/** A cancellation of a request that was never sent. */
interface VainCancellation {
  /** The notification. */
  readonly message: WireMessage;
  /** The id in it, as JSON; undefined if there is none. */
  readonly id: string | undefined;
}

/** One session of a client and a server: its operations, and what both have negotiated. */
export class WireSession {
  /** The name of the connection in the recording. */
  readonly name: string;
  /** The tools by name, as of the latest list. */
  readonly tools: Map<string, ListedTool> = new Map();
  /** The lists of which no change was notified since, by the method that lists them. */
  readonly lists: Map<string, KnownList> = new Map();
  /** URIs of `resources/subscribe` requests. */
  readonly subscriptions: Set<string> = new Set();
  /** The cursors that the server has returned. */
  readonly cursors: Set<string> = new Set();
  /** The declared capabilities of both sides, and their use. */
  readonly contract: Contract = new Contract();
  /** The process of the server. The conversation replaces it with each observation of the process. */
  process: ServerProcess = unseenProcess;
  /** The sign-ins of the session. */
  readonly signIns: SignIns;
  /** The HTTP part of the session. */
  readonly http: HttpSession = { id: undefined, isLegacy: false, ended: undefined };
  /** The last message of each side. */
  readonly last: Record<Sender, WireMessage | undefined> = { client: undefined, server: undefined };
  /** The last notification of each side. */
  readonly lastNotification: Record<Sender, WireMessage | undefined> = { client: undefined, server: undefined };
  /** The responses that notifications have got, which have none. */
  readonly notificationAnswers: WeakMap<WireMessage, WireMessage> = new WeakMap();
  /** The last cancellation of each side that names no request of it, and the id in it as JSON. */
  readonly lastVainCancellation: Record<Sender, VainCancellation | undefined> = {
    client: undefined,
    server: undefined,
  };
  /** The number of the last frame of each side that is not a message; 0 if there is none. */
  readonly lastOther: Record<Sender, number> = { client: 0, server: 0 };
  readonly #requests: Operations;
  #phase: HandshakePhase = "new";
  #agreed: Revision | undefined;
  #named: Revision | undefined;
  #unknownVersion: string | undefined;
  #clientCapabilities: JsonObject | undefined;
  #serverCapabilities: JsonObject | undefined;
  #isWhole = true;
  #isShared = false;
  /** The server has answered a stateless request with a result. */
  #speaksStateless = false;
  #logLevel: string | undefined;

  /**
   * @param keepsAll whether `operations` keeps those that were answered long ago
   * @param server the URL of the server, as far as it is known
   */
  constructor(name: string, keepsAll = true, server?: string) {
    this.name = name;
    this.signIns = new SignIns(server);
    this.#requests = new Operations(keepsAll);
  }

  /** The phase of the handshake. */
  get phase(): HandshakePhase {
    return this.#phase;
  }

  /** The revision negotiated by `initialize`, or else the one that the last request names. */
  get revision(): Revision | undefined {
    return this.#agreed ?? this.#named;
  }

  /** The negotiated or named version, if this library does not know it. */
  get unknownVersion(): string | undefined {
    return this.#unknownVersion;
  }

  /** The client's capabilities, from `initialize` or from the `_meta` of the last stateless request. */
  get clientCapabilities(): JsonObject | undefined {
    return this.#clientCapabilities;
  }

  /** The server's capabilities, from the result of `initialize` or `server/discover`. */
  get serverCapabilities(): JsonObject | undefined {
    return this.#serverCapabilities;
  }

  /** In the order of their requests; a conversation without `keepRows` drops those that were answered long ago. */
  get operations(): readonly RecordedOperation[] {
    return this.#requests.all;
  }

  /** Requests without an answer, in their order. */
  get pending(): readonly RecordedOperation[] {
    return this.#requests.waiting;
  }

  /** The oldest request of a side without an answer. */
  oldestPending(from: Sender): RecordedOperation | undefined {
    return this.#requests.oldestWaiting(from);
  }

  /** The least severe log message that the client has asked for, with `logging/setLevel`. */
  get logLevel(): string | undefined {
    return this.#logLevel;
  }

  /** Whether the recording is complete, as far as is known. If not, no rule may conclude that something is absent. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /**
   * Whether messages of several clients may be mixed: over HTTP without session ids, they cannot be distinguished. Rules must not
   * compare messages of different clients.
   */
  get isShared(): boolean {
    return this.#isShared;
  }

  /** Marks the session as incomplete: entries are missing from the recording. */
  miss(): void {
    this.#isWhole = false;
  }

  /** The newest request of a side with a progress token. */
  requestWithToken(from: Sender, token: unknown): RecordedOperation | undefined {
    return this.#requests.withToken(from, token);
  }

  /** The 95th percentile of the latency of a method, in milliseconds; undefined while there are too few samples. */
  usualTime(method: string): number | undefined {
    return this.#requests.usualTime(method);
  }

  /** The context of a message, before the session takes it. */
  contextOf(message: WireMessage, exchange: HttpExchange | undefined): MessageContext {
    const { kind } = message;
    const isResponse = kind === "res" || kind === "err";
    const pairing = isResponse ? this.#requests.pairingOf(message) : undefined;
    const answered = pairing?.is === "answer" ? pairing.operation : undefined;
    const operation = kind === "ntf" ? this.#requests.operationOf(message) : answered;
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

  /** Called with a message before it is judged: detects that it may come from another client. */
  observe({ from, method, context: { exchange, phase } }: WireMessage): void {
    if (from !== "client" || method !== methods.initialize || phase === "new") return;
    if (exchange === undefined || this.http.id !== undefined || this.http.isLegacy) return;
    this.#isShared = true;
    this.#logLevel = undefined;
  }

  /** Takes the HTTP response of an exchange, which may refuse the handshake or end the session. */
  answeredByHttp(exchange: HttpExchange): void {
    const { request, response } = exchange;
    if (response !== undefined && headerOf(request, mcpHeaders.session) !== undefined) {
      if (request.method === "DELETE" && isTaken(exchange)) this.http.ended = { n: response.n, by: "DELETE" };
      else if (response.status === 404) this.http.ended ??= { n: response.n, by: 404 };
    }
    if (isTaken(exchange) || this.#isShared || this.#phase !== "initializing") return;
    if (exchange.messages.some(({ method }) => method === methods.initialize)) this.#phase = "new";
  }

  /** Takes a message after it was judged; its effects hold from here on. */
  take(message: WireMessage): void {
    const { kind, context, method, from } = message;
    this.last[from] = message;
    if (message.kind === "ntf") this.lastNotification[from] = message;
    this.contract.take(message, this);
    if (kind === "req") {
      this.#requests.begin(message);
      if (from === "client") this.#takeClient(message);
      return;
    }
    if (kind === "none") {
      this.lastOther[from] = message.frame.n;
      this.#requests.noteNoMessage(message);
    }
    const { operation } = context;
    if (method === notifications.cancelled && operation === undefined)
      this.lastVainCancellation[from] = { message, id: JSON.stringify(message.params.requestId) };
    if (operation !== undefined && kind === "ntf") this.#requests.note(operation, message);
    if (operation !== undefined && (kind === "res" || kind === "err")) this.#answer(operation, message);
    if (kind === "ntf" && method === notifications.initialized && this.#phase === "answered") this.#phase = "ready";
    for (const { list, changed } of changeableLists) if (kind === "ntf" && method === changed) this.lists.delete(list);
  }

  #revisionOf(
    message: WireMessage,
    operation: RecordedOperation | undefined,
    exchange: HttpExchange | undefined,
  ): Revision | undefined {
    const { method, result } = message;
    const named = namedVersion(message);
    if (named !== undefined) return revisionOf(named);
    // `initialize` only proposes a version, also if it is unknown or stateless.
    if (method === methods.initialize)
      return handshakeRevision(String(message.params.protocolVersion)) ?? latestHandshake;
    if (operation?.request.method === methods.initialize && typeof result?.protocolVersion === "string")
      return handshakeRevision(result.protocolVersion);
    const spoken = operation?.request.revision ?? (exchange && spokenIn(exchange));
    if (spoken !== undefined) {
      // A handshake server may refuse `server/discover` with any error.
      const mayNotKnow = message.kind === "err" && message.from === "server" && !this.#speaksStateless;
      const isOther = spoken.era === "stateless" && mayNotKnow && !hasStatelessCode(message);
      return isOther ? (this.#agreed ?? latestHandshake) : spoken;
    }
    if (operation !== undefined) return undefined;
    if (this.#unknownVersion !== undefined) return undefined;
    if (method === methods.discover) return latest;
    return this.revision ?? latestHandshake;
  }

  #takeClient(request: WireMessage): void {
    const { params, method } = request;
    const version = namedVersion(request);
    if (version !== undefined) {
      this.#named = revisionOf(version);
      this.#unknownVersion = this.#named === undefined ? version : undefined;
    } else if (method === methods.initialize && !this.#isShared) this.#phase = "initializing";
    const capabilities =
      method === methods.initialize ? params.capabilities : metaOf(params)[metaKeys.clientCapabilities];
    // A request that names its own version does not change the negotiated one.
    if (!isObject(capabilities) || (method !== methods.initialize && this.#agreed !== undefined)) return;
    const isKnown = !this.#isShared || JSON.stringify(capabilities) === JSON.stringify(this.#clientCapabilities);
    this.#clientCapabilities = isKnown ? capabilities : undefined;
  }

  #answer(operation: RecordedOperation, answer: WireMessage): void {
    this.#requests.end(operation, answer);
    const { request } = operation;
    const { result } = answer;
    if (request.from !== "client") return;
    if (result !== undefined) this.#takeServer(request, answer, result);
    // A handshake that was refused may be tried again.
    else if (request.method === methods.initialize && this.#phase === "initializing" && !this.#isShared)
      this.#phase = "new";
  }

  #takeServer(request: WireMessage, answer: WireMessage, result: JsonObject): void {
    const { method, params } = request;
    if (request.revision?.era === "stateless") this.#speaksStateless = true;
    if (method === methods.initialize) this.#agree(result.protocolVersion);
    if ((method === methods.initialize || method === methods.discover) && isObject(result.capabilities))
      this.#serverCapabilities = result.capabilities;
    if (method === methods.listTools) this.#takeTools(answer, result);
    const { list, member } = changeableLists.find((each) => each.list === method) ?? {};
    if (list !== undefined && member !== undefined) this.#takeList(list, request, answer, result[member]);
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
    // With several clients, a request without a version header comes from a client whose revision has no such header.
    if (this.#isShared && this.#agreed?.facts.httpVersionHeader === "none") return;
    this.#agreed = handshakeRevision(version);
    this.#unknownVersion = this.#agreed === undefined ? version : undefined;
  }

  /** A page of a list tells of no change: its neighbours are not known. */
  #takeList(list: string, { params }: WireMessage, listed: WireMessage, items: unknown): void {
    const isWhole = params.cursor === undefined && listed.result?.nextCursor === undefined;
    if (isWhole && Array.isArray(items)) this.lists.set(list, { listed, items });
    else this.lists.delete(list);
  }

  #takeTools(listed: WireMessage, { tools }: JsonObject): void {
    for (const [index, definition] of (Array.isArray(tools) ? (tools as readonly unknown[]) : []).entries()) {
      if (!isObject(definition) || typeof definition.name !== "string" || this.tools.size >= mostRemembered) continue;
      this.tools.set(definition.name, { definition, listed, pointer: `${listed.pointer}/result/tools/${index}` });
    }
  }
}

/** The version that a request names in its `_meta`, as in the stateless era. */
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

/** The revision that a handshake negotiates; a stateless one counts as the newest handshake revision. */
function handshakeRevision(version: string): Revision | undefined {
  const revision = revisionOf(version);
  return revision?.era === "stateless" ? latestHandshake : revision;
}
