import { escapeControls } from "@parlance/mcp/jsonrpc";
import {
  type CheckReport,
  latencyOf,
  literalOf,
  pairOf,
  type Row,
  scanJson,
  type Verdict,
  type WireMessage,
  wording,
} from "@parlance/wire";
import { visibleLines } from "../../shared/output/columns.js";
import { rowText, wordsOf } from "../../shared/output/conversation-rows.js";
import { hexRows } from "../../shared/output/hex.js";
import { bytesText, count, durationText, secondsText } from "../../shared/output/quantities.js";
import { type Style, signs } from "../../shared/output/style.js";
import type { Output } from "../../shared/output/terminal.js";

type ByteRange = NonNullable<Verdict["range"]>;
/** A verdict on a range of bytes, which is highlighted. The id of its rule is beside the line. */
type Highlight = Verdict & { readonly range: ByteRange };
type Frame = WireMessage["frame"];
type JsonNode = NonNullable<WireMessage["node"]>;
type Pending = CheckReport["pending"][number]["pending"];

/** A row, with the facts and options for showing it. */
interface DetailOptions {
  readonly row: Row;
  /** The requests without a response. */
  readonly pending: readonly Pending[];
  readonly hex: boolean;
}

/** Everything about one row: its place, its request or response, its verdicts and its bytes. */
export function detailLines({ row, pending, hex }: DetailOptions, { style }: Output): readonly string[] {
  const highlights = row.verdicts.filter((verdict): verdict is Highlight => verdict.range !== undefined);
  const { frame } = row;
  const body = (): readonly string[] =>
    frame === undefined
      ? visibleLines(wordsOf(row.entry))
      : row.kind === "event"
        ? [rowText(row), style.dim("An event without data: it gives a client an id from which to resume")]
        : bodyLines(frame, highlights, style);
  return [
    style.bold(headLine(row)),
    ...row.messages.flatMap((message) => messageLines(message, pending)),
    ...(row.unjudged === undefined ? [] : [`not judged: ${row.unjudged}`]),
    ...writeLines(row),
    ...headerLines(row),
    ...row.verdicts.flatMap((verdict) => ["", ...verdictLines(verdict, style)]),
    "",
    ...(hex && frame !== undefined ? markedHexLines(frame.bytes, highlights, style) : body()),
  ];
}

function headLine({ entry, n, at, from, kind, session }: Row): string {
  const place = [`at ${secondsText(at)} s`, session === undefined ? "" : `session ${escapeControls(session.name)}`];
  if (entry.k !== "f") return parts([`${n ?? ""} ${kind}`, from ?? "", ...place]);
  const { len, ch, nl, by, of } = entry;
  const way = from === "client" ? "client → server" : "server → client";
  const ends =
    ch === "stdin" || ch === "stdout" ? { "": "no line break", "\r\n": "ends with CR LF", "\n": "" }[nl] : "";
  const made =
    by === undefined
      ? ""
      : `${by === "inject" ? "injected by a person" : "changed"}${of === undefined ? "" : `, was frame ${of}`}`;
  return parts([`frame ${n}`, way, ch, `${len.toLocaleString("en")} B`, ...place, ends, made]);
}

function parts(all: readonly string[]): string {
  return all.filter((part) => part !== "").join("  ");
}

const kindWords = { req: "request", ntf: "notification", res: "result", err: "error", none: "no message" } as const;

function messageLines(message: WireMessage, pending: readonly Pending[]): readonly string[] {
  const { kind, id, method, concerns, revision, pointer } = message;
  const waits = pending.find(({ operation }) => operation.request === message);
  const latency = latencyOf(message);
  const name = escapeControls(
    [method ?? concerns?.request.method, message.names ?? concerns?.request.names].filter(Boolean).join(" "),
  );
  const pair = pairOf(message);
  const how = kind === "req" ? "answered by" : "to the request in";
  return [
    parts([
      `${pointer === "" ? "" : `${pointer} `}${kindWords[kind]}`,
      id === undefined ? "" : `id ${escapeControls(id)}`,
      name,
      pair === undefined ? "" : `${how} frame ${pair}`,
      latency === undefined ? "" : `after ${durationText(latency)}`,
      revision === undefined ? "" : `judged by ${revision.version}`,
    ]),
    ...(kind === "ntf" && concerns !== undefined
      ? [`  is about the request in frame ${concerns.request.frame.n}`]
      : []),
    ...(waits === undefined ? [] : [`  ${waits.reason}`]),
    ...roundLines(message),
  ];
}

/** The other rounds of a multi-round-trip request. */
function roundLines({ operation }: WireMessage): readonly string[] {
  const before = operation?.previous?.request.frame.n;
  const after = operation?.next?.request.frame.n;
  return [
    ...(before === undefined ? [] : [`  goes on with the round of frame ${before}`]),
    ...(after === undefined ? [] : [`  goes on in the round of frame ${after}`]),
  ];
}

/** The times of the chunks, if there was more than one. */
function writeLines({ entry }: Row): readonly string[] {
  if (entry.k !== "f" || entry.w === undefined || entry.w.length === 0) return [];
  const { t, t1, w, len } = entry;
  const chunks = [[0, t] as const, ...w];
  const lasted = t1 === undefined ? "" : ` over ${durationText(t1 - t)}`;
  return [
    `${count(chunks.length, "write")}${lasted}:`,
    ...chunks.map(([offset, at], index) => {
      const end = chunks[index + 1]?.[0] ?? len;
      return `  from byte ${offset}, ${bytesText(end - offset)}, at ${secondsText(at)} s`;
    }),
  ];
}

