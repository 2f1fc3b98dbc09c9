import { isObject, type JsonObject, metaKeys, methods, notifications } from "@parlance/mcp/protocol";
import type { Sender } from "../recording/frame.js";
import { getOrInsert } from "./get-or-insert.js";
import type { HttpExchange, RecordedOperation, WireMessage } from "./message.js";
import { metaOf } from "./operations.js";
import type { Row } from "./row.js";
import type { WireSession } from "./session.js";

/**
 * The content of a part of a span. A `round` contains the input that an earlier result requested; a `question` is a request of
 * the other side.
 */
export type SpanPartKind = "request" | "round" | "question" | "task" | "exchange";

/** One request of a span with its response; in a sign-in, one exchange of HTTP. */
export interface SpanPart {
  /** The content of the part. */
  readonly kind: SpanPartKind;
  /** The number of its first row. */
  readonly n: number;
  /** The side that sends the request. */
  readonly from: Sender;
  /** Milliseconds since the recording began. */
  readonly at: number;
  /** When its response arrived; undefined without one. */
  readonly until: number | undefined;
  /** The operation; undefined for an exchange of a sign-in. */
  readonly operation: RecordedOperation | undefined;
  /** The HTTP exchange that carries it; undefined for another transport. */
  readonly exchange: HttpExchange | undefined;
}

/** One operation as its user sees it: from the first request to the last response. */
export interface Span {
  /** The kind of span. A sign-in includes the exchanges with the authorization server, from the 401 response on. */
  readonly kind: "operation" | "sign-in";
  /** The number of its first row. */
  readonly n: number;
  /** The side that began it. */
  readonly from: Sender;
  /** The lane in which it is drawn beside spans of the same time, from 0: the lowest that was free. */
  readonly lane: number;
  /** Milliseconds since the recording began. */
  readonly at: number;
  /** When it ended; undefined while it is open. */
  readonly until: number | undefined;
  /** Its requests with their responses, in order. */
  readonly parts: readonly SpanPart[];
  /** Its progress and other notifications, in order. */
  readonly notices: readonly WireMessage[];
  /** The numbers of all its rows, in order. */
  readonly rows: readonly number[];
  /** Whether one of its rows breaks a requirement. */
  readonly isBad: boolean;
}

/** The timeline's own view of a part: it alone may change it. */
interface OpenPart extends SpanPart {
  until: number | undefined;
}

class OpenSpan implements Span {
  readonly kind: Span["kind"];
  readonly n: number;
  readonly from: Sender;
  readonly lane: number;
  readonly at: number;
  readonly parts: OpenPart[] = [];
  readonly notices: WireMessage[] = [];
  readonly rows: number[] = [];
  until: number | undefined = undefined;
  /** The event that it waits for besides the response to its last request: the end of a task, the next round, the end of a sign-in. */
  waitsFor: "task" | "round" | "sign-in" | undefined = undefined;
  /** The verdicts of its rows: those on the head of an HTTP request come later. */
  readonly #verdicts: Row["verdicts"][] = [];

  constructor(first: Pick<Span, "kind" | "n" | "from" | "lane" | "at">) {
    this.kind = first.kind;
    this.n = first.n;
    this.from = first.from;
    this.lane = first.lane;
    this.at = first.at;
  }

  get isBad(): boolean {
    return this.#verdicts.some((verdicts) => verdicts.some(({ level }) => level === "must"));
  }

  /** Adds a row, unless it was added before. */
  add({ n, verdicts, kind }: Row): void {
    if (n === undefined || this.rows.at(-1) === n) return;
    this.rows.push(n);
    if (verdicts.length > 0 || kind === "http") this.#verdicts.push(verdicts);
  }

  /** Ends the span if nothing keeps it open. */
  settle(): void {
    const isOver = this.waitsFor === undefined && this.parts.every(({ until }) => until !== undefined);
    this.until = isOver ? this.parts.reduce((last, { until = 0 }) => Math.max(last, until), this.at) : undefined;
  }
}

/** The state of one session. */
interface Tracked {
  /** Operations of the client without an answer, in order. */
  readonly running: Set<RecordedOperation>;
  readonly byTask: Map<string, OpenSpan>;
  /** When HTTP asked for authorization; undefined once a request was accepted. */
  unauthorizedAt: number | undefined;
  signIn: OpenSpan | undefined;
}

/** The most lanes; more spans at the same time share the last one. */
const mostLanes = 64;

/** The statuses of a task that are final. */
const finalStatuses: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);

/** Requests for which a server needs no input. */
const neverAsking: ReadonlySet<string | undefined> = new Set([methods.ping, methods.listen, methods.initialize]);

/**
 * The spans of a conversation, found in its rows. A request with its progress, the input requests of the server, further rounds
 * and the task that it begins are one span, and so is a sign-in.
 *
 * @example
 * const waiting = conversation.timeline.spans.filter(({ until }) => until === undefined);
 */
