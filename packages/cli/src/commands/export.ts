import {
  carriedVerdict,
  type Entry,
  junitOf,
  type Report,
  type Row,
  redact,
  redactionWords,
  reportOf,
  sarifOf,
} from "@parlance/mcp/wire";
import { type Command, Option } from "commander";
import { exitCodes } from "../exit-codes.js";
import { toCurl } from "../export/curl.js";
import { type Exported, escaped } from "../export/exported.js";
import { toHar } from "../export/har.js";
import { toHtml } from "../export/html.js";
import { toMarkdown } from "../export/markdown.js";
import { toOtlp } from "../export/otlp.js";
import { toVitest } from "../export/vitest.js";
import { usageFailure } from "../failure.js";
import type { Invocation } from "../invocation.js";
import { packageVersion } from "../package-version.js";
import { conversationOf, openRecorded, type RecordedConversation } from "../recorded-conversation.js";
import { childHeader, recordingText, writeNewFile } from "../recording-text.js";
import { filterHelp, readFilter } from "../recordings/filter-option.js";
import { recordingHelp } from "../recordings/find-recording.js";
import { addSecretOptions, type SecretFlags, secretOptions } from "./redact.js";

const formats = {
  html: toHtml,
  har: toHar,
  otlp: toOtlp,
  markdown: toMarkdown,
  curl: toCurl,
  test: toVitest,
  jsonl: ({ entries }: Exported): string => recordingText(entries),
  junit: (exported: Exported): string => junitOf(reportOn(exported)),
  sarif: (exported: Exported): string => `${escaped(JSON.stringify(toSarif(exported), undefined, 2))}\n`,
} as const;

type Format = keyof typeof formats;

interface ExportFlags extends SecretFlags {
  readonly to: Format;
  readonly output?: string;
  readonly filter?: string;
  readonly redact: boolean;
}

const about = `Make something of a recording that others can read. Secrets are covered as parlance
redact covers them, unless --no-redact is given.`;

const formatHelp = `A <format> is one of
  html      one page, without a script, that needs no network
  har       HAR 1.2; of stdio each request with its answer, as if it were HTTP
  otlp      traces as OpenTelemetry takes them in JSON
  markdown  a report of a fault
  curl      commands for a shell that send it again
  test      a file for vitest that expects the recorded answers
  jsonl     the recording itself
  junit     what parlance check finds in all of it, for build servers
  sarif     the same, for places that show code`;

const exits = `Exit codes:
  0  it is made
  1  the command line is wrong
  6  the recording is damaged`;

const examples = `Examples:
  parlance export run.parlance.jsonl -T html -o run.html
  parlance export run.parlance.jsonl -T markdown --filter 'verdict:must'
  parlance export run.parlance.jsonl -T test -o test/server.test.ts`;

/** Adds `parlance export`. */
export function registerExport(program: Command, invocation: Invocation): void {
  const command = program
    .command("export")
    .summary("make a page, a report, a trace or a test of a recording")
    .description(about)
    .argument("<recording>", "see below")
    .addOption(new Option("-T, --to <format>", "what to make").choices(Object.keys(formats)).makeOptionMandatory())
    .option("-o, --output <file>", "a new file (default: stdout)")
    .option("--filter <filter>", "only what this chooses: tool:search -verdict:ok")
    .option("--no-redact", "leave secrets as they are");
  addSecretOptions(command)
    .addHelpText("after", `\n${formatHelp}\n\n${recordingHelp}\n\n${filterHelp}\n\n${exits}\n\n${examples}`)
    .action((path: string, flags: ExportFlags) => invocation.run(() => exportFile(path, flags, invocation)));
}

async function exportFile(path: string, flags: ExportFlags, { out, err }: Invocation): Promise<number> {
  const exported = chosen(covered(await openRecorded(path), flags), flags.filter);
  if (exported.rows.length === 0) throw usageFailure(`nothing in ${path} is chosen`, "write a wider --filter");
  const text = formats[flags.to](exported);
  if (flags.output === undefined) out.print(text.trimEnd());
  else await writeNewFile(flags.output, text);
  if (!flags.redact) err.print(`${err.style.yellow("!")} secrets are not covered`);
  return exitCodes.clean;
}

function reportOn({ title, conversation, lineOf }: Exported): Report {
  return reportOf({ source: title, conversation, lineOf });
}

function toSarif(exported: Exported): object {
  const tool = { name: "parlance", version: packageVersion() };
  return sarifOf(reportOn(exported), { uri: exported.uri, tool });
}

function covered(recorded: RecordedConversation, flags: ExportFlags): RecordedConversation {
  if (!flags.redact) return recorded;
  const options = secretOptions(flags);
  const words = redactionWords(options);
  const entries = redact(recorded.entries, options).entries.map((entry) =>
    entry.k === "hdr" ? childHeader(entry, words) : entry,
  );
  return { ...recorded, entries, conversation: conversationOf(entries) };
}

function chosen(recorded: RecordedConversation, filter = ""): Exported {
  const { entries, conversation } = recorded;
  const header = entries.find((entry) => entry.k === "hdr");
  const rows = conversation.rows.filter(readFilter(filter));
  const kept = new Map(rows.map((row) => [row.entry, row]));
  // The last line tells of all the others: without some of them, there is none. What the others have told of those that are
  // left is in the verdicts on them, which go with them.
  const lines =
    filter === ""
      ? entries
      : entries.flatMap((entry) => (entry.k === "hdr" ? [entry] : [kept.get(entry)].flatMap(withVerdicts)));
  return { ...recorded, entries: lines, header, rows };
}

function withVerdicts(row: Row | undefined): readonly Entry[] {
  if (row === undefined) return [];
  const { entry, verdicts } = row;
  return [entry.k === "f" || entry.k === "h" ? { ...entry, v: verdicts.map(carriedVerdict) } : entry];
}
