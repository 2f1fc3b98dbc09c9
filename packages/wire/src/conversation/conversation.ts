import { latest, latestHandshake } from "@parlance/mcp";
import { mcpHeaders, methods, type Revision } from "@parlance/mcp/protocol";
import { literalOf } from "../json/json-node.js";
import type { Entry, FrameEntry, HttpEntry, LifeEntry, StderrEntry } from "../recording/entry.js";
import { Frame, type Sender, senderOf } from "../recording/frame.js";
import { rules as allRules } from "../rules/all.js";
import { portabilityRules } from "../rules/portability.js";
import type { Correction, Rule, Verdict } from "../rules/rule.js";
import { headerOf, isMessageBody, originOf, pathOf, spokenIn } from "./exchange.js";
import { getOrInsert } from "./get-or-insert.js";
import { Judge } from "./judge.js";
import { type HttpExchange, type SignInStep, WireMessage } from "./message.js";
import { type Pending, PendingTracker } from "./pending.js";
import type { Row, RowKind } from "./row.js";
import { processAfter } from "./server-process.js";
import { WireSession } from "./session.js";
import { signInStepOf } from "./sign-in.js";
import { Timeline } from "./timeline.js";

/** Options of a conversation. */
export interface ConversationOptions {
  /** Default: all. */
  readonly rules?: readonly Rule[];
  /**
   * Whether `rows` is filled, and sessions have all their `operations`. Without it a long conversation needs little memory: `push` still
   * returns each row, and the verdicts are the same. Default: true.
   */
  readonly keepRows?: boolean;
}

/** Exchanges that are kept after their end, in a conversation that keeps no rows. */
const mostEnded = 1_000;

/** The conversation's own view of a row: it alone may change it. */
interface OpenRow extends Row {
  kind: RowKind;
  messages: WireMessage[];
  readonly verdicts: Verdict[];
  unjudged: string | undefined;
}

/** The conversation's own view of an exchange: it alone may change it. */
interface OpenHttpExchange extends HttpExchange {
  response: HttpEntry | undefined;
  end: HttpEntry | undefined;
  signIn: SignInStep | undefined;
  isFaulty: boolean;
  readonly frames: Frame[];
  readonly messages: WireMessage[];
  /** The rows of its heads, for the verdicts of its rules; undefined once these were applied. */
  unjudged: OpenRow[] | undefined;
}

/**
 * Reads a recording: pairs requests with responses, tracks the session state, and checks each frame against the rules of its
 * revision. Takes entries one by one, in the order of the recording, live or from a file.
 */
export class Conversation {
  /** One per frame, line of stderr, HTTP head and lifecycle event, in order. */
  readonly rows: Row[] = [];
  /** The sessions, in the order in which they began. */
  readonly sessions: WireSession[] = [];
  readonly #timeline = new Timeline(this.rows);
  readonly #judge: Judge;
  readonly #keepRows: boolean;
  readonly #pendingTracker = new PendingTracker();
  readonly #byName = new Map<string, WireSession>();
  readonly #exchanges = new Map<number, OpenHttpExchange>();
  /** Exchanges that have ended, oldest first, as far as they are not forgotten; empty with `keepRows`. */
  readonly #ended: OpenHttpExchange[] = [];
  readonly #continuations = new Map<string, Continuation>();
  /** The URL of the MCP endpoint, as the header of the recording gives it. */
  #endpoint: string | undefined;
  #hasGap = false;
  /** The time of the last row. */
  #now = 0;

  constructor({ rules = allRules, keepRows = true }: ConversationOptions = {}) {
    this.#judge = new Judge(rules);
    this.#keepRows = keepRows;
  }

