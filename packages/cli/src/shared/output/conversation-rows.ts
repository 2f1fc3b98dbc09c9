import { ExactNumber, type Id } from "@parlance/mcp/jsonrpc";
import { isObject } from "@parlance/mcp/protocol";
import {
  bytesOf,
  type Entry,
  type FrameEntry,
  latencyOf,
  literalOf,
  messageWithoutPlace,
  pairOf,
  type Row,
  type Sender,
  type Verdict,
  type WireMessage,
} from "@parlance/wire";
import { digest } from "../client/digest.js";
import { excerpt } from "../excerpt.js";
import { bytesText, count } from "./quantities.js";
import { frameRows, type Look, type Mark, type Part, type Remark, remarkRows } from "./rows.js";

/** Characters shown of a frame that is no message. */
const longestNoise = 400;

/** The row of a frame. */
export interface FrameRow extends Row {
  readonly entry: FrameEntry;
  readonly from: Sender;
  /** Why the channel refused the frame, if it did. */
  readonly refused?: string;
}

/** A row of a conversation as lines of text. */
export function rowLines(row: Row, look: Look): readonly string[] {
  if (!isFrameRow(row)) return remarkRows({ ...remarkOf(row), marks: row.verdicts.map(markOf) }, look);
  const { entry, from, at, kind } = row;
  return frameRows({ n: entry.n, at, from, bytes: entry.len, batch: kind === "batch", parts: partsOf(row) }, look);
}

function isFrameRow(row: Row): row is FrameRow {
  return row.entry.k === "f" && row.from !== undefined;
}

/** The messages of a frame, or what stands in their place. */
export function partsOf(row: FrameRow): readonly Part[] {
  const { entry, messages, frame, refused } = row;
  const parts = messages.length === 0 ? [noiseOf(row, entry)] : messages.map(messageOf);
  frame?.forget();
  const refusal: readonly Mark[] = refused === undefined ? [] : [{ level: "must", text: refused }];
  return parts.map((part, index) => ({ ...part, marks: [...refusal, ...marksOf(row, index).map(markOf)] }));
}

/** The verdicts on one message of a frame. Verdicts on a whole batch go to its first message. */
function marksOf({ messages, verdicts }: Row, index: number): readonly Verdict[] {
  if (messages.length <= 1) return verdicts;
  const owner = ({ pointer = "" }: Verdict): number => {
    const of = messages.findIndex(
      (message) => pointer === message.pointer || pointer.startsWith(`${message.pointer}/`),
    );
    return Math.max(0, of);
  };
  return verdicts.filter((verdict) => owner(verdict) === index);
}

function markOf(verdict: Verdict): Mark {
  const { level, rule, party } = verdict;
  return { level, text: `${rule.id} ${level === "must" ? `${party}: ` : ""}${verdictText(verdict)}` };
}

/** The place and the finding of a verdict. */
export function verdictText(verdict: Verdict): string {
  const { pointer = "" } = verdict;
  return `${pointer === "" ? "" : `${pointer} `}${messageWithoutPlace(verdict)}`;
}

type Unmarked = Omit<Part, "marks">;

function messageOf(message: WireMessage): Unmarked {
  const { kind, concerns, id } = message;
  const method = message.method ?? concerns?.request.method;
  const latency = latencyOf(message);
  const pair = kind === "res" || kind === "err" ? pairOf(message) : undefined;
  return {
    kind: kind === "none" ? "noise" : kind,
    detail: detailOf(message, method),
    ...(id === undefined ? {} : { id: idOf(id) }),
    ...(pair === undefined ? {} : { pair }),
    ...(method === undefined ? {} : { method }),
    ...(latency === undefined ? {} : { latency }),
    ...(message.result?.isError === true ? { isError: true } : {}),
  };
}

/** The digest of a message. A response also has the name of the tool that was called. */
function detailOf(message: WireMessage, method: string | undefined): string {
  const { value, concerns, kind, node, frame } = message;
  const said =
    kind !== "none" && isObject(value) ? digest(value, method) : excerpt(literalOf(node, frame.bytes), longestNoise);
  message.forget();
  const name = message.method === undefined ? concerns?.request.names : undefined;
  return name === undefined ? said : `${name} ${said}`;
}

/** The value of an id; its literal where JSON.parse would change it. */
function idOf(literal: string): Id {
  const value = JSON.parse(literal) as unknown; // The scan has read it.
  if (typeof value === "string" || value === null) return value;
  return typeof value === "number" && String(value) === literal ? value : new ExactNumber(literal);
}

function noiseOf({ kind, frame, refused }: FrameRow, { len }: FrameEntry): Unmarked {
  const bytes = frame?.bytes ?? new Uint8Array(0);
  const text = literalOf({ start: 0, end: Math.min(bytes.length, longestNoise * 4) }, bytes);
  const said = excerpt(text, longestNoise);
  const isCut = frame?.whole === false && refused === undefined;
  const detail = isCut ? `cut by the recorder, ${bytesText(bytes.length)} kept: ${said}` : said;
  return { kind: kind === "frag" || (frame !== undefined && bytes.length < len) ? "frag" : "noise", detail };
}

function remarkOf({ entry, n, at, kind, from }: Row): Remark {
  const who = entry.k === "h" || entry.k === "l" ? (from ?? "server") : entry.k === "e" ? "server" : "recorder";
  return { n, at, who, kind, text: wordsOf(entry) };
}

/** The text of an entry that is no frame. It may hold text of a peer: escape it. */
export function wordsOf(entry: Entry): string {
  switch (entry.k) {
    case "e":
      return excerpt(stderrText(entry), 4 * longestNoise).replace(/(?:\r?\n)+$/, "");
    case "h":
      return httpWords(entry);
    case "l":
      return lifeWords(entry);
    case "gap":
      return `${count(entry.lost, "line")} missing: ${entry.why}`;
    case "a":
      return `on ${entry.n}: ${entry.text}`;
    case "r":
      return [entry.break, entry.fault, entry.redact].filter((each) => each !== undefined).join(" ");
    default:
      return "";
  }
}

function stderrText(entry: Extract<Entry, { readonly k: "e" }>): string {
  const bytes = bytesOf(entry);
  return literalOf({ start: 0, end: bytes.length }, bytes);
}

function httpWords({ ph, method, url, status, headers = [], why, x }: Extract<Entry, { readonly k: "h" }>): string {
  const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1];
  if (ph === "req") return `${method ?? ""} ${url ?? ""} (exchange ${x})`;
  if (ph === "res") return [status, type, `(exchange ${x})`].filter((each) => each !== undefined).join(" ");
  return ph === "end" ? `the response is over (exchange ${x})` : `broken off: ${why ?? "no reason"} (exchange ${x})`;
}

const lives: Readonly<Record<string, string>> = {
  "stdin-end": "its input has ended",
  open: "opened",
  close: "closed its side",
  hold: "held back",
  release: "let go",
  "ui-attach": "somebody is looking",
};

function lifeWords({ ev, code, sig, pid, why, len = 0 }: Extract<Entry, { readonly k: "l" }>): string {
  if (ev === "spawn") return `started${pid === undefined ? "" : `, pid ${pid}`}`;
  if (ev === "exit" && why !== undefined) return why;
  if (ev === "exit") return typeof sig === "string" ? `was ended by ${sig}` : `exited with code ${code ?? "unknown"}`;
  if (ev === "signal") return `was sent ${sig ?? "a signal"}`;
  if (ev === "partial") return `holds ${bytesText(len)} of a line that no line break ends`;
  return lives[ev] ?? ev;
}