export class Timeline {
  readonly #source: readonly Row[];
  #taken = 0;
  readonly #spans: OpenSpan[] = [];
  /** The last span of each lane. */
  readonly #lanes: OpenSpan[] = [];
  readonly #byOperation = new Map<RecordedOperation, OpenSpan>();
  readonly #byExchange = new Map<HttpExchange, OpenSpan>();
  readonly #byRow = new Map<number, OpenSpan>();
  /** The open parts, with their spans. */
  readonly #parts = new Map<RecordedOperation | HttpExchange, { readonly part: OpenPart; readonly span: OpenSpan }>();
  /** The first rows of exchanges whose message has not arrived. */
  readonly #unplaced = new Map<HttpExchange, Row[]>();
  readonly #tracked = new Map<WireSession | undefined, Tracked>();

  /** @param rows in their order; more may be added at their end */
  constructor(rows: readonly Row[]) {
    this.#source = rows;
  }

  /** The spans, in the order in which they began. */
  get spans(): readonly Span[] {
    return this.#spans;
  }

  /** The span of a row; undefined for a row without a span. */
  spanOf(n: number): Span | undefined {
    return this.#byRow.get(n);
  }

  /** Takes the rows that were added. */
  update(): void {
    for (; this.#taken < this.#source.length; this.#taken += 1) {
      const row = this.#source[this.#taken];
      if (row !== undefined) this.#take(row);
    }
  }

  #take(row: Row): void {
    const { exchange, messages } = row;
    for (const message of messages) this.#takeMessage(message, row);
    if (exchange === undefined) return;
    const span = this.#byExchange.get(exchange);
    if (span !== undefined) this.#add(span, row);
    else if (exchange.end === row.entry) this.#unplaced.delete(exchange);
    else getOrInsert(this.#unplaced, exchange, () => []).push(row);
    if (row.kind === "http") this.#takeHttp(exchange, row);
  }

