import { escapeControls } from "@parlance/mcp/jsonrpc";
import type { PageSpan, PageSpanDetail, PageSpanPart, PageTimeline } from "@parlance/web/protocol";
import { type Conversation, statusOf } from "@parlance/wire";

type Span = Conversation["timeline"]["spans"][number];
type SpanPart = Span["parts"][number];

/** The maximum number of spans, and of parts and notifications within them, on a page: each is an element. */
const mostSpans = 200;
const mostParts = 200;

/** The maximum number of parts and rows of one span, and of characters of its name. */
const mostOfSpan = 200;
const mostRows = 1_000;
const longest = 100;

/** The width in pixels from which a span shows its parts. */
const roomy = 40;

/** The part of a timeline that a page shows. */
interface Window {
  /** The start, in milliseconds since the recording began. */
  readonly from: number;
  readonly until: number;
  readonly pixels: number;
}

/** The spans of a part of a recording. Narrow neighbours are merged. */
export function spansIn({ rows, timeline }: Conversation, window: Window): PageTimeline {
  const now = rows.at(-1)?.at ?? 0;
  const shown = timeline.spans.filter(({ at, until = now }) => at <= window.until && until >= window.from);
  const lanes = shown.reduce((most, { lane }) => Math.max(most, lane + 1), 0);
  let narrow = 4;
  let blocks = blocksOf(shown, window, now, narrow);
  while (blocks.length > Math.max(mostSpans, lanes)) {
    narrow *= 2;
    blocks = blocksOf(shown, window, now, narrow);
  }
  return { lanes, spans: pageSpans(blocks, window, now) };
}

/** Spans of one lane that are shown as one. */
interface Block {
  readonly first: Span;
  count: number;
  end: number;
  waits: boolean;
  isBad: boolean;
}

function blocksOf(spans: readonly Span[], window: Window, now: number, narrow: number): readonly Block[] {
  const scale = window.pixels / Math.max(window.until - window.from, Number.MIN_VALUE);
  const last = new Map<number, Block>();
  const blocks: Block[] = [];
  for (const span of spans) {
    const end = span.until ?? now;
    const before = last.get(span.lane);
    const isNear =
      before !== undefined &&
      (span.at - before.end) * scale < narrow &&
      (end - span.at) * scale < narrow &&
      (before.count > 1 || (before.end - before.first.at) * scale < narrow);
    if (isNear) {
      before.count += 1;
      before.end = Math.max(before.end, end);
      before.waits ||= span.until === undefined;
      before.isBad ||= span.isBad;
    } else {
      const block = { first: span, count: 1, end, waits: span.until === undefined, isBad: span.isBad };
      last.set(span.lane, block);
      blocks.push(block);
    }
  }
  return blocks;
}

function pageSpans(blocks: readonly Block[], { from, until, pixels }: Window, now: number): readonly PageSpan[] {
  let left = mostParts;
  return blocks.map(({ first, count, end, waits, isBad }) => {
    const { n, kind, from: side, lane, at, parts, notices } = first;
    const visible = Math.min(end, until) - Math.max(at, from);
    const isRoomy = count === 1 && (visible / Math.max(until - from, Number.MIN_VALUE)) * pixels >= roomy;
    const isShown = (start: number, stop: number): boolean => stop >= from && start <= until;
    const inner = isRoomy ? parts.filter((part) => isShown(part.at, part.until ?? now)).slice(0, left) : [];
    left -= inner.length;
    const times = isRoomy ? notices.map(({ frame }) => frame.entry.t).filter((time) => isShown(time, time)) : [];
    const ticks = times.slice(0, left);
    left -= ticks.length;
    return {
      n,
      kind,
      count,
      from: side,
      what: count === 1 ? nameOf(first) : `${count} operations`,
      lane,
      at,
      until: waits ? undefined : end,
      isBad,
      // A span of one request has no parts to show.
      parts: inner.length > 1 ? inner.map((part) => ({ kind: part.kind, at: part.at, until: part.until })) : [],
      notices: ticks,
    };
  });
}

function nameOf({ kind, parts }: Span): string {
  return kind === "sign-in" ? "sign-in" : parts[0] === undefined ? "" : partName(parts[0]);
}

function partName({ operation, exchange }: SpanPart): string {
  const { request } = operation ?? {};
  const { method = "", url = "" } = exchange?.request ?? {};
  const words = request === undefined ? [method, url.replace(/\?.*$/s, "")] : [request.method, request.names];
  return escapeControls(words.filter((word) => word !== undefined).join(" ")).slice(0, longest);
}

function outcomeOf({ operation, exchange }: SpanPart): string | undefined {
  if (operation?.answer !== undefined) return statusOf(operation);
  const { status = 0 } = exchange?.response ?? {};
  if (operation?.cancel !== undefined) return "cancelled";
  return status >= 300 || (operation === undefined && status > 0) ? `HTTP ${status}` : undefined;
}

/** Everything about the span of a row; undefined without one. */
export function spanOf({ rows: all, timeline }: Conversation, row: number): PageSpanDetail | undefined {
  const span = timeline.spanOf(row);
  if (span === undefined) return undefined;
  const { n, kind, from, at, until, isBad, parts, notices, rows } = span;
  return {
    n,
    kind,
    from,
    what: nameOf(span),
    at,
    until,
    isBad,
    parts: parts.slice(0, mostOfSpan).map(pageSpanPart),
    partCount: parts.length,
    noticeCount: notices.length,
    rows: rows.slice(0, mostRows),
    rowCount: rows.length,
    waited: waitedIn(span, all.at(-1)?.at ?? 0),
  };
}

function pageSpanPart(part: SpanPart): PageSpanPart {
  const { kind, n, from, at, until } = part;
  return { kind, n, from, what: partName(part), at, until, outcome: outcomeOf(part) };
}

/** Milliseconds in which the receiver of a span waited for the sender: an input request was open, or no round was. */
function waitedIn({ parts, from, at, until }: Span, now: number): number {
  const end = until ?? now;
  const questions = parts.filter((part) => part.from !== from);
  const requests = parts.filter((part) => part.from === from);
  const idle = lengthOf([[at, end]]) - lengthOf(requests.map((part) => [part.at, part.until ?? end]));
  return idle + lengthOf(questions.map((part) => [part.at, part.until ?? end]));
}

/** The total length of intervals, which may overlap and are sorted by their starts. */
function lengthOf(intervals: readonly (readonly [from: number, until: number])[]): number {
  let [sum, end] = [0, Number.NEGATIVE_INFINITY];
  for (const [from, until] of intervals) {
    sum += Math.max(0, until - Math.max(from, end));
    end = Math.max(end, until);
  }
  return sum;
}
