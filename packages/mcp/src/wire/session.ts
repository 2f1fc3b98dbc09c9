import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys } from "../protocol/meta.js";
import { methods, notifications } from "../protocol/methods.js";
import { latest, latestHandshake, revisionOf } from "../revisions/all.js";
import type { Era, Revision } from "../revisions/revision.js";
import type { Sender } from "./frame.js";
import type { HandshakePhase, MessageContext, OpenOperation, Operation, Pairing, WireMessage } from "./message.js";

/** A tool as the server has listed it last, and where. */
export interface ListedTool {
  readonly definition: JsonObject;
  readonly listed: WireMessage;
  readonly pointer: string;
}

/** Keeps a peer that chooses ids, names and addresses from filling the memory. */
const mostRemembered = 100_000;

/** One conversation of a client and a server: who has asked what, and what both have agreed on. */
export class WireSession {
  readonly name: string;
  /** In the order of their requests. */
  readonly operations: Operation[] = [];
  /** By name, as the server has listed them last. */
  readonly tools: Map<string, ListedTool> = new Map();
  /** Addresses that `resources/subscribe` was asked for. */
  readonly subscriptions: Set<string> = new Set();
  /** The last message of each side. */
  readonly last: Record<Sender, WireMessage | undefined> = { client: undefined, server: undefined };
  readonly #bySender: Record<Sender, Map<string, OpenOperation[]>> = { client: new Map(), server: new Map() };
  readonly #byToken: Record<Sender, Map<string, OpenOperation>> = { client: new Map(), server: new Map() };
  /** Ids of what was no message. */
  readonly #noMessages: Record<Sender, Set<string>> = { client: new Set(), server: new Set() };
  readonly #byState = new Map<string, OpenOperation>();
  #phase: HandshakePhase = "new";
  #agreed: Revision | undefined;
  #unknownVersion: string | undefined;
  #clientCapabilities: JsonObject | undefined;
  #serverCapabilities: JsonObject | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get phase(): HandshakePhase {
    return this.#phase;
  }

  /** What `initialize` has settled on, or what the last request has named for itself. */
  get revision(): Revision | undefined {
    return this.#agreed;
  }

  /** The version that was agreed on or named, and that is not known. */
  get unknownVersion(): string | undefined {
    return this.#unknownVersion;
  }

  get era(): Era | undefined {
    return this.#agreed?.era;
  }

  /** As told by `initialize`, or by the last request that speaks for itself. */
  get clientCapabilities(): JsonObject | undefined {
    return this.#clientCapabilities;
  }

  /** As told by the result of `initialize` or of `server/discover`. */
  get serverCapabilities(): JsonObject | undefined {
    return this.#serverCapabilities;
  }

  /** Requests without an answer, in their order. */
  get pending(): readonly Operation[] {
    return this.operations.filter(({ answer }) => answer === undefined);
  }

  /** What is known of a message before it is taken. */
  contextOf(message: WireMessage): MessageContext {
    const { kind } = message;
    // An error without an id, or with null, answers what could not be read: nobody waits for it.
    const isOwed = kind === "res" || (kind === "err" && !this.#answersNoRequest(message));
    const pairing = isOwed ? this.#pairingOf(message) : undefined;
    const answered = pairing?.is === "answer" ? this.#asked(message) : undefined;
    const told = kind === "ntf" ? this.#toldAbout(message) : undefined;
    const operation = answered ?? told;
    return {
      revision: this.#revisionOf(message, operation),
      phase: this.#phase,
      operation,
      pairing,
      reuses: kind === "req" ? this.#find(message.from, message) : undefined,
    };
  }

  /** Whether an error answers what is no message: it has its id, where one could be read. */
  #answersNoRequest({ from, id, idKey = "" }: WireMessage): boolean {
    return id === undefined || id === "null" || this.#noMessages[otherSide(from)].has(idKey);
  }

  /** Takes a message that was judged: what it says holds from here on. Gives the operation that it begins. */
  take(message: WireMessage): Operation | undefined {
    const { kind, context } = message;
    this.last[message.from] = message;
    if (kind === "req") return this.#begin(message);
    if (kind === "none" && message.idKey !== undefined) this.#noMessages[message.from].add(message.idKey);
    const operation = context.operation as OpenOperation | undefined; // Made here, and nowhere else.
    if (operation !== undefined && kind === "ntf") this.#notice(operation, message);
    if (operation !== undefined && (kind === "res" || kind === "err")) this.#answer(operation, message);
    if (kind === "ntf" && message.method === notifications.initialized && this.#phase === "answered")
      this.#phase = "ready";
    return undefined;
  }

  #revisionOf(message: WireMessage, operation: Operation | undefined): Revision | undefined {
    const { method, result } = message;
    // What opens a handshake proposes: a version that nobody knows is a fair proposal.
    if (method === methods.initialize) return revisionOf(String(message.params.protocolVersion)) ?? latestHandshake;
    if (operation?.request.method === methods.initialize && typeof result?.protocolVersion === "string")
      return revisionOf(result.protocolVersion);
    const named = namedVersion(message);
    if (named !== undefined) return revisionOf(named);
    if (operation !== undefined && message.kind !== "ntf") return operation.request.revision;
    if (this.#unknownVersion !== undefined) return undefined;
    return this.#agreed ?? (method === methods.discover ? latest : latestHandshake);
  }

  #begin(request: WireMessage): Operation {
    const { from, method, idKey = "" } = request;
    const previous = this.#roundBefore(request);
    const operation: OpenOperation = {
      number: this.operations.length + 1,
      request,
      answer: undefined,
      notices: [],
      cancel: undefined,
      previous,
      next: undefined,
    };
    if (previous !== undefined) previous.next = operation;
    this.operations.push(operation);
    request.begin(operation);
    this.#remember(idKey, operation);
    const token = tokenKey(metaOf(request.params).progressToken);
    if (token !== undefined) this.#byToken[from].set(token, operation);
    if (from === "client") this.#hearClient(request);
    if (method === methods.initialize && from === "client") this.#phase = "initializing";
    return operation;
  }

  /** Of those with the same id: all that wait, and the newest. Where every request has an exchange, all may have one id. */
  #remember(idKey: string, operation: OpenOperation): void {
    const known = this.#bySender[operation.request.from];
    const waiting = (known.get(idKey) ?? []).filter(({ answer }) => answer === undefined);
    known.set(idKey, [...waiting, operation]);
  }

  #hearClient(request: WireMessage): void {
    const { params, method } = request;
    const version = namedVersion(request);
    if (version !== undefined) this.#settle(version);
    const capabilities =
      method === methods.initialize ? params.capabilities : metaOf(params)[metaKeys.clientCapabilities];
    if (isObject(capabilities)) this.#clientCapabilities = capabilities;
  }

  #settle(version: string): void {
    this.#agreed = revisionOf(version);
    this.#unknownVersion = this.#agreed === undefined ? version : undefined;
  }

  #answer(operation: OpenOperation, answer: WireMessage): void {
    operation.answer = answer;
    const { request } = operation;
    const { result } = answer;
    if (result === undefined) return;
    if (request.from === "client") this.#hearServer(request, answer, result);
    if (typeof result.requestState === "string" && this.#byState.size < mostRemembered)
      this.#byState.set(result.requestState, operation);
  }

  #hearServer(request: WireMessage, answer: WireMessage, result: JsonObject): void {
    const { method, params } = request;
    if (method === methods.initialize) {
      this.#phase = "answered";
      if (typeof result.protocolVersion === "string") this.#settle(result.protocolVersion);
    }
    if ((method === methods.initialize || method === methods.discover) && isObject(result.capabilities))
      this.#serverCapabilities = result.capabilities;
    if (method === methods.listTools) this.#hearTools(answer, result);
    const { uri } = params;
    if (typeof uri !== "string") return;
    if (method === methods.subscribe && this.subscriptions.size < mostRemembered) this.subscriptions.add(uri);
    if (method === methods.unsubscribe) this.subscriptions.delete(uri);
  }

  #hearTools(listed: WireMessage, { tools }: JsonObject): void {
    for (const [index, definition] of (Array.isArray(tools) ? (tools as readonly unknown[]) : []).entries()) {
      if (!isObject(definition) || typeof definition.name !== "string" || this.tools.size >= mostRemembered) continue;
      this.tools.set(definition.name, { definition, listed, pointer: `${listed.pointer}/result/tools/${index}` });
    }
  }

  #notice(operation: OpenOperation, message: WireMessage): void {
    if (message.method === notifications.cancelled) operation.cancel = message;
    else operation.notices.push(message);
  }

  #pairingOf(response: WireMessage): Pairing {
    const asked = this.#asked(response);
    if (asked !== undefined)
      return asked.answer === undefined ? { is: "answer" } : { is: "second answer", operation: asked };
    const other = this.#find(otherSide(response.from), response, otherType(response.idKey));
    return other === undefined ? { is: "unknown" } : { is: "other type", operation: other };
  }

  /** The request that a response is for: of those with its id one that waits, and the one of the same exchange first. */
  #asked(response: WireMessage): OpenOperation | undefined {
    return this.#find(otherSide(response.from), response);
  }

  #find(from: Sender, message: WireMessage, key = message.idKey): OpenOperation | undefined {
    const all = (key === undefined ? undefined : this.#bySender[from].get(key)) ?? [];
    const exchange = message.frame.entry.req;
    const near = exchange === undefined ? [] : all.filter(({ request }) => request.frame.entry.req === exchange);
    const candidates = near.length > 0 ? near : all;
    return candidates.find(({ answer }) => answer === undefined) ?? candidates.at(-1);
  }

  /** What a notification names: by the token of its progress, by the id that it cancels, or by its subscription. */
  #toldAbout(message: WireMessage): OpenOperation | undefined {
    const { from, method, params } = message;
    if (method === notifications.progress)
      return this.#byToken[otherSide(from)].get(tokenKey(params.progressToken) ?? "");
    if (method === notifications.cancelled) return this.#byId(from, params.requestId);
    return this.#byId(otherSide(from), metaOf(params)[metaKeys.subscriptionId]);
  }

  #byId(from: Sender, id: unknown): OpenOperation | undefined {
    const key = tokenKey(id);
    return key === undefined ? undefined : this.#bySender[from].get(key)?.at(-1);
  }

  /** The operation whose answer has asked for what this request brings. */
  #roundBefore({ params, from, method }: WireMessage): OpenOperation | undefined {
    const { requestState, inputResponses } = params;
    if (typeof requestState === "string") return this.#byState.get(requestState);
    if (!isObject(inputResponses)) return undefined;
    return (this.operations as OpenOperation[]).findLast(
      ({ request, answer, next }) =>
        request.from === from &&
        request.method === method &&
        answer?.result?.resultType === "input_required" &&
        next === undefined,
    );
  }
}

/** The version that a request speaks by its own word, as those of the stateless era do. */
export function namedVersion({ kind, params, from }: WireMessage): string | undefined {
  if (kind !== "req" || from !== "client") return undefined;
  const version = metaOf(params)[metaKeys.protocolVersion];
  return typeof version === "string" ? version : undefined;
}

/** The `_meta` of params or of a result. */
export function metaOf(holder: JsonObject): JsonObject {
  const { _meta: meta } = holder;
  return isObject(meta) ? meta : {};
}

/** The side that hears what a side sends. */
export function otherSide(side: Sender): Sender {
  return side === "client" ? "server" : "client";
}

/** The key of an id or a token that a value holds. */
function tokenKey(token: unknown): string | undefined {
  if (typeof token === "string") return `string ${token}`;
  return typeof token === "number" ? `number ${token}` : undefined;
}

/** The key of the id that is written alike and has the other type. */
function otherType(key = ""): string {
  if (key.startsWith("number ")) return `string ${key.slice("number ".length)}`;
  return key.startsWith("string ") ? `number ${key.slice("string ".length)}` : "";
}