function headerLines({ entry }: Row): readonly string[] {
  if (entry.k !== "h") return [];
  return (entry.headers ?? []).map(([name, value]) => `  ${escapeControls(name)}: ${escapeControls(value)}`);
}

/** A verdict: rule, party, place, finding, requirement, sentence and link. */
function verdictLines(verdict: Verdict, style: Style): readonly string[] {
  const { level, rule, party, pointer = "", range, header, says, spec } = verdict;
  const paint = level === "must" ? style.red : style.yellow;
  const where = [
    pointer,
    range === undefined ? "" : wording.range(range),
    header === undefined ? "" : `header ${header}`,
  ];
  const head = parts([
    `${signs[level]} ${rule.id}`,
    level === "must" ? `${party} broke it` : party,
    ...where.map(escapeControls),
  ]);
  return [
    paint(head),
    `  ${says}`,
    ...[rule.demands, wording.requirement(verdict), spec].map((line) => style.dim(`  ${line}`)),
  ];
}

function bodyLines({ bytes, whole }: Frame, highlights: readonly Highlight[], style: Style): readonly string[] {
  const scan = scanJson(bytes);
  if (scan.ok) return jsonLines(scan.root, bytes, highlights, style);
  const text = visibleLines(literalOf({ start: 0, end: bytes.length }, bytes));
  return [...text, whole ? style.red(`not JSON: ${scan.fault.says}`) : style.yellow("… cut here by the recorder")];
}

/** A hex dump with marks: bytes in a highlight are red, and the labels of the highlights stand at the end of the line. */
function markedHexLines(bytes: Uint8Array, highlights: readonly Highlight[], style: Style): readonly string[] {
  const width = Math.max(4, bytes.length.toString(16).length);
  return hexRows(bytes).map(({ offset, digits, glyphs }) => {
    const touching = highlights.filter(({ range: [from, to] }) => from < offset + digits.length && to > offset);
    const paint = (text: string, at: number): string =>
      touching.some(({ range: [from, to] }) => offset + at >= from && offset + at < to) ? style.red(text) : text;
    const missing = 16 - digits.length;
    const labels = [...new Set(touching.map(({ rule }) => rule.id))].join(" ");
    const mark = labels === "" ? "" : `${" ".repeat(missing)}  ${style.red(`◀ ${labels}`)}`;
    const hex = `${digits.map(paint).join(" ")}${"   ".repeat(missing)}`;
    return `${style.dim(offset.toString(16).padStart(width, "0"))}  ${hex}  ${glyphs.map(paint).join("")}${mark}`;
  });
}

/** An indented JSON text, in which lines with highlighted bytes are marked. */
function jsonLines(root: JsonNode, bytes: Uint8Array, highlights: readonly Highlight[], style: Style): string[] {
  const lines = indentedLines(root, bytes);
  return lines.map(({ text, range }) => {
    const labels = highlights.filter((highlight) => innermost(highlight, range, lines)).map(({ rule }) => rule.id);
    return labels.length === 0 ? text : `${style.red(text)}  ${style.red(`◀ ${[...new Set(labels)].join(" ")}`)}`;
  });
}

/**
 * An indented JSON text with the original spelling of names, numbers and strings, the original order of members, and duplicate
 * members. Control characters are escaped.
 */
export function indentedLines(root: JsonNode, bytes: Uint8Array): readonly Line[] {
  const lines: Line[] = [];
  write({ node: root, depth: 0, lead: "", leadAt: root.start, trail: "" }, bytes, lines);
  return lines;
}

interface Line {
  readonly text: string;
  /** The range of the line itself: for an object on many lines, that of its brace. */
  readonly range: ByteRange;
}

interface Place {
  readonly node: JsonNode;
  readonly depth: number;
  /** The name with its colon. */
  readonly lead: string;
  readonly leadAt: number;
  readonly trail: string;
}

function write({ node, depth, lead, leadAt, trail }: Place, bytes: Uint8Array, lines: Line[]): void {
  const indent = "  ".repeat(depth);
  const children = node.kind === "object" ? node.members : node.kind === "array" ? node.elements : [];
  if (children.length === 0) {
    lines.push({ text: `${indent}${lead}${literal(node, bytes)}${trail}`, range: [leadAt, node.end] });
    return;
  }
  const [opening, closing] = node.kind === "object" ? "{}" : "[]";
  lines.push({ text: `${indent}${lead}${opening}`, range: [leadAt, node.start + 1] });
  for (const [index, child] of children.entries()) {
    const after = index === children.length - 1 ? "" : ",";
    const below = { depth: depth + 1, trail: after };
    if ("key" in child) {
      const { keyStart, keyEnd, value } = child;
      const name = literal({ start: keyStart, end: keyEnd }, bytes);
      write({ ...below, node: value, lead: `${name}: `, leadAt: keyStart }, bytes, lines);
    } else write({ ...below, node: child, lead: "", leadAt: child.start }, bytes, lines);
  }
  lines.push({ text: `${indent}${closing}${trail}`, range: [node.end - 1, node.end] });
}

/** A value on one line, without the white space that an empty object may contain. */
function literal(
  place: Pick<JsonNode, "start" | "end"> & { readonly kind?: JsonNode["kind"] },
  bytes: Uint8Array,
): string {
  if (place.kind === "object") return "{}";
  return place.kind === "array" ? "[]" : escapeControls(literalOf(place, bytes));
}

/** Whether a highlight belongs to this line: one of a whole object is at its first line. */
function innermost({ range: [start, end] }: Highlight, [from, to]: ByteRange, lines: readonly Line[]): boolean {
  const first = lines.find((line) => line.range[1] > start && line.range[0] < Math.max(end, start + 1));
  return first !== undefined && first.range[0] === from && first.range[1] === to;
}
