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
  if (!json) out.print(out.style.dim(row(titles, out.width)));
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
    server: serverOf(header),
    frames: conversation.rows.filter(({ frame }) => frame !== undefined).length,
    violations: conversation.verdicts.filter(({ level }) => level === "must").length,
    damages,
    live: !ended && isLive(header, file.changed),
  };
}

function serverOf(header: HeaderEntry | undefined): string | undefined {
  const { cmd, args = [], url } = header?.server ?? {};
  return cmd === undefined ? url : [cmd, ...args].join(" ");
}

interface Cells {
  readonly name: string;
  readonly age: string;
  readonly mode: string;
  readonly frames: string;
  readonly violations: string;
  readonly size: string;
  readonly state: string;
  readonly server: string;
}

const titles: Cells = {
  name: "name",
  age: "age",
  mode: "mode",
  frames: "frames",
  violations: "✖",
  size: "size",
  state: "",
  server: "server",
};

const widths = { age: 6, mode: 6, frames: 9, violations: 5, size: 7, state: 7 } as const;

function row({ name, age, mode, frames, violations, size, state, server }: Cells, width: number): string {
  const cells = [
    right(age, widths.age),
    left(mode, widths.mode),
    right(frames, widths.frames),
    right(violations, widths.violations),
    right(size, widths.size),
    left(state, widths.state),
  ].join(" ");
  const room = width - cells.length - 2;
  const nameWidth = Math.max(20, Math.floor(room * 0.55));
  return `${left(name, nameWidth)} ${cells} ${left(server, room - nameWidth)}`.trimEnd();
}

function rowOf(digest: RecordingDigest, { style, width }: Output): string {
  const { name, changed, mode = "?", frames, violations, damages, bytes, live, server = "" } = digest;
  const state = live ? "● live" : damages > 0 ? "damaged" : "";
  const line = row(
    {
      name,
      age: ageText(Date.now() - changed),
      mode,
      frames: frames.toLocaleString("en"),
      violations: violations === 0 ? "" : violations.toLocaleString("en"),
      size: bytesText(bytes),
      state,
      server: escapeControls(server),
    },
    width,
  );
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