  #takeMessage(message: WireMessage, row: Row): void {
    const { kind, operation } = message;
    const tracked = this.#track(row);
    if (kind === "req" && operation !== undefined) this.#begin(message, operation, tracked);
    else if (kind === "ntf") this.#note(message, row, tracked);
    else if (operation !== undefined) this.#end(operation, message, tracked);
    const span = this.#spanOfMessage(message, tracked);
    if (span === undefined) return;
    const { exchange } = message.context;
    if (exchange !== undefined && message.from === "client") this.#place(exchange, span);
    this.#add(span, row);
  }

  #spanOfMessage(message: WireMessage, { byTask }: Tracked): OpenSpan | undefined {
    const { concerns } = message;
    if (concerns !== undefined) return this.#byOperation.get(concerns);
    return message.kind === "ntf" ? byTask.get(taskIdIn(message.params) ?? "") : undefined;
  }

  #begin(request: WireMessage, operation: RecordedOperation, tracked: Tracked): void {
    const { from, frame } = request;
    const { n, entry } = frame;
    const earlier = this.#earlier(request, operation, tracked);
    const span = earlier ?? this.#open({ kind: "operation", n, from, at: entry.t });
    const kind = partKind(span, request, operation);
    if (kind === "round") span.waitsFor = undefined;
    const { exchange } = request.context;
    this.#addPart(span, operation, { kind, n, from, at: entry.t, until: undefined, operation, exchange });
    this.#byOperation.set(operation, span);
    if (from === "client" && !neverAsking.has(request.method)) tracked.running.add(operation);
  }

  /** The span that a request continues. */
  #earlier(request: WireMessage, { previous }: RecordedOperation, tracked: Tracked): OpenSpan | undefined {
    if (previous !== undefined) return this.#byOperation.get(previous);
    const ofTask = tracked.byTask.get(taskIdIn(request.params) ?? "");
    if (ofTask !== undefined || request.from === "client") return ofTask;
    const asked = request.context.exchange?.messages.find(({ from, kind }) => from === "client" && kind === "req");
    if (asked?.operation !== undefined) return this.#byOperation.get(asked.operation);
    return this.#onlyRunning(tracked);
  }

  /** The span that a server request belongs to, if only one is running: the request itself does not say. */
  #onlyRunning({ running }: Tracked): OpenSpan | undefined {
    let found: OpenSpan | undefined;
    for (const operation of running) {
      const span = this.#byOperation.get(operation);
      if (found !== undefined && span !== found) return undefined;
      found = span;
    }
    return found;
  }

  #note(message: WireMessage, { at }: Row, tracked: Tracked): void {
    const { operation } = message;
    const span = this.#spanOfMessage(message, tracked);
    span?.notices.push(message);
    if (message.method === notifications.cancelled && operation !== undefined) this.#endPart(operation, at, tracked);
    if (message.method === notifications.taskStatus) endTask(span, message.params);
  }

  #end(operation: RecordedOperation, answer: WireMessage, tracked: Tracked): void {
    const span = this.#byOperation.get(operation);
    if (span === undefined || operation.answer !== answer) return;
    const { result = {}, frame } = answer;
    const task = isObject(result.task) ? result.task : result;
    const begins = isObject(result.task) || result.resultType === "task";
    if (begins && typeof task.taskId === "string") {
      span.waitsFor = "task";
      tracked.byTask.set(task.taskId, span);
    } else if (result.resultType === "input_required") span.waitsFor = "round";
    else if (typeof operation.request.params.taskId === "string") endTask(span, result);
    this.#endPart(operation, frame.entry.t1 ?? frame.entry.t, tracked);
  }

  #endPart(key: RecordedOperation | HttpExchange, at: number, { running }: Tracked): void {
    const { part, span } = this.#parts.get(key) ?? {};
    if (part === undefined) return;
    if (part.operation !== undefined) running.delete(part.operation);
    part.until = at;
    this.#parts.delete(key);
    span?.settle();
  }

  #takeHttp(exchange: HttpExchange, row: Row): void {
    const { entry, at } = row;
    const tracked = this.#track(row);
    if (entry.k !== "h") return;
    if (!exchange.isAddressed) this.#takeSignIn(exchange, row, tracked);
    else if (entry.ph === "res") {
      const { status = 0 } = entry;
      if (status === 401) tracked.unauthorizedAt = at;
      else endSignIn(tracked);
      const asked = exchange.messages.find(({ kind, from }) => kind === "req" && from === "client")?.operation;
      if (status >= 300 && asked !== undefined) this.#endPart(asked, at, tracked);
    }
  }

  /**
   * Takes an exchange with another address than the server's: after a 401, and in the recording of a client, it is part of a
   * sign-in.
   */
  #takeSignIn(exchange: HttpExchange, row: Row, tracked: Tracked): void {
    const { n = 0, at, from = "client" } = row;
    const isOfClient = /^https?:/.test(exchange.request.url ?? "");
    if (tracked.unauthorizedAt === undefined && !isOfClient) return;
    if (exchange.request === row.entry) {
      tracked.signIn ??= this.#open({ kind: "sign-in", n, from, at: tracked.unauthorizedAt ?? at });
      tracked.signIn.waitsFor = "sign-in";
      this.#place(exchange, tracked.signIn);
      const part = { kind: "exchange", n, from, at, until: undefined, operation: undefined, exchange } as const;
      this.#addPart(tracked.signIn, exchange, part);
      this.#add(tracked.signIn, row);
    } else if (exchange.end === row.entry) this.#endPart(exchange, at, tracked);
  }

  #addPart(span: OpenSpan, key: RecordedOperation | HttpExchange, part: OpenPart): void {
    span.parts.push(part);
    span.until = undefined;
    this.#parts.set(key, { part, span });
  }

  #open(first: Omit<Span, "lane" | "until" | "parts" | "notices" | "rows" | "isBad">): OpenSpan {
    const free = this.#lanes.findIndex(({ until }) => until !== undefined);
    const lane = free < 0 ? Math.min(this.#lanes.length, mostLanes - 1) : free;
    const span = new OpenSpan({ ...first, lane });
    this.#lanes[lane] = span;
    this.#spans.push(span);
    return span;
  }

  /** All rows of an exchange belong to the span of its first message. */
  #place(exchange: HttpExchange, span: OpenSpan): void {
    if (this.#byExchange.has(exchange)) return;
    this.#byExchange.set(exchange, span);
    for (const row of this.#unplaced.get(exchange) ?? []) this.#add(span, row);
    this.#unplaced.delete(exchange);
  }

  #add(span: OpenSpan, row: Row): void {
    span.add(row);
    if (row.n !== undefined) this.#byRow.set(row.n, span);
  }

  #track({ session }: Row): Tracked {
    return getOrInsert(this.#tracked, session, () => {
      return { running: new Set(), byTask: new Map(), unauthorizedAt: undefined, signIn: undefined };
    });
  }
}

function partKind({ parts, from }: OpenSpan, request: WireMessage, { previous }: RecordedOperation): SpanPartKind {
  if (parts.length === 0) return "request";
  if (request.from !== from) return "question";
  return previous === undefined ? "task" : "round";
}

/** The id of the task that params name, or their `_meta`. */
function taskIdIn(params: JsonObject): string | undefined {
  const { [metaKeys.relatedTask]: related } = metaOf(params);
  const { taskId } = isObject(related) ? related : params;
  return typeof taskId === "string" ? taskId : undefined;
}

/** Takes the status of a task, which may be final. */
function endTask(span: OpenSpan | undefined, { status }: JsonObject): void {
  if (span?.waitsFor !== "task" || !finalStatuses.has(status)) return;
  span.waitsFor = undefined;
  span.settle();
}

/** A request was accepted. */
function endSignIn(tracked: Tracked): void {
  tracked.unauthorizedAt = undefined;
  if (tracked.signIn === undefined) return;
  tracked.signIn.waitsFor = undefined;
  tracked.signIn.settle();
  tracked.signIn = undefined;
}
