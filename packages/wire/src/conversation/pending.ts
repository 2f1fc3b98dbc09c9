import { escapeControls } from "@parlance/mcp/jsonrpc";
import { methods } from "@parlance/mcp/protocol";
import { literalOf } from "../json/json-node.js";
import type { Entry, HttpEntry, LifeEntry, RecorderRuleEntry } from "../recording/entry.js";
import { type Frame, otherSide, type Sender, senderOf } from "../recording/frame.js";
import { refusalOf } from "./exchange.js";
import { getOrInsert } from "./get-or-insert.js";
import { keyOfId, type RecordedOperation, type WireMessage } from "./message.js";
import type { Row } from "./row.js";
import type { WireSession } from "./session.js";

/**
 * Why a request has no response. `unanswered`: a response was due, and will not come. `not due`: the request was cancelled, or
 * HTTP refused it, or it no longer needs a response. `unknown`: the recording ends before the conversation, or misses entries
 * that may hold the response.
 */
export type PendingState = "unanswered" | "not due" | "unknown";

/** A request without an answer. */
export interface Pending {
  /** The operation without a response. */
  readonly operation: RecordedOperation;
  /** The session of the operation. */
  readonly session: WireSession;
  /** Milliseconds from the request to the last observation. */
  readonly waited: number;
  /** Whether no response can come any more, as far as is known. */
  readonly over: boolean;
  /** Why the response has not come. */
  readonly state: PendingState;
  /** The reason in words: `waiting 3.2 s`, `waiting — 19 bytes of unterminated line held`, `no response: the server exited …`. */
  readonly reason: string;
}

/** A frame of which only the beginning was recorded, and the facts that the beginning shows. */
interface Cut {
  readonly frame: Frame;
  /** Whether it may be a response: it is one, or the members that would show it are cut off. */
  readonly mayAnswer: boolean;
  /** The key of its id, if the beginning has it. */
  readonly idKey: string | undefined;
}

/** A frame that is not a response, but may have been meant as one. */
interface Hint {
  readonly from: Sender;
  readonly at: number;
  /** The exchange that it came on. */
  readonly exchange: number | undefined;
  readonly says: string;
  /** The id of a response that answers no request. */
  readonly id?: string;
}

/** Why the recorder withholds a frame. */
interface Withheld {
  /** Whether it will never be forwarded. */
  readonly isOver: boolean;
  readonly why: string;
}

interface Signs {
  /** Bytes of an unfinished line. */
  readonly held: Map<Sender, number>;
  readonly hints: Hint[];
  readonly cuts: Cut[];
  /** Why a side sends nothing more. */
  readonly gone: Map<Sender, string>;
  /** The time of the last frame of a side that was recorded in part. */
  readonly cutAt: Map<Sender, number>;
}

/** The first HTTP status that means a failure of the server. */
const serverError = 500;

/** A report shows no more than this. */
const maxHints = 1_000;

/** Tracks why requests have no answer. */
export class PendingTracker {
  readonly #signs = new Map<string, Signs>();
  /** The ends of exchanges, by number. */
  readonly #exchangeEnds = new Map<number, HttpEntry>();
  /** Why a frame was not passed on unchanged, by its number. */
  readonly #withheld = new Map<number, Withheld>();
  #now = 0;
  #lastGap = Number.NEGATIVE_INFINITY;
  /** The recording has its last line. */
  #isComplete = false;

  /** Takes an entry, and the row that was made from it. */
  see(entry: Entry, row: Row | undefined): void {
    if ("t" in entry) this.#now = Math.max(this.#now, entry.t);
    if (entry.k === "gap") this.#lastGap = entry.t;
    if (entry.k === "end") this.#isComplete = true;
    if (entry.k === "r") this.#seeRule(entry);
    if (!("s" in entry)) return;
    if (entry.k === "f" && entry.of !== undefined) this.#withheld.delete(entry.of);
    const signs = this.#signsOf(entry.s);
    if (entry.k === "l") seeLife(entry, signs);
    if (entry.k === "h" && (entry.ph === "end" || entry.ph === "abort")) this.#seeEnd(entry, row, signs);
    if (entry.k !== "f" || row === undefined) return;
    const { frame } = row;
    signs.held.delete(senderOf(entry.d));
    if (frame?.whole === false) {
      signs.cutAt.set(frame.from, entry.t);
      if (signs.cuts.length < maxHints) signs.cuts.push(cutOf(frame));
    }
    for (const hint of hintsOf(row)) if (signs.hints.length < maxHints) signs.hints.push(hint);
  }

