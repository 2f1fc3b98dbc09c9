import { isObject, type JsonObject, metaKeys, methods, notifications } from "@parlance/mcp/protocol";
import { otherSide, type Sender } from "../recording/frame.js";
import { refusalOf } from "./exchange.js";
import type { OpenOperation, Pairing, RecordedOperation, WireMessage } from "./message.js";
import { SettledOperation } from "./settled-operation.js";

/** Bounds the memory that a peer can fill by choosing ids, names and addresses. */
export const mostRemembered = 100_000;

/** The number of newest answered operations that stay complete when older ones are abridged. */
const mostRecent = 1_000;

/** The requests of a session, paired with their responses and notifications. */
export class Operations {
  readonly #keepsAll: boolean;
  #count = 0;
  /** In the order of the requests. */
  #all: OpenOperation[] = [];
  /** Answered operations that can be replaced by a `SettledOperation`, in the order of their responses. */
  readonly #recent: {
    readonly operation: OpenOperation;
    readonly settled: SettledOperation;
    readonly token: unknown;
  }[] = [];
  readonly #waiting: Record<Sender, Set<OpenOperation>> = { client: new Set(), server: new Set() };
  readonly #byId: Record<Sender, Map<string, RecordedOperation[]>> = { client: new Map(), server: new Map() };
  readonly #byToken: Record<Sender, Map<string, RecordedOperation>> = { client: new Map(), server: new Map() };
  /** Ids of frames that were not messages. */
  readonly #noMessages: Record<Sender, Set<string>> = { client: new Set(), server: new Set() };
  readonly #byState = new Map<string, OpenOperation>();
  readonly #byExchange = new Map<number, OpenOperation>();
  readonly #times = new Times();

  /**
   * @param keepsAll whether operations stay complete long after their response, which takes much memory in a long conversation
   */
  constructor(keepsAll: boolean) {
    this.#keepsAll = keepsAll;
  }

  /** In the order of the requests, without abridged operations. */
  get all(): readonly RecordedOperation[] {
    return this.#all;
  }

  /** Requests without a response, in order. */
  get waiting(): readonly RecordedOperation[] {
    const { client, server } = this.#waiting;
    return [...client, ...server].sort((one, other) => one.number - other.number);
  }

  /** The oldest request of a side without a response. */
  oldestWaiting(from: Sender): RecordedOperation | undefined {
    const [oldest] = this.#waiting[from];
    return oldest;
  }

  /** Begins the operation of a request. */
  begin(request: WireMessage): void {
    const { from, idKey = "", context } = request;
    const previous = context.previous as OpenOperation | undefined; // Made here, and nowhere else.
    this.#count += 1;
    const operation: OpenOperation = {
      number: this.#count,
      request,
      answer: undefined,
      notices: [],
      cancel: undefined,
      previous,
      next: undefined,
    };
    if (previous !== undefined) previous.next = operation;
    this.#all.push(operation);
    request.begin(operation);
    this.#replaceOriginal(request);
    this.#waiting[from].add(operation);
    // Of requests with the same id, keep all that are pending, and the newest. On separate HTTP exchanges, all may have one id.
    const waiting = (this.#byId[from].get(idKey) ?? []).filter(
      (each) => each.answer === undefined && !isReplacedBy(request, each.request),
    );
    this.#byId[from].set(idKey, [...waiting, operation]);
    const token = tokenKey(metaOf(request.params).progressToken);
    if (token !== undefined) this.#byToken[from].set(token, operation);
    const exchange = request.frame.entry.req;
    if (exchange !== undefined && from === "client") this.#byExchange.set(exchange, operation);
  }

  /** A request that the recorder has changed never arrived as it was: no response to the original is due. */
  #replaceOriginal(request: WireMessage): void {
    if (request.frame.entry.of === undefined) return;
    const waiting = this.#waiting[request.from];
    for (const operation of waiting) if (isReplacedBy(request, operation.request)) waiting.delete(operation);
  }

  /** Ends an operation. */
  end(operation: RecordedOperation, answer: WireMessage): void {
    const open = operation as OpenOperation; // Made here, and nowhere else.
    open.answer = answer;
    const { method, frame, from } = open.request;
    this.#waiting[from].delete(open);
    if (method !== undefined) this.#times.add(method, answer.frame.entry.t - (frame.entry.t1 ?? frame.entry.t));
    const state = answer.result?.requestState;
    if (typeof state === "string" && this.#byState.size < mostRemembered) this.#byState.set(state, open);
    const settled = this.#keepsAll ? undefined : SettledOperation.of(open, answer);
    if (settled === undefined) return;
    this.#recent.push({ operation: open, settled, token: metaOf(open.request.params).progressToken });
    if (this.#recent.length >= 2 * mostRecent) this.#abridge();
  }

  /** Abridges all answered operations but the newest, except those with later messages. */
  #abridge(): void {
    const abridged = new Set<RecordedOperation>();
    for (const { operation, settled, token } of this.#recent.splice(0, mostRecent)) {
      const { request, notices, cancel, next } = operation;
      if (notices.length > 0 || cancel !== undefined || next !== undefined) continue;
      abridged.add(operation);
      replace(this.#byId[request.from].get(request.idKey ?? "") ?? [], operation, settled);
      const key = tokenKey(token);
      if (key !== undefined && this.#byToken[request.from].get(key) === operation)
        this.#byToken[request.from].set(key, settled);
      const { req: exchange } = request.frame.entry;
      if (exchange !== undefined && this.#byExchange.get(exchange) === operation) this.#byExchange.delete(exchange);
    }
    this.#all = this.#all.filter((operation) => !abridged.has(operation));
  }

  /** The latency that 95 % of the requests of a method had so far. */
  usualTime(method: string): number | undefined {
    return this.#times.usual(method);
  }

  /** Adds a notification about an operation. */
  note(operation: RecordedOperation, message: WireMessage): void {
    const open = operation as OpenOperation; // Made here, and nowhere else.
    if (message.method === notifications.cancelled) open.cancel = message;
    else open.notices.push(message);
  }

  /** Remembers a frame that is not a message: an error may answer it. */
  noteNoMessage({ from, idKey }: WireMessage): void {
    if (idKey !== undefined && this.#noMessages[from].size < mostRemembered) this.#noMessages[from].add(idKey);
  }

  /** Pairs a response with the requests of the other side; undefined for an error that answers no request. */
  pairingOf(response: WireMessage): Pairing | undefined {
    if (response.kind === "err" && this.#answersNoMessage(response)) return undefined;
    const side = otherSide(response.from);
    const asked = this.#sameId(side, response);
    if (asked !== undefined) {
      const isFirst = asked.answer === undefined || isReplacedBy(response, asked.answer);
      return { is: isFirst ? "answer" : "second answer", operation: asked };
    }
    const other = this.#sameId(side, response, otherType(response.idKey));
    return other === undefined ? { is: "unknown" } : { is: "other type", operation: other };
  }

  /**
   * Whether an error answers a frame that is not a message. Without an id, or with null, it answers a frame that could not be
   * parsed; with an id, an invalid message with this id.
   */
  #answersNoMessage({ from, id, idKey = "" }: WireMessage): boolean {
    return id === undefined || id === "null" || this.#noMessages[otherSide(from)].has(idKey);
  }

  /** The request of a side with the id of a message, or with another id: preferably in the same HTTP exchange, and pending. */
  #sameId(from: Sender, message: WireMessage, key: string | undefined = message.idKey): RecordedOperation | undefined {
    const all = (key === undefined ? undefined : this.#byId[from].get(key)) ?? [];
    const exchange = message.frame.entry.req;
    const near = exchange === undefined ? [] : all.filter(({ request }) => request.frame.entry.req === exchange);
    const candidates = near.length > 0 ? near : all;
    return candidates.find(({ answer }) => answer === undefined) ?? candidates.at(-1);
  }

  /** The earlier request of the same side with the same id. A request that HTTP refused does not count: its id was never used. */
  reusedBy(request: WireMessage): RecordedOperation | undefined {
    const before = this.#sameId(request.from, request);
    if (before === undefined || isReplacedBy(request, before.request)) return undefined;
    return refusalOf(before) === undefined ? before : undefined;
  }

  /** The newest request of a side with an id. */
  named(from: Sender, id: unknown): RecordedOperation | undefined {
    const key = tokenKey(id);
    return key === undefined ? undefined : this.#byId[from].get(key)?.at(-1);
  }

  /** The newest request of a side with a progress token. */
  withToken(from: Sender, token: unknown): RecordedOperation | undefined {
    return this.#byToken[from].get(tokenKey(token) ?? "");
  }

  /** The operation that a notification names: by a progress token, by the id that it cancels, or by a subscription. */
  operationOf(message: WireMessage): RecordedOperation | undefined {
    const { from, method, params } = message;
    const other = otherSide(from);
    if (method === notifications.progress) {
      const near = this.#sameExchange(message);
      const isMeant = near !== undefined && sameToken(metaOf(near.request.params).progressToken, params.progressToken);
      return isMeant ? near : this.withToken(other, params.progressToken);
    }
    if (method === notifications.cancelled) {
      const listening = from === "server" ? this.named("client", params.requestId) : undefined;
      const isListening = listening?.request.method === methods.listen;
      return this.named(from, params.requestId) ?? (isListening ? listening : undefined);
    }
    const subscription = metaOf(params)[metaKeys.subscriptionId];
    const near = this.#sameExchange(message);
    return near?.request.idKey === tokenKey(subscription) ? near : this.named(other, subscription);
  }

  /** The request of the HTTP exchange on which a notification arrives: other requests may have the same id and token. */
  #sameExchange({ frame, from }: WireMessage): RecordedOperation | undefined {
    const exchange = frame.entry.req;
    return from === "server" && exchange !== undefined ? this.#byExchange.get(exchange) : undefined;
  }

  /** The operation whose result requested the input that a request contains. */
  roundBefore({ params, from, method }: WireMessage): RecordedOperation | undefined {
    const { requestState, inputResponses } = params;
    if (typeof requestState === "string") return this.#byState.get(requestState);
    if (!isObject(inputResponses)) return undefined;
    const isOpen = ({ request, answer, next }: RecordedOperation): boolean =>
      request.from === from &&
      request.method === method &&
      answer?.result?.resultType === "input_required" &&
      next === undefined;
    const open = this.#all.filter(isOpen);
    // With several clients, each continues its own operations.
    const same = open.filter(({ request }) => asks(request.params) === asks(params));
    const candidates = same.length > 0 ? same : open;
    // Prefer operations without a `requestState`: the request would have had to return it.
    return candidates.findLast(({ answer }) => answer?.result?.requestState === undefined) ?? candidates.at(-1);
  }
}

/** Whether the recorder sent a message in the place of another one. */
function isReplacedBy({ frame }: WireMessage, original: WireMessage): boolean {
  return frame.entry.of !== undefined && frame.entry.of === original.frame.n;
}

function replace<Item>(items: Item[], item: Item, by: Item): void {
  const at = items.indexOf(item);
  if (at >= 0) items[at] = by;
}

/** The `_meta` of params or of a result. */
export function metaOf(holder: JsonObject): JsonObject {
  const { _meta: meta } = holder;
  return isObject(meta) ? meta : {};
}

/** A key that is equal for all rounds of a request. */
function asks({ _meta, inputResponses, requestState, ...params }: JsonObject): string {
  return JSON.stringify(params);
}

/** The key of an id or a token that a value holds. */
function tokenKey(token: unknown): string | undefined {
  if (typeof token === "string") return `string ${token}`;
  return typeof token === "number" ? `number ${token}` : undefined;
}

function sameToken(one: unknown, other: unknown): boolean {
  return one !== undefined && tokenKey(one) === tokenKey(other);
}

/** The key of the id with the same text and the other type. */
function otherType(key = ""): string {
  if (key.startsWith("number ")) return `string ${key.slice("number ".length)}`;
  return key.startsWith("string ") ? `number ${key.slice("string ".length)}` : "";
}

/** Fewer samples say nothing about what is usual. */
const fewest = 20;
/** Only the last samples count: the usual latency changes. */
const most = 200;
/** Bounds the memory that a peer can fill by inventing methods. */
const mostMethods = 100;

/** Latencies of requests, by method. */
class Times {
  /** The latencies of each method, in order of time and sorted. */
  readonly #byMethod = new Map<string, { readonly latest: number[]; readonly sorted: number[] }>();

  add(method: string, milliseconds: number): void {
    let known = this.#byMethod.get(method);
    if (known === undefined) {
      if (this.#byMethod.size >= mostMethods) return;
      known = { latest: [], sorted: [] };
      this.#byMethod.set(method, known);
    }
    const { latest, sorted } = known;
    latest.push(milliseconds);
    sorted.splice(indexIn(sorted, milliseconds), 0, milliseconds);
    const oldest = latest.length > most ? latest.shift() : undefined;
    if (oldest !== undefined) sorted.splice(indexIn(sorted, oldest), 1);
  }

  /** The 95th percentile, if there are enough. */
  usual(method: string): number | undefined {
    const { sorted = [] } = this.#byMethod.get(method) ?? {};
    return sorted.length < fewest ? undefined : sorted[Math.floor(sorted.length * 0.95)];
  }
}

/** The index of the first number that is not smaller. */
function indexIn(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? value) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
