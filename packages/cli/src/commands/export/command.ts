import { type CheckReport, type Entry, junitOf, type Row, recordedVerdict, reportOf } from "@parlance/wire";
import { type Command, Option } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import { usageFailure } from "../../shared/failure.js";
import type { Interrupt } from "../../shared/interrupt.js";
import type { Invocation } from "../../shared/invocation.js";
import { sarifText } from "../../shared/output/report.js";
import { Pace } from "../../shared/pace.js";
import { filterHelp, readFilter } from "../../shared/recordings/filter-option.js";
import { recordingHelp } from "../../shared/recordings/find-recording.js";
import {
  type JudgedEntries,
  judgedEntries,
  type RecordedConversation,
  recordedConversation,
} from "../../shared/recordings/load-recording.js";
import { RecordingReader } from "../../shared/recordings/read-recording.js";
import { recordingTexts, writeNewFileOf } from "../../shared/recordings/recording-text.js";
import { addSecretOptions, type SecretFlags, secretOptions } from "../recordings/redact.js";
import { toCurl } from "./curl.js";
import { type Exported, readRows, selectedRows } from "./exported.js";
import { toHar } from "./har.js";
import { toHtml } from "./html.js";
import { toMarkdown } from "./markdown.js";
import { toOtlp } from "./otlp.js";
import { toVitest } from "./vitest.js";

/** The formats. Each yields its text in pieces, so that a long export is never whole in memory. */
const formats: Readonly<Record<string, (exported: Exported) => Iterable<string> | AsyncIterable<string>>> = {
  html: (exported) => toHtml(selectedRows(exported)),
  har: toHar,
  otlp: toOtlp,
  markdown: toMarkdown,
  curl: toCurl,
  test: (exported) => [toVitest(exported)],
  jsonl: ({ entries }) => recordingTexts([entries]),
  junit: (exported) => [junitOf(reportOn(exported))],
  sarif: (exported) => [`${sarifText(reportOn(exported), exported.uri)}\n`],
};

/** The formats that can be written during a second reading of the recording, if no row is left out. */
const readTwice: Readonly<Record<string, (title: string, judged: JudgedEntries) => AsyncIterable<string>>> = {
  html: (title, judged) => toHtml(readRows(title, judged)),
  jsonl: (_, { lists }) => recordingTexts(lists()),
};

interface ExportFlags extends SecretFlags {
  readonly to: string;
  readonly output?: string;
  readonly filter?: string;
  readonly redact: boolean;
}

const about = `Convert a recording to another format, to share or process it. Secrets are covered as by parlance redact,
unless --no-redact is given.`;

const formatHelp = `A <format> is one of
  html      one page, without a script, that needs no network
  har       HAR 1.2; on stdio each request with its response, as if over HTTP
  otlp      traces in the JSON of OpenTelemetry
  markdown  a bug report
  curl      shell commands that repeat the requests
  test      a vitest file that expects the recorded responses
  jsonl     the recording itself
  junit     the findings of parlance check on all of it, for build servers
  sarif     the same, for code review`;

const exits = `Exit codes:
  0  exported
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
    .summary("convert a recording to a page, a report, traces or a test")
    .description(about)
    .argument("<recording>", "see below")
    .addOption(new Option("-T, --to <format>", "the format").choices(Object.keys(formats)).makeOptionMandatory())
    .option("-o, --output <file>", "a new file (default: stdout)")
    .option("--filter <filter>", "only matching rows: tool:search -verdict:ok")
    .option("--no-redact", "leave secrets as they are");
  addSecretOptions(command)
    .addHelpText("after", `\n${formatHelp}\n\n${recordingHelp}\n\n${filterHelp}\n\n${exits}\n\n${examples}`)
    .action((path: string, flags: ExportFlags) => invocation.run(() => exportFile(path, flags, invocation)));
}

async function exportFile(word: string, flags: ExportFlags, { out, err, interrupt }: Invocation): Promise<number> {
  const { output } = flags;
  const pace = new Pace(interrupt, output === undefined ? "the output is incomplete" : `${output} is not written`);
  const source = await RecordingReader.find(word, pace);
  const pieces = await piecesOf(source, flags, pace);
  if (pieces === undefined) throw usageFailure(`nothing in ${word} matches`, "write a wider --filter");
  if (output === undefined) await out.write(endingWithLineBreak(pieces), pace);
  else await writeNewFileOf(output, pace.steps(pieces));
  if (!flags.redact) err.print(`${err.style.yellow("!")} secrets are not covered`);
  return exitCodes.clean;
}

/** The text of a recording in a format. @throws Failure if nothing matches the filter, or the file is damaged */
export async function exportedPieces(
  path: string,
  flags: Pick<ExportFlags, "to" | "filter" | "redact">,
  interrupt: Interrupt,
): Promise<Iterable<string> | AsyncIterable<string>> {
  const pace = new Pace(interrupt, "it is not exported");
  const pieces = await piecesOf(await RecordingReader.find(path, pace), flags, pace);
  if (pieces === undefined) throw usageFailure("nothing matches the filter");
  return pieces;
}

/** The text of an export; undefined if it would be empty. */
async function piecesOf(
  source: RecordingReader,
  flags: ExportFlags,
  pace: Pace,
): Promise<Iterable<string> | AsyncIterable<string> | undefined> {
  const { to, filter = "", redact } = flags;
  const written = filter === "" ? readTwice[to] : undefined;
  // A copy without a filter carries no verdicts, unless something is covered.
  const isCopy = !redact && to === "jsonl";
  const judged =
    redact || (written !== undefined && !isCopy)
      ? await judgedEntries(source, redact ? secretOptions(flags) : undefined)
      : undefined;
  if (written !== undefined && judged !== undefined)
    return judged.survey.rows === 0 ? undefined : written(source.title, judged);
  const recorded = await recordedConversation(source, judged?.lists() ?? source.lists());
  const exported = await chosen(recorded, pace, filter);
  return exported.rows.length === 0 ? undefined : formats[to]?.(exported);
}

/** Ends the last line, for a terminal. */
async function* endingWithLineBreak(pieces: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let last = "";
  for await (const piece of pieces) {
    yield piece;
    if (piece !== "") last = piece;
  }
  if (!last.endsWith("\n")) yield "\n";
}

function reportOn({ title, conversation, lineOf }: Exported): CheckReport {
  return reportOf({ source: title, conversation, lineOf });
}

async function chosen(recorded: RecordedConversation, pace: Pace, filter: string): Promise<Exported> {
  const { entries, conversation } = recorded;
  const matches = readFilter(filter);
  const rows: Row[] = [];
  for (const row of conversation.rows) {
    if (pace.isDue) await pace.turn();
    if (filter === "" || matches(row)) rows.push(row);
  }
  const kept = new Map(rows.map((row) => [row.entry, row]));
  // The end entry counts and hashes all lines, so a part of the recording has none. The rows that are left carry their verdicts,
  // which may depend on rows that are left out.
  const lines =
    filter === ""
      ? entries
      : entries.flatMap((entry) => (entry.k === "hdr" ? [entry] : [kept.get(entry)].flatMap(withVerdicts)));
  return { ...recorded, entries: lines, rows };
}

function withVerdicts(row: Row | undefined): readonly Entry[] {
  if (row === undefined) return [];
  const { entry, verdicts } = row;
  return [entry.k === "f" || entry.k === "h" ? { ...entry, v: verdicts.map(recordedVerdict) } : entry];
}
