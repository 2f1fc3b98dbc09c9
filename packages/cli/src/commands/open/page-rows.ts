import { escapeControls } from "@parlance/mcp/jsonrpc";
import type { PageFrame, PageRow, PageVerdict } from "@parlance/web/protocol";
import {
  bytesOf,
  type Conversation,
  latencyOf,
  literalOf,
  pairOf,
  type Row,
  sizeOf,
  type Verdict,
} from "@parlance/wire";
import { rowText } from "../../shared/output/conversation-rows.js";
import { verdictValue } from "../../shared/recordings/recorded-json.js";
import { mends } from "../explain/mends.js";

/** The maximum number of characters of the text of a row. */
const longest = 300;

/** A row as the list of the page shows it. */
export function pageRow(row: Row): PageRow {
  const { n, at, from, kind, messages, verdicts } = row;
  const [message] = messages;
  const isRequest = message?.kind === "req";
  const answer = isRequest ? message.operation?.answer : undefined;
  const { status = 0 } = row.exchange?.response ?? {};
  // HTTP refused it, so it has no JSON-RPC response.
  const refusal = isRequest && answer === undefined && status >= 300 ? status : undefined;
  return {
    n,
    at,
    from,
    kind,
    id: message?.id === undefined ? undefined : escapeControls(message.id),
    pair: message && pairOf(message),
    what: rowText(row).slice(0, longest),
    method: plain(message?.method ?? message?.concerns?.request.method),
    names: plain(message?.names ?? message?.concerns?.request.names),
    latency: message && latencyOf(message),
    until: answer === undefined ? undefined : (answer.frame.entry.t1 ?? answer.frame.entry.t),
    waits: isRequest && answer === undefined && refusal === undefined,
    refusal,
    size: sizeOf(row),
    rules: verdicts.map(({ rule, level }) => ({ id: rule.id, level })),
  };
}

function plain(text: string | undefined): string | undefined {
  return text === undefined ? undefined : escapeControls(text).slice(0, longest);
}

/** Everything about a row. */
export function pageFrame(row: Row, conversation: Conversation): PageFrame {
  const { entry, frame, messages, verdicts, unjudged, session } = row;
  const bytes = frame?.bytes ?? (entry.k === "e" ? bytesOf(entry) : undefined);
  const pending = conversation.pending().find(({ operation }) => messages.includes(operation.request));
  return {
    row: pageRow(row),
    channel: entry.k === "f" ? entry.ch : undefined,
    session: session && escapeControls(session.name),
    revision: messages[0]?.revision?.version,
    verdicts: verdicts.map((verdict) => ({
      ...verdictValue(verdict),
      right: rightMessage(verdict, row, conversation),
      mend: mends[verdict.rule.id],
    })),
    unjudged,
    pending: pending?.reason,
    bytes: bytes && Buffer.from(bytes).toString("base64"),
    writes: entry.k === "f" && entry.w !== undefined && entry.w.length > 0 ? [[0, entry.t], ...entry.w] : [],
    headers: entry.k === "h" ? (entry.headers ?? []) : [],
    facts: bytes === undefined ? factsOf(entry) : [],
  };
}

const apart: ReadonlySet<string> = new Set(["k", "n", "s", "headers", "v"]);

function factsOf(entry: Row["entry"]): PageFrame["facts"] {
  return Object.entries(entry).flatMap(([name, value]) =>
    apart.has(name) || value === undefined || value === null
      ? []
      : [[name, typeof value === "string" ? value : JSON.stringify(value)]],
  );
}

/** Characters that show before and after what differs. */
const around = 60;

/** The correct form of a faulty message, around the place where it differs; undefined if it cannot be derived. */
function rightMessage(verdict: Verdict, row: Row, conversation: Conversation): PageVerdict["right"] {
  const correction = conversation.correct(verdict, row);
  if (correction === undefined) return undefined;
  switch (correction.is) {
    case "nothing":
      return ["", "", ""];
    case "status":
      return ["HTTP status ", String(correction.status), ""];
    case "header":
      return [`${escapeControls(correction.name)}: `, escapeControls(correction.value), ""];
    case "text":
      return row.frame && textAround(row.frame.bytes, correction);
  }
}

function textAround(
  bytes: Uint8Array,
  { start, end, text }: { readonly start: number; readonly end: number; readonly text: string },
): PageVerdict["right"] {
  const part = (from: number, to: number): string => escapeControls(literalOf({ start: from, end: to }, bytes));
  const [before, after] = [part(0, start), part(end, bytes.length)];
  return [
    before.length > around ? `… ${before.slice(-around)}` : before,
    // The lines are messages of their own.
    text.split("\n").map(escapeControls).join("\n"),
    after.length > around ? `${after.slice(0, around)} …` : after.trimEnd(),
  ];
}