  #seeRule({ of, did, fault }: RecorderRuleEntry): void {
    if (of === undefined) return;
    if (did === "hold") this.#withhold(of, { isOver: false, why: "it is held at a breakpoint" });
    else if (did === "drop") this.#withhold(of, { isOver: true, why: "it was dropped at a breakpoint" });
    else if (did !== undefined) this.#withheld.delete(of);
    else if (fault !== undefined)
      this.#withhold(of, { isOver: true, why: `it met the fault ${escapeControls(fault)}` });
  }

  #withhold(n: number, withheld: Withheld): void {
    if (this.#withheld.size < maxHints) this.#withheld.set(n, withheld);
  }

  #seeEnd(end: HttpEntry, row: Row | undefined, { gone }: Signs): void {
    if (row?.session?.http.isLegacy !== true) this.#exchangeEnds.set(end.x, end);
    // With HTTP+SSE, all responses arrive on the stream of one GET. If the recorder was stopped, the rest is unknown.
    else if (row.exchange?.request.method === "GET" && end.by !== "recorder")
      leave(gone, "server", "the event stream ended");
  }

  /** The requests of these sessions that have no answer at a time. */
  pendingOf(sessions: readonly WireSession[], now: number = this.#now): readonly Pending[] {
    return sessions.flatMap((session) =>
      session.pending
        .filter((operation) => !isSettledByHttp(operation) && !this.#isCut(operation, session))
        .map((operation) => this.#explain(operation, session, now)),
    );
  }

  /** Cut frames that may be the response to a request. */
  #cutsFor({ request }: RecordedOperation, session: WireSession): readonly Cut[] {
    const { t, req } = request.frame.entry;
    return this.#signsOf(session.name).cuts.filter(
      ({ mayAnswer, frame: { from, entry } }) =>
        mayAnswer && from !== request.from && entry.t >= t && (request.from === "server" || entry.req === req),
    );
  }

  /** Whether the response came and was cut: the kept beginning has its id. */
  #isCut(operation: RecordedOperation, session: WireSession): boolean {
    return this.#cutsFor(operation, session).some(({ idKey }) => idKey === operation.request.idKey);
  }

  #explain(operation: RecordedOperation, session: WireSession, now: number): Pending {
    const waited = Math.max(0, now - operation.request.frame.entry.t);
    const cut = this.#cutsFor(operation, session).find(({ idKey }) => idKey === undefined)?.frame;
    if (cut !== undefined) {
      const { n, len } = cut.entry;
      const kept = `${cut.bytes.length} of its ${len} bytes are kept`;
      const reason = `not known: frame ${n}, which may answer it, was cut by the recorder (${kept})`;
      return { operation, session, waited, over: false, state: "unknown", reason };
    }
    const why = this.#why(operation, session);
    const never = why.never !== undefined;
    const reason = never
      ? `no response: ${why.never}`
      : `waiting${why.hint === undefined ? ` ${seconds(waited)}` : ` — ${why.hint}`}`;
    return { operation, session, waited, over: never, state: this.#stateOf(operation, session, never), reason };
  }

  #stateOf(operation: RecordedOperation, session: WireSession, isOver: boolean): PendingState {
    const { request, cancel } = operation;
    const { method, frame } = request;
    const { gone, cutAt } = this.#signsOf(session.name);
    const end = this.#endOf(request);
    if (this.#withheld.has(frame.n)) return "not due";
    if (cancel !== undefined && method !== methods.initialize && !hasTimedOut(cancel)) return "not due";
    if ((refusalOf(operation) ?? serverError) < serverError || isProbe(operation, session)) return "not due";
    // A subscription lasts until its client cancels it or disconnects.
    if (method === methods.listen && (gone.has("client") || end !== undefined)) return "not due";
    // In the stateless era, closing the stream of a request cancels it.
    if (end?.by === "client" && request.revision?.era === "stateless") return "not due";
    const { t } = frame.entry;
    const isMissed = this.#lastGap >= t || (cutAt.get(otherSide(request.from)) ?? t) > t;
    if (isMissed || end?.by === "recorder") return "unknown";
    const isHttp = frame.entry.req !== undefined;
    return isOver || (this.#isComplete && !isHttp) ? "unanswered" : "unknown";
  }

  /** The end of the exchange that carries the response. The response to a server request is in an exchange of its own. */
  #endOf({ from, frame }: WireMessage): HttpEntry | undefined {
    return from === "client" ? this.#exchangeEnds.get(frame.entry.req ?? Number.NaN) : undefined;
  }

  #why(operation: RecordedOperation, session: WireSession): { never?: string | undefined; hint?: string | undefined } {
    const { request, cancel } = operation;
    const withheld = this.#withheld.get(request.frame.n);
    if (withheld !== undefined) return withheld.isOver ? { never: withheld.why } : { hint: withheld.why };
    const status = refusalOf(operation);
    const refused = status === undefined ? undefined : `the server refused it with HTTP ${status}`;
    const other = otherSide(request.from);
    const { held, hints, gone } = this.#signsOf(session.name);
    const exchange = request.from === "client" ? request.frame.entry.req : undefined;
    const end = this.#endOf(request);
    const ended = end && endOfExchange(end);
    const since = hints.filter(
      ({ from, at, exchange: on = exchange }) =>
        from === other && at >= request.frame.entry.t && (exchange === undefined || on === exchange),
    );
    const hint = hintText(since) ?? (gone.has(other) || refused !== undefined ? undefined : zeroHint(request));
    const cancelled = cancel && `it was cancelled by frame ${cancel.frame.n}${reasonOf(cancel)}`;
    const left = cancelled ?? refused ?? gone.get(other) ?? ended;
    if (left !== undefined) return { never: hint === undefined ? left : `${left} (${hint})` };
    const bytes = held.get(other);
    if (bytes !== undefined) return { hint: `${bytes} bytes of unterminated line held` };
    const question = questionOf(request, session);
    return {
      hint:
        hint ?? (question && `${escapeControls(question.method ?? "")} in frame ${question.frame.n} has no answer yet`),
    };
  }

  #signsOf(name: string): Signs {
    return getOrInsert(this.#signs, name, () => {
      return { held: new Map(), hints: [], cuts: [], gone: new Map(), cutAt: new Map() };
    });
  }
}

