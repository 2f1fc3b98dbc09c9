import { bytesOf, type Entry, type FrameEntry } from "@parlance/wire";
import type { HttpEntry } from "../../../packages/wire/src/recording/entry.js";
import { headersOf } from "./http-talk.js";
import type { Talk } from "./talk.js";

/** How HTTP carries what a server says: in bodies of JSON, in event streams, or on the one stream of the first revision. */
export type HttpCarrier = "JSON bodies" | "event streams" | "HTTP with SSE";

/** The transports of a revision. */
export function carriersOf({ version }: Talk): readonly HttpCarrier[] {
  return version < "2025-03-26" ? ["HTTP with SSE"] : ["JSON bodies", "event streams"];
}

type Fields = Readonly<Record<string, unknown>>;

/** A request of HTTP: the POST of a line of the client, or the GET of a stream. */
interface Carried {
  readonly number: number;
  /** The body of the POST; undefined for a stream. */
  readonly sent: FrameEntry | undefined;
  /** The requests of the client in it. */
  readonly asks: readonly Fields[];
  readonly replies: FrameEntry[];
}

/**
 * A transcript of stdio as a proxy records it over HTTP: every line of the client in a POST of its own, and every line of
 * the server in the response that it belongs to. Undefined where the transport has no place for a line.
 */
export function overHttp(
  talk: Talk,
  lines: readonly FrameEntry[],
  transport: HttpCarrier,
): readonly Entry[] | undefined {
  const plan = new Plan(transport);
  for (const line of lines) plan.take(line);
  const fits = plan.all.every(({ sent, replies }) => sent === undefined || replies.length <= 1);
  if (transport === "JSON bodies" && !(fits && plan.all.every(isPlain))) return undefined;
  return new Writer(talk, transport).write(lines, plan);
}

/** Whether all that answers a POST can be one body: a response, or what stands in its place. */
function isPlain({ sent, replies }: Carried): boolean {
  return sent === undefined || replies.every((reply) => messagesOf(reply).every(({ method }) => method === undefined));
}

/** Which line goes with which request of HTTP. */
class Plan {
  readonly all: Carried[] = [];
  readonly #of = new Map<FrameEntry, Carried>();
  readonly #isLegacy: boolean;
  #stream: Carried | undefined;

  constructor(transport: HttpCarrier) {
    this.#isLegacy = transport === "HTTP with SSE";
    if (this.#isLegacy) this.#open();
  }

  /** The exchange of a line. */
  of(line: FrameEntry): Carried {
    const carried = this.#of.get(line);
    if (carried === undefined) throw new Error("the line was not planned");
    return carried;
  }

  take(line: FrameEntry): void {
    const carried = line.d === "c2s" ? this.#post(line) : this.#place(messagesOf(line));
    this.#of.set(line, carried);
    if (line.d === "s2c") carried.replies.push(line);
  }

  #post(sent: FrameEntry): Carried {
    const asks = messagesOf(sent).filter(({ id, method }) => id !== undefined && method !== undefined);
    return this.#add({ number: this.all.length + 1, sent, asks, replies: [] });
  }

  #open(): Carried {
    this.#stream ??= this.#add({ number: this.all.length + 1, sent: undefined, asks: [], replies: [] });
    return this.#stream;
  }

  #add(carried: Carried): Carried {
    this.all.push(carried);
    return carried;
  }

  /** A response goes where its request came, a notification where what it tells of did; the rest where one waits. */
  #place([message = {}]: readonly Fields[]): Carried {
    if (this.#isLegacy) return this.#open();
    const { id, method, params } = message;
    const { progressToken, requestId, _meta: meta } = fieldsOf(params);
    const subscription = fieldsOf(meta)["io.modelcontextprotocol/subscriptionId"];
    const named = method === undefined ? id : (subscription ?? requestId);
    const asking = (test: (ask: Fields) => boolean): Carried | undefined =>
      this.all.findLast(({ asks }) => asks.some(test));
    const token = (ask: Fields): unknown => fieldsOf(fieldsOf(ask.params)._meta).progressToken;
    const meant =
      progressToken === undefined
        ? named !== undefined && asking((ask) => ask.id === named)
        : asking((ask) => token(ask) === progressToken);
    if (meant !== undefined && meant !== false) return meant;
    const last = this.all.at(-1);
    // A response without an id answers a request without one.
    const answers = "result" in message || "error" in message;
    if (answers && (id ?? null) === null && last?.asks.length === 0 && last.sent !== undefined) return last;
    const waiting = this.all.findLast(({ asks, replies }) => asks.length > 0 && !replies.some(isResponse));
    if (waiting !== undefined) return waiting;
    // Whoever asks nothing listens with a GET; without sessions only what was asked before has a stream.
    const asked = this.all.findLast(({ asks }) => asks.length > 0);
    return method === undefined || (asked !== undefined && isStateless(asked)) ? (asked ?? this.#open()) : this.#open();
  }
}

/** Writes the entries of a plan, in the order of its lines. */
class Writer {
  readonly #talk: Talk;
  readonly #transport: HttpCarrier;
  readonly #entries: Entry[] = [];
  readonly #answered = new Set<Carried>();
  /** The headers that name the session, from the answer to initialize on. */
  #session: Readonly<Record<string, string>> = {};

