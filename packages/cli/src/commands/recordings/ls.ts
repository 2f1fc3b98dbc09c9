import { escapeControls } from "@parlance/mcp/jsonrpc";
import { Conversation, type HeaderEntry } from "@parlance/wire";
import type { Command } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { left, right } from "../../shared/output/columns.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { bytesText } from "../../shared/output/quantities.js";
import type { Output } from "../../shared/output/terminal.js";
import { recordingDirectory } from "../../shared/recorder/recording-name.js";
import { listRecordings, type RecordingFile } from "../../shared/recordings/find-recording.js";
import { isLive } from "../../shared/recordings/live.js";
import { retentionHelp } from "../../shared/recordings/prune-recordings.js";
import { readRecordingFile } from "../../shared/recordings/read-recording.js";
import { commandOf } from "../export/exported.js";

const examples = `Examples:
  parlance ls
  parlance ls --json | jq -r 'select(.violations > 0).path'`;

/** Adds `parlance ls`. */
export function registerLs(program: Command, invocation: Invocation): void {
  program
    .command("ls")
    .summary("list the recordings, newest first")
    .description("List the recordings in the default folder, newest first.")
    .option("--json", "print one JSON object per line, for programs")
    .addHelpText(
      "after",
      `\nThey are kept in ${recordingDirectory(process.env)} (PARLANCE_RECORDINGS).\n\n${retentionHelp}\n\n${examples}`,
    )
    .action((flags: { readonly json?: true }) => invocation.run(() => ls(flags.json === true, invocation)));
}

async function ls(json: boolean, { out, err, interrupt }: Invocation): Promise<number> {
  const files = await listRecordings(process.env);
  if (files.length === 0 && !json) {
    err.print(
      `no recordings yet in ${recordingDirectory(process.env)}`,
      "  → parlance tap -- node server.js makes one",
    );
    return exitCodes.clean;
  }
  if (!json) out.print(out.style.dim(row("name", "server", ({ title }) => title, out.width)));
  for (const file of files) {
    if (interrupt.stop.aborted) return interrupt.exitCode;
    err.status(`reading ${file.name}`);
    const digest = await digestOf(file);
    err.status("");
    out.print(json ? jsonLine(digest) : rowOf(digest, out));
  }
  return exitCodes.clean;
}

/** A recording in a list. */
interface RecordingDigest extends RecordingFile {
  readonly began: string | undefined;
  readonly mode: HeaderEntry["mode"] | undefined;
  readonly server: string | undefined;
  readonly frames: number;
  readonly violations: number;
  readonly damages: number;
  readonly live: boolean;
}

async function digestOf(file: RecordingFile): Promise<RecordingDigest> {
  const conversation = new Conversation();
  let header: HeaderEntry | undefined;
  let damages = 0;
  let ended = false;
  for await (const { entry, damage } of readRecordingFile(file.path)) {
    if (damage !== undefined && !damage.torn) damages += 1;
    if (entry === undefined) continue;
    if (entry.k === "hdr") header = entry;
    ended = entry.k === "end";
    conversation.push(entry);
  }
  conversation.finish();
  return {
    ...file,
    began: header?.t0,
    mode: header?.mode,
    server: commandOf(header)?.join(" ") ?? header?.server?.url,
    frames: conversation.rows.filter(({ frame }) => frame !== undefined).length,
    violations: conversation.verdicts.filter(({ level }) => level === "must").length,
    damages,
    live: !ended && isLive(header, file.changed),
  };
}

/** A column between the name and the server of a recording. */
interface Column {
  readonly title: string;
  readonly width: number;
  readonly align: typeof left;
  readonly text: (digest: RecordingDigest) => string;
}

const columns: readonly Column[] = [
  { title: "age", width: 6, align: right, text: ({ changed }) => ageText(Date.now() - changed) },
  { title: "mode", width: 6, align: left, text: ({ mode = "?" }) => mode },
  { title: "frames", width: 9, align: right, text: ({ frames }) => frames.toLocaleString("en") },
  {
    title: "✖",
    width: 5,
    align: right,
    text: ({ violations }) => (violations === 0 ? "" : violations.toLocaleString("en")),
  },
  { title: "size", width: 7, align: right, text: ({ bytes }) => bytesText(bytes) },
  { title: "", width: 7, align: left, text: ({ live, damages }) => (live ? "● live" : damages > 0 ? "damaged" : "") },
];

function row(name: string, server: string, textOf: (column: Column) => string, width: number): string {
  const cells = columns.map((column) => column.align(textOf(column), column.width)).join(" ");
  const room = width - cells.length - 2;
  const nameWidth = Math.max(20, Math.floor(room * 0.55));
  return `${left(name, nameWidth)} ${cells} ${left(server, room - nameWidth)}`.trimEnd();
}

function rowOf(digest: RecordingDigest, { style, width }: Output): string {
  const { name, violations, damages, live, server = "" } = digest;
  const line = row(name, escapeControls(server), ({ text }) => text(digest), width);
  return live ? style.green(line) : violations > 0 || damages > 0 ? style.red(line) : line;
}

const ages: readonly (readonly [milliseconds: number, unit: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
];

function ageText(milliseconds: number): string {
  const [length, unit] = ages.find(([each]) => milliseconds >= each) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(milliseconds / length))} ${unit}`;
}