  /** Takes the next line of the recording. Returns its row, or undefined if the line makes no row. */
  push(entry: Entry): Row | undefined {
    const row = this.#rowOf(entry);
    if (row !== undefined) {
      this.#now = row.at;
      if (this.#keepRows) this.rows.push(row);
    }
    this.#pendingTracker.see(entry, row);
    return row;
  }

  /** Ends the conversation: exchanges that are still open are judged as they are. */
  finish(): void {
    for (const exchange of this.#exchanges.values()) this.#judgeExchange(exchange);
  }

  /**
   * Requests without a response, each with the reason as far as it is known.
   *
   * @param now the time in milliseconds of the recording up to which the wait is measured. Default: the time of the last observation
   */
  pending(now?: number): readonly Pending[] {
    return this.#pendingTracker.pendingOf(this.sessions, now);
  }

  /** The operations and sign-ins as spans, up to the last row; none without `keepRows`. Computed on first access. */
  get timeline(): Timeline {
    this.#timeline.update();
    return this.#timeline;
  }

  /** Verdicts of the rules so far, in order. */
  get verdicts(): readonly Verdict[] {
    return this.rows.flatMap(({ verdicts }) => verdicts);
  }

  /**
   * The correct form of a faulty message; undefined if the conversation does not determine it. Call it when everything was read:
   * later messages may determine it.
   *
   * @param row the row with the verdict
   */
  correct(verdict: Verdict, row: Row): Correction | undefined {
    return this.#judge.correct(verdict, row);
  }

  /**
   * The parts of tool definitions that model providers refuse, by the latest list of each session. These are not rules of the
   * protocol.
   */
  portability(): readonly Verdict[] {
    const judge = new Judge(portabilityRules);
    const verdicts = this.sessions.flatMap((session) =>
      [...new Set([...session.tools.values()].map((tool) => tool.listed))].flatMap((subject) =>
        judge.message({ subject, session, revision: subject.revision ?? latest }),
      ),
    );
    // Sessions with one server list the same tools.
    const different = new Map(verdicts.map((verdict) => [`${verdict.rule.id} ${verdict.says}`, verdict]));
    return [...different.values()];
  }

  #rowOf(entry: Entry): OpenRow | undefined {
    switch (entry.k) {
      case "hdr":
        this.#endpoint = entry.server?.url;
        return undefined;
      case "f":
        return this.#frameRow(entry);
      case "h":
        return this.#httpRow(entry);
      case "e":
        return processRow("stderr", entry, "server", this.#session(entry.s));
      case "l":
        return processRow("life", entry, entry.d && senderOf(entry.d), this.#session(entry.s));
      case "gap":
        // A gap does not name the connection, and a session may have begun within it.
        this.#hasGap = true;
        this.#missAll();
        return plainRow("gap", entry, entry.t);
      case "r":
        // The recorder changed or withheld a message: from here on, client and server have seen different conversations.
        if (entry.of !== undefined && entry.did !== "hold" && entry.did !== "send") this.#missAll();
        return plainRow("rule", entry, entry.t);
      case "a":
        return plainRow("note", entry, this.#now);
      default:
        return undefined;
    }
  }

  #missAll(): void {
    for (const session of this.sessions) session.miss();
  }

  #frameRow(entry: FrameEntry): OpenRow {
    const frame = new Frame(entry);
    const exchange = entry.req === undefined ? undefined : this.#exchanges.get(entry.req);
    exchange?.frames.push(frame);
    if (exchange?.isAddressed === false && frame.from === "client" && frame.whole)
      exchange.signIn = signInStepOf(exchange.request, frame);
    const session = this.#session(entry.s);
    if (entry.ev?.event === "endpoint") session.http.isLegacy = true;
    // If the first entry of a session names its id, the session began before the recording.
    if (exchange !== undefined && session.last.client === undefined && isOfSession(exchange)) session.miss();
    const kind = exchange?.signIn !== undefined ? "oauth" : isEmptyEvent(entry) ? "event" : "noise";
    const row = plainRow(kind, entry, entry.t, { from: frame.from, frame, session, exchange });
    if (frame.whole) this.#judgeFrame(row, frame, session, exchange);
    else {
      if (kind === "noise") session.miss();
      row.kind = "frag";
      row.unjudged = `it was cut by the recorder: ${frame.bytes.length} of its ${entry.len} bytes are kept`;
    }
    return row;
  }

  #judgeFrame(row: OpenRow, frame: Frame, session: WireSession, exchange: OpenHttpExchange | undefined): void {
    const { entry, json } = frame;
    const isJudged = entry.v === undefined;
    if (entry.v !== undefined) row.verdicts.push(...this.#judge.carried(entry.v, entry.n));
    const revision = (exchange && spokenIn(exchange)) ?? session.revision ?? latestHandshake;
    if (exchange !== undefined && isJudged) {
      const subject = { frame, json, continues: undefined, line: 1, exchange };
      row.verdicts.push(...this.#judge.frame({ subject, session, revision }, "body"));
    }
    if (exchange !== undefined) session.signIns.takeBody(exchange, frame);
    if (exchange !== undefined && !isMessageBody(frame, exchange, session.http)) return;
    // Lines of one direction of one connection may be pieces of one text.
    const continuation = getOrInsert(this.#continuations, keyOf(entry), () => new Continuation());
    const continues = continuation.follow(frame);
    const { line } = continuation;
    if (isJudged)
      row.verdicts.push(
        ...this.#judge.frame({ subject: { frame, json, continues, line, exchange }, session, revision }),
      );
    const { fault } = json;
    if (continues !== undefined || fault?.cut === true || entry.cut !== undefined) row.kind = "frag";
    else if (fault === undefined) this.#readMessages(row, frame, session, exchange);
    if (row.messages.length === 0) session.lastOther[frame.from] = frame.n;
  }

  #readMessages(row: OpenRow, frame: Frame, session: WireSession, exchange: OpenHttpExchange | undefined): void {
    const { value } = frame.json;
    const isBatch = Array.isArray(value) && value.length > 0;
    for (let index = 0; index < (isBatch ? value.length : 1); index += 1) {
      const message = new WireMessage(frame, isBatch ? index : undefined, (read) => session.contextOf(read, exchange));
      const { revision } = message;
      session.observe(message);
      if (revision === undefined)
        row.unjudged = `it speaks ${session.unknownVersion ?? "a version"} which is not known`;
      else if (frame.entry.v === undefined)
        row.verdicts.push(...this.#judge.message({ subject: message, session, revision }));
      if (row.verdicts.some(({ level }) => level === "must")) message.blame();
      session.take(message);
      // A literal of one element takes less memory than an empty one that grows.
      if (index === 0) row.messages = [message];
      else row.messages.push(message);
      exchange?.messages.push(message);
    }
    row.kind = isBatch ? "batch" : kindOfRow(row.messages[0]);
  }

  #httpRow(entry: HttpEntry): OpenRow {
    const exchange = getOrInsert(this.#exchanges, entry.x, () => openExchange(entry, this.#isEndpoint(entry.url)));
    const from: Sender = entry.ph === "req" ? "client" : "server";
    const session = this.#session(entry.s);
    const row = plainRow("http", entry, entry.t, { from, exchange, session });
    if (entry.v !== undefined) row.verdicts.push(...this.#judge.carried(entry.v, entry.n));
    exchange.unjudged?.push(row);
    if (entry.ph === "res") {
      exchange.response = entry;
      noteSession(exchange, session);
    }
    if (entry.ph === "end" || entry.ph === "abort") {
      exchange.end = entry;
      if (!this.#keepRows) this.#forgetLater(exchange);
    }
    if (entry.ph !== "req") this.#judgeExchange(exchange);
    if (entry.ph === "res") session.answeredByHttp(exchange);
    return row;
  }

  /** Forgets the exchanges that ended long before this one: nothing more comes on them. */
  #forgetLater(exchange: OpenHttpExchange): void {
    this.#ended.push(exchange);
    const old = this.#ended.length > mostEnded ? this.#ended.shift() : undefined;
    if (old === undefined) return;
    this.#exchanges.delete(old.number);
    for (const { entry } of old.frames) this.#continuations.delete(keyOf(entry));
  }

  /** Whether a request goes to the MCP endpoint. Without a header it is not known where that is, but where it is not. */
  #isEndpoint(url = ""): boolean {
    const path = pathOf(url);
    if (this.#endpoint === undefined) return !path.includes("/.well-known/");
    const [origin, own] = [originOf(url), originOf(this.#endpoint)];
    return path === pathOf(this.#endpoint) && (origin === "" || own === "" || origin === own);
  }

  #judgeExchange(exchange: OpenHttpExchange): void {
    const { unjudged: rows } = exchange;
    if (rows === undefined) return;
    exchange.unjudged = undefined;
    this.#applyExchangeRules(exchange, rows);
    this.#session(exchange.request.s).signIns.takeExchange(exchange);
  }

  #applyExchangeRules(exchange: OpenHttpExchange, rows: readonly OpenRow[]): void {
    if (exchange.request.v !== undefined) {
      const carried = rows.flatMap(({ verdicts }) => verdicts);
      exchange.isFaulty ||= carried.some(({ level, party }) => level === "must" && party === "server");
      return;
    }
    const session = this.#session(exchange.request.s);
    const revision = revisionOfExchange(exchange) ?? session.revision ?? latestHandshake;
    for (const verdict of this.#judge.exchange({ subject: exchange, session, revision })) {
      exchange.isFaulty ||= verdict.level === "must" && verdict.party === "server";
      (rows.find(({ n }) => n === verdict.n) ?? rows[0])?.verdicts.push(verdict);
    }
  }

  #session(name: string): WireSession {
    return getOrInsert(this.#byName, name, () => {
      const session = new WireSession(name, this.#keepRows, this.#endpoint);
      if (this.#hasGap) session.miss();
      this.sessions.push(session);
      return session;
    });
  }
}

function openExchange(request: HttpEntry, isAddressed: boolean): OpenHttpExchange {
  return {
    number: request.x,
    request,
    response: undefined,
    end: undefined,
    isAddressed,
    signIn: isAddressed ? undefined : signInStepOf(request),
    frames: [],
    messages: [],
    isFaulty: false,
    unjudged: [],
  };
}

/** The direction of the connection, or of the HTTP exchange, that a frame is on. */
function keyOf({ s, d, ch, req }: FrameEntry): string {
  return `${s} ${d} ${ch} ${req ?? ""}`;
}

/** Never changed: a row with messages gets a list of its own. */
const noMessages: WireMessage[] = [];

function plainRow(
  kind: RowKind,
  entry: Entry,
  at: number,
  { from, frame, exchange, session }: Partial<Pick<Row, "from" | "frame" | "exchange" | "session">> = {},
): OpenRow {
  const n = "n" in entry && entry.k !== "a" ? entry.n : undefined;
  return {
    kind,
    entry,
    n,
    at,
    from,
    frame,
    messages: noMessages,
    exchange,
    session,
    verdicts: [],
    unjudged: undefined,
  };
}

/** The row of a lifecycle event of the server process. */
function processRow(
  kind: RowKind,
  entry: LifeEntry | StderrEntry,
  from: Sender | undefined,
  session: WireSession,
): OpenRow {
  session.process = processAfter(session.process, entry);
  return plainRow(kind, entry, entry.t, { from, session });
}

/** Whether a frame is an event without data: servers send its id first, so that a client can resume before a message has arrived. */
function isEmptyEvent({ ch, len }: FrameEntry): boolean {
  return ch === "sse" && len === 0;
}

function kindOfRow(message: WireMessage | undefined): RowKind {
  const { kind = "none" } = message ?? {};
  return kind === "none" ? "noise" : kind;
}

/** The session facts in the head of a response. */
function noteSession({ messages, response }: HttpExchange, { http }: WireSession): void {
  const id = response && headerOf(response, mcpHeaders.session);
  if (id === undefined || !messages.some(({ method }) => method === methods.initialize)) return;
  http.id = id;
  http.ended = undefined;
}

function isOfSession({ request }: HttpExchange): boolean {
  return headerOf(request, mcpHeaders.session) !== undefined;
}

/** The revision that an exchange names, in its header or in its message. */
function revisionOfExchange(exchange: HttpExchange): Revision | undefined {
  return spokenIn(exchange) ?? exchange.messages[0]?.revision;
}

/** The longest line of pretty-printed JSON; a longer line is not a piece of it. */
const longestLine = 1024 * 1024;

/** The tokens of a line of JSON. No string crosses the end of a line. */
const token = /[ \t\r]+|[,:]|(?<open>[{[])|(?<close>[}\]])|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

/** Recognizes lines that are pieces of one pretty-printed JSON text. */
class Continuation {
  #first: Frame | undefined;
  /** The number of open objects and arrays. */
  #depth = 0;
  #line = 1;

  /** The line of its text that the last frame is, from 1. */
  get line(): number {
    return this.#line;
  }

  /** The frame with the beginning of the text, if this frame continues one. */
  follow(frame: Frame): Frame | undefined {
    const first = this.#first;
    // A line that is a complete object is not a piece: the text before it was never finished.
    const { json } = frame;
    const isWhole = json.isPlain || json.root?.kind === "object";
    const more = isWhole ? undefined : opened(frame);
    if (first !== undefined && more !== undefined && this.#depth + more >= 0) {
      this.#depth += more;
      this.#line += 1;
      if (this.#depth === 0) this.#first = undefined;
      return first;
    }
    const begins = more !== undefined && more > 0 && json.fault?.cut === true;
    this.#line = 1;
    this.#first = begins ? frame : undefined;
    this.#depth = begins ? more : 0;
    return undefined;
  }
}

/** Objects and arrays that a line opens, minus those that it closes; undefined if it cannot be a line of JSON. */
function opened({ bytes }: Frame): number | undefined {
  if (bytes.length > longestLine) return undefined;
  const text = literalOf({ start: 0, end: bytes.length }, bytes);
  let depth = 0;
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const groups = token.exec(text)?.groups;
    if (groups === undefined) return undefined;
    if (groups.open !== undefined) depth += 1;
    if (groups.close !== undefined) depth -= 1;
  }
  return depth;
}