/** Statuses after which a client tries something else: credentials, another URL, a new session. */
const settling: ReadonlySet<number> = new Set([401, 403, 404, 405]);
const openers: ReadonlySet<string | undefined> = new Set([methods.initialize, methods.discover]);

/** Whether an HTTP status answered a request instead of a message. It may also show the era and transport of the server. */
function isSettledByHttp(operation: RecordedOperation): boolean {
  const status = refusalOf(operation);
  if (status === undefined || status >= 500) return false;
  return status < 400 || settling.has(status) || openers.has(operation.request.method);
}

function seeLife(entry: LifeEntry, { held, gone }: Signs): void {
  const { ev, d, len = 0 } = entry;
  if (ev === "partial" && d !== undefined) held.set(senderOf(d), len);
  const sender = senderOf(d ?? "s2c");
  if (ev === "close" || ev === "stdin-end") leave(gone, sender, `the ${sender} closed its side`);
  if (ev !== "exit") return;
  const [first] = gone; // In the order in which they left.
  const how = `the server ${endOf(entry)}${first?.[0] === "client" ? ` after ${first[1]}` : ""}`;
  gone.set("server", how);
  leave(gone, "client", how); // There is no server left to answer.
}

/** How a server ended, in words. */
export function endOf({ code, sig, why }: LifeEntry): string {
  if (why !== undefined) return `could not be started: ${escapeControls(why)}`;
  return typeof sig === "string" ? `was ended by ${escapeControls(sig)}` : `exited with code ${code ?? "unknown"}`;
}

/** The first reason wins. */
function leave(gone: Map<Sender, string>, side: Sender, why: string): void {
  if (!gone.has(side)) gone.set(side, why);
}

