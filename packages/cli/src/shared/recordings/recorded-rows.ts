import { ExactNumber, type Id } from "@parlance/mcp/jsonrpc";
import {
  bytesOf,
  type Entry,
  type FrameEntry,
  latencyOf,
  literalOf,
  pairOf,
  type Row,
  saysWithoutPlace,
  type Verdict,
  type WireMessage,
} from "@parlance/wire";
import { digest } from "../client/digest.js";
import { excerpt } from "../excerpt.js";
import { isObject } from "../json.js";
import { bytesText, count } from "../output/quantities.js";
import { frameRows, type Look, type Mark, type MarkedPart, type Remark, remarkRows } from "../output/rows.js";

/** What is shown of bytes that are no message. */
const longestNoise = 400;

/** A row of a recording, as a person sees it. */
export function recordedRows(row: Row, look: Look): readonly string[] {
  const { entry, from, at, kind, messages, verdicts } = row;
  if (entry.k !== "f" || from === undefined) return remarkRows({ ...remarkOf(row), marks: verdicts.map(markOf) }, look);
  const batch = kind === "batch";
  const parts = messages.length === 0 ? [noisePart(row, entry)] : messages.map((message) => partOf(message));
  row.frame?.forget();
  const marked = parts.map((part, index) => ({ ...part, marks: marksOf(row, index).map(markOf) }));
  return frameRows({ n: entry.n, at, from, bytes: entry.len, batch, parts: marked }, look);
}

/** Of a batch, each message has what is said of it; what is said of all of it stands at the first. */
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
  const { level, rule, party, pointer = "" } = verdict;
  const place = pointer === "" ? "" : `${pointer} `;
  return { level, text: `${rule.id} ${level === "must" ? `${party}: ` : ""}${place}${saysWithoutPlace(verdict)}` };
}

function partOf(message: WireMessage): MarkedPart {
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

/** A call is known by its tool: the answer to it says so too. */
function detailOf(message: WireMessage, method: string | undefined): string {
  const { value, concerns } = message;
  const said = isObject(value) ? digest(value, method) : "";
  message.forget();
  const name = message.method === undefined ? concerns?.request.names : undefined;
  return name === undefined ? said : `${name} ${said}`;
}

/** An id as it was written; what is no string is not touched. */
function idOf(literal: string): Id {
  return literal.startsWith('"') ? String(JSON.parse(literal)) : new ExactNumber(literal); // The scan has found it to be one.
}

function noisePart({ kind, frame }: Row, { len }: FrameEntry): MarkedPart {
  const bytes = frame?.bytes ?? new Uint8Array(0);
  const text = literalOf({ start: 0, end: Math.min(bytes.length, longestNoise * 4) }, bytes);
  const said = excerpt(text, longestNoise);
  const detail = frame?.whole === false ? `cut by the recorder, ${bytesText(bytes.length)} kept: ${said}` : said;
  return { kind: kind === "frag" || (frame !== undefined && bytes.length < len) ? "frag" : "noise", detail };
}

function remarkOf({ entry, n, at, kind, from }: Row): Remark {
  const who = entry.k === "h" || entry.k === "l" ? (from ?? "server") : entry.k === "e" ? "server" : "recorder";
  return { n, at, who, kind, text: wordsOf(entry) };
}

/** What a line of a recording that is no frame says, in words of ours and of the peer. */
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
