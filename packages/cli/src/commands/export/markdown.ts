import { escapeControls } from "@parlance/mcp/jsonrpc";
import type { Row, WireMessage } from "@parlance/wire";
import { count } from "../../shared/output/quantities.js";
import { shellWord } from "../../shared/output/shell-word.js";
import { packageVersion } from "../../shared/package-version.js";
import { commandOf, type Exported } from "./exported.js";
import { prettyFrame, rowWords } from "./row-words.js";

/** A bug report in Markdown. Text of peers is in code blocks, where it is not markup. */
export function* toMarkdown(exported: Exported): Generator<string> {
  const { rows, conversation, title } = exported;
  const verdicts = rows.flatMap((row) => row.verdicts.filter(({ level }) => level === "must"));
  const chosen = new Set(rows.map(({ n }) => n));
  const pending = conversation.pending().filter(({ operation }) => chosen.has(operation.request.frame.n));
  const waiting = pending.map(
    ({ operation, reason }) =>
      `- ${code(operation.request.method ?? "")} of frame ${operation.request.frame.n}: ${code(reason)}`,
  );
  const broken = verdicts.map(
    ({ n, rule, party, says, pointer, spec }) =>
      `- **${rule.id}**, ${party}, frame ${n}${pointer === undefined || pointer === "" ? "" : ` at ${code(pointer)}`}: ${code(says)} ([specification](${spec}))`,
  );
  const sections = [
    `# MCP conversation: ${code(title)}`,
    facts(exported),
    section(`${count(verdicts.length, "rule violation")}`, broken),
    section("Without an answer", waiting),
    "## What crossed",
  ];
  yield sections.filter((part) => part !== "").join("\n\n");
  for (const row of rows) {
    yield `\n\n${rowSection(row)}`;
  }
  yield "\n";
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `## ${title}\n\n${lines.join("\n")}`;
}

function facts({ header, conversation }: Exported): string {
  const versions = new Set(
    conversation.sessions.flatMap(({ revision }) => (revision === undefined ? [] : [revision.version])),
  );
  const command = commandOf(header);
  const lines: readonly (readonly [name: string, value: string | undefined])[] = [
    ["Server", command?.map(shellWord).join(" ") ?? header?.server?.url],
    ["Revision", versions.size === 0 ? undefined : [...versions].join(", ")],
    ["Recorded", header && `${header.t0} by ${header.app.name} ${header.app.ver}, ${header.mode}, ${header.os ?? ""}`],
    ["Redacted", header?.redact?.join(", ")],
    ["Reported by", `parlance ${packageVersion}`],
  ];
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${code(value)}`])).join("\n");
}

function rowSection(row: Row): string {
  const { n, time, from, kind, what, latency, size } = rowWords(row);
  const marks = row.verdicts.filter(({ level }) => level === "must").map(({ rule }) => `✖ ${rule.id}`);
  const head = [n === "" ? kind : `${n}`, from, kind, `${time} ms`, latency, size, ...marks].filter(
    (part) => part !== "",
  );
  const { frame } = row;
  const body =
    frame === undefined || row.messages.length === 0 ? fenced("text", what) : fenced("json", prettyOf(frame));
  return `### ${head.join(" · ")}\n\n${body}`;
}

function prettyOf(frame: WireMessage["frame"]): string {
  const pretty = prettyFrame(frame);
  if (pretty === undefined) return new TextDecoder().decode(frame.bytes);
  return pretty.split("\n").map(escapeControls).join("\n");
}

/** A code block whose fence is longer than any run of backticks in the text. */
function fenced(language: string, text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

function code(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  const fence = "`".repeat(longestRun(line) + 1);
  return line.startsWith("`") || line.endsWith("`") ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
}