  constructor(talk: Talk, transport: HttpCarrier) {
    this.#talk = talk;
    this.#transport = transport;
  }

  write(lines: readonly FrameEntry[], plan: Plan): readonly Entry[] {
    if (this.#transport === "HTTP with SSE") this.#listen(plan);
    for (const line of lines) {
      const carried = plan.of(line);
      if (line.d === "c2s") this.#ask(line, carried);
      else this.#answer(line, carried);
    }
    return this.#entries;
  }

  /** The stream of the first revision, which says first where to POST. */
  #listen({ all: [stream] }: Plan): void {
    if (stream === undefined) return;
    this.#begin(stream, 0);
    const raw = "/messages?session=1";
    this.#frame({ k: "f", n: 0, s: "1", t: 0, d: "s2c", ch: "sse", len: raw.length, nl: "", raw }, stream, "endpoint");
  }

  #ask(line: FrameEntry, carried: Carried): void {
    const said = messagesOf(line);
    const headers = said.length === 0 ? {} : headersOf(this.#talk, `→ ${textOf(line)}`);
    this.#head(carried, "req", line.t, {
      method: "POST",
      url: "/mcp",
      headers: list({ ...posted, ...(isOpening(carried) ? {} : headers), ...this.#session }),
    });
    this.#frame(line, carried);
    const isLegacy = this.#transport === "HTTP with SSE";
    if (!isLegacy && (carried.asks.length > 0 || carried.replies.length > 0)) return;
    this.#head(carried, "res", line.t, { status: said.length === 0 ? 400 : 202, headers: [] });
    this.#head(carried, "end", line.t, {});
  }

  #answer(line: FrameEntry, carried: Carried): void {
    if (!this.#answered.has(carried)) this.#begin(carried, line.t);
    this.#frame(line, carried);
    if (carried.sent !== undefined && carried.replies.at(-1) === line) this.#head(carried, "end", line.t, {});
  }

  /** The head of a response; of a stream that of its GET before. */
  #begin(carried: Carried, t: number): void {
    this.#answered.add(carried);
    if (carried.sent === undefined) {
      const headers = list({ host, accept: "text/event-stream", ...headersOf(this.#talk), ...this.#session });
      this.#head(carried, "req", t, { method: "GET", url: "/mcp", headers });
    }
    const type = this.#isStream(carried) ? "text/event-stream" : "application/json";
    if (this.#transport !== "HTTP with SSE" && isOpening(carried)) this.#session = { "mcp-session-id": "s-1" };
    const headers = list({ "content-type": type, ...(isOpening(carried) ? this.#session : {}) });
    this.#head(carried, "res", t, { status: this.#statusOf(carried), headers });
  }

  /** An error with a status of its own is a body: a stream has begun with 200. */
  #isStream(carried: Carried): boolean {
    return carried.sent === undefined || (this.#transport === "event streams" && this.#statusOf(carried) === 200);
  }

  #statusOf({ asks, sent, replies }: Carried): number {
    const [only] = replies.flatMap(messagesOf);
    const { code } = fieldsOf(only?.error);
    if (asks.length === 0 && sent !== undefined) return code === undefined ? 200 : 400;
    return (this.#talk.isStateless && replies.length === 1 ? statuses.get(code) : undefined) ?? 200;
  }

  #head({ number: x }: Carried, ph: HttpEntry["ph"], t: number, more: Partial<HttpEntry>): void {
    this.#entries.push({ k: "h", n: this.#entries.length + 1, s: "1", t, x, ph, ...more });
  }

  #frame(line: FrameEntry, carried: Carried, event?: string): void {
    const ch = line.d === "s2c" && this.#isStream(carried) ? "sse" : "http";
    const ev = event === undefined ? {} : { ev: { event } };
    this.#entries.push({ ...line, n: this.#entries.length + 1, ch, nl: "", req: carried.number, ...ev });
  }
}

const host = "127.0.0.1:3000";
const posted = { host, accept: "application/json, text/event-stream", "content-type": "application/json" };

/** The statuses that the stateless era gives to errors. */
const statuses: ReadonlyMap<unknown, number> = new Map([
  [-32_700, 400],
  [-32_600, 400],
  [-32_601, 404],
  [-32_020, 400],
  [-32_021, 400],
  [-32_022, 400],
]);

function isStateless({ asks }: Carried): boolean {
  return asks.some(({ params }) => "io.modelcontextprotocol/protocolVersion" in fieldsOf(fieldsOf(params)._meta));
}

function isOpening({ asks }: Carried): boolean {
  return asks.some(({ method }) => method === "initialize");
}

function isResponse(line: FrameEntry): boolean {
  return messagesOf(line).some(({ method }) => method === undefined);
}

function textOf(line: FrameEntry): string {
  return Buffer.from(bytesOf(line)).toString();
}

/** The messages of a line; none where it is not JSON. */
function messagesOf(line: FrameEntry): readonly Fields[] {
  try {
    const value = JSON.parse(textOf(line).replace(/^\uFEFF/, "")) as unknown;
    return (Array.isArray(value) ? (value as readonly unknown[]) : [value]).filter(isFields);
  } catch {
    return [];
  }
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function list(headers: Readonly<Record<string, string | undefined>>): NonNullable<HttpEntry["headers"]> {
  return Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}
