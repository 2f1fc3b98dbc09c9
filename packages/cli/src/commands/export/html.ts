import { createHash } from "node:crypto";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { bytesOf, type Row, type Verdict, type WireMessage, wording } from "@parlance/wire";
import { hexText } from "../../shared/output/hex.js";
import { count } from "../../shared/output/quantities.js";
import { shellWord } from "../../shared/output/shell-word.js";
import { packageVersion } from "../../shared/package-version.js";
import { commandOf, type ShownRows } from "./exported.js";
import { prettyFrame, rowWords } from "./row-words.js";

const style = `
:root { color-scheme: light dark; font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }
body { margin: 1.5rem auto; max-width: 110rem; padding: 0 1rem; }
h1 { font-size: 1.2rem; } dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dd { margin: 0; }
summary, .head { display: grid; grid-template-columns: 5ch 12ch 9ch 7ch 12ch 1fr 9ch 8ch 14ch; gap: 1ch; padding: .15rem .3rem; }
summary { cursor: pointer; } summary:hover { background: light-dark(#eef, #223); }
summary > *, .head > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.number { text-align: right; } .head { font-weight: bold; border-bottom: 1px solid; }
.bad > summary { background: light-dark(#fdd, #511); } .client { color: light-dark(#06c, #7bf); } .server { color: light-dark(#808, #e9e); }
.body { padding: .3rem 1rem 1rem 6ch; } pre { overflow: auto; max-height: 40rem; margin: .3rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 60rem) { summary, .head { display: block; } summary > *, .head > * { margin-right: 1ch; } }
`;

/** The maximum number of bytes shown of one frame; the recording has all of them. */
const mostShown = 256 * 1024;
/** The maximum number of bytes shown in hexadecimal. */
const mostHex = 4 * 1024;

/**
 * A self-contained page without scripts and external resources, in which all data of peers is text. It is safe to open and to
 * share.
 */
export async function* toHtml(shown: ShownRows): AsyncGenerator<string> {
  const { title } = shown;
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const names = ["n", "ms", "from", "kind", "id ↔", "method, or what it says", "latency", "size", "verdict"];
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${facts(shown)}
<main>
<div class="head">${names.map((name) => `<span>${name}</span>`).join("")}</div>
`;
  for await (const rows of shown.lists) {
    let text = "";
    for (const row of rows) {
      text += `${rowHtml(row, shown.pairOf)}\n`;
      if (text.length < together) continue;
      yield text;
      text = "";
    }
    yield text;
  }
  yield `</main>
</body>
</html>
`;
}

/** The number of characters of rows that are yielded together. */
const together = 65_536;

/** Escapes text for HTML content and attributes, and makes control characters visible. */
function escaped(text: string): string {
  return escapedContent(text).replace(/["']/g, (character) => entities[character] ?? character);
}

/** Escapes text for HTML content only, where quotes need no escape: JSON has many. */
function escapedContent(text: string): string {
  const lines = /[^\n -~]/.test(text) ? text.split("\n").map(escapeControls).join("\n") : text;
  return /[&<>]/.test(lines) ? lines.replace(/[&<>]/g, (character) => entities[character] ?? character) : lines;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function facts({ header, versions, count: rows, violations }: ShownRows): string {
  const told: readonly (readonly [name: string, value: string | undefined])[] = [
    ["server", commandOf(header)?.map(shellWord).join(" ") ?? header?.server?.url],
    ["revision", [...new Set(versions.map((version = "unknown") => version))].join(", ")],
    ["recorded", header && `${header.t0} by ${header.app.name} ${header.app.ver} (${header.mode})`],
    ["covered", header?.redact?.join(", ")],
    ["shown", `${count(rows, "row")}, ${count(violations, "violation")}`],
    ["made by", `parlance ${packageVersion}`],
  ];
  const items = told.flatMap(([name, value]) =>
    value === undefined ? [] : [`<dt>${name}</dt><dd>${escaped(value)}</dd>`],
  );
  return `<dl>${items.join("")}</dl>`;
}

function idWords(message: WireMessage | undefined, pairOf: ShownRows["pairOf"]): string {
  if (message?.id === undefined) return "";
  const pair = pairOf(message);
  return escapeControls(message.id) + (pair === undefined ? "" : ` ↔${pair}`);
}

function rowHtml(row: Row, pairOf: ShownRows["pairOf"]): string {
  const words = rowWords(row);
  const bad = row.verdicts.filter(({ level }) => level === "must");
  const verdict =
    bad.length > 0 ? `✖ ${bad.map(({ rule }) => rule.id).join(" ")}` : ((row.unjudged && "unjudged") ?? "");
  const cells = [
    `<span class="number">${words.n}</span>`,
    `<span class="number">${words.time}</span>`,
    `<span class="${row.from ?? ""}">${words.from}</span>`,
    `<span>${words.kind}</span>`,
    `<span>${escapedContent(idWords(row.messages[0], pairOf))}</span>`,
    `<span>${escapedContent(words.what)}</span>`,
    `<span class="number">${words.latency}</span>`,
    `<span class="number">${words.size}</span>`,
    `<span>${escapedContent(verdict)}</span>`,
  ];
  const id = words.n === "" ? "" : ` id="n${words.n}"`;
  return `<details${id}${bad.length > 0 ? ' class="bad"' : ""}><summary>${cells.join("")}</summary>${bodyHtml(row)}</details>`;
}

function bodyHtml(row: Row): string {
  const { entry, frame, verdicts } = row;
  const judged = verdicts.map(verdictHtml).join("");
  const bytes = frame?.bytes ?? (entry.k === "e" ? bytesOf(entry) : undefined);
  if (bytes === undefined) return `<div class="body">${judged}${pre(JSON.stringify(entry, undefined, 2))}</div>`;
  const shown = bytes.subarray(0, mostShown);
  const pretty = frame === undefined || shown.length < bytes.length ? undefined : prettyFrame(frame);
  const text = pretty ?? new TextDecoder().decode(shown);
  if (isSaidByText(row)) return `<div class="body">${judged}${pre(text)}</div>`;
  const hex = hexText(bytes.subarray(0, mostHex));
  const rest = bytes.length > mostHex ? `\n… ${bytes.length - mostHex} more bytes` : "";
  return `<div class="body">${judged}${pre(text)}<details><summary><span>bytes</span></summary>${pre(hex + rest)}</details></div>`;
}

/**
 * Whether the shown JSON has every byte of the frame except white space. Then the bytes are left out: with them, the page would
 * be three times as large.
 */
function isSaidByText({ entry, frame, verdicts }: Row): boolean {
  if (entry.k !== "f" || frame?.json.isPlain !== true || verdicts.length > 0) return false;
  const { raw = "" } = entry;
  return !/[^ -~]/.test(raw) || escapeControls(raw) === raw;
}

function verdictHtml(verdict: Verdict): string {
  const { rule, party, says, pointer, range, spec } = verdict;
  const where = [pointer, range === undefined ? undefined : wording.range(range)].filter(
    (part) => part !== undefined && part !== "",
  );
  return `<p><strong>${escaped(rule.id)}</strong> ${escaped(`${party}: ${says}`)} ${escaped(where.join(" · "))} <a href="${escaped(spec)}" rel="noreferrer" title="${escaped(wording.requirement(verdict))}">specification</a></p>`;
}

function pre(text: string): string {
  return `<pre>${escapedContent(text)}</pre>`;
}