function endOfExchange({ ph, why }: HttpEntry): string {
  if (ph === "end") return "its HTTP response ended without one";
  return `its HTTP exchange was broken off${why === undefined ? "" : `: ${escapeControls(why)}`}`;
}

/**
 * Whether a request only probes for the stateless era, as far as is known. A server of the handshake era may ignore it or exit;
 * then the client begins a handshake.
 */
export function isProbe({ request: { method } }: RecordedOperation, { operations }: WireSession): boolean {
  if (method !== methods.discover) return false;
  return !operations.some(({ request, answer }) => request.method === method && answer?.result !== undefined);
}

/** Clients on the official SDK begin with the id 0, and `if (message.id)` takes their `initialize` for a notification. */
function zeroHint({ id, from }: WireMessage): string | undefined {
  return id === "0" && from === "client" ? "its id is 0: is that no id to the server?" : undefined;
}

/** Whether a request was cancelled after a timeout: then a response was due, and did not come. */
function hasTimedOut({ params: { reason } }: WireMessage): boolean {
  return typeof reason === "string" && /time(?:d|s)?[ -]?out|deadline/i.test(reason);
}

function reasonOf({ params: { reason } }: WireMessage): string {
  return typeof reason === "string" && reason !== "" ? ` (${escapeControls(reason.slice(0, longestReason))})` : "";
}

/** The maximum number of characters shown of the reason of a cancellation. */
const longestReason = 80;

function hintsOf({ kind, n, at, from, frame, messages, exchange, verdicts }: Row): readonly Hint[] {
  if (from === undefined || frame === undefined) return [];
  // A frame that breaks no rule was probably not meant as a response: an event with only an id, an HTML page, a word.
  if (kind === "noise" && verdicts.length === 0 && exchange?.isFaulty !== true) return [];
  const place = { from, at, exchange: frame.entry.req };
  if (!frame.whole) return [];
  if (kind === "frag" || kind === "noise") return [{ ...place, says: `frame ${n} is not a message` }];
  return messages.flatMap((message): readonly Hint[] => {
    const { id } = message;
    const { pairing } = message.context;
    if (pairing === undefined || pairing.is === "answer") {
      return message.kind === "none" ? [{ ...place, says: `frame ${n} is not a message` }] : [];
    }
    return [{ ...place, says: `frame ${n} does not answer it`, id: id ?? "missing" }];
  });
}

/** Unpaired responses first: their ids are what a reader looks for. */
function hintText(hints: readonly Hint[]): string | undefined {
  const ids = hints.flatMap(({ id }) => (id === undefined ? [] : [id]));
  if (ids.length > 0) {
    const some = ids.slice(0, 3).map((id) => `id ${escapeControls(id.slice(0, 40))}`);
    const more = ids.length > some.length ? ", …" : "";
    return `${ids.length} unpaired ${ids.length === 1 ? "reply" : "replies"} arrived (${some.join(", ")}${more})`;
  }
  return hints[0]?.says;
}

/** The unanswered request that the other side sent while it handles this one. */
function questionOf(request: WireMessage, session: WireSession): WireMessage | undefined {
  return session.pending.find((each) => each.request.from !== request.from && each.request.frame.n > request.frame.n)
    ?.request;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** The number of bytes of a message that are searched for its id. */
const headLength = 4_096;

/** One member at the start of an object, if its value is a complete scalar. */
const member = /\s*"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|null|true|false)\s*,/y;

/** Reads the kept beginning of a cut frame. */
function cutOf(frame: Frame): Cut {
  const { bytes } = frame;
  const text = literalOf({ start: 0, end: Math.min(bytes.length, headLength) }, bytes);
  const members = new Map<string, string>();
  const [opening] = /^\s*\{/.exec(text) ?? [];
  member.lastIndex = opening?.length ?? text.length;
  for (let found = member.exec(text); found !== null; found = member.exec(text)) {
    const [, name = "", value = ""] = found;
    members.set(name, value);
  }
  const id = members.get("id");
  return { frame, mayAnswer: !members.has("method"), idKey: id === undefined ? undefined : keyOfId(id) };
}
