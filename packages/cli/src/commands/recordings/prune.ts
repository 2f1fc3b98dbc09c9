import { escapeControls } from "@parlance/mcp/jsonrpc";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { bytesText, count } from "../../shared/output/quantities.js";
import { recordingDirectory } from "../../shared/recorder/recording-name.js";
import {
  type Bound,
  type Prunable,
  parseAge,
  parseBytes,
  parseCount,
  prune,
  retentionHelp,
  retentionOf,
} from "../../shared/recordings/prune-recordings.js";

interface PruneFlags {
  readonly olderThan?: number;
  readonly maxSize?: number;
  readonly keep?: number;
  readonly dryRun?: true;
  readonly json?: true;
}

const about = `Delete recordings in the default folder: by age, by total size, or by number, the oldest
first.`;

const examples = `Exit codes:
  0  done, or there was nothing to do
  1  the command line is wrong
  3  the recordings cannot be listed

Examples:
  parlance prune --dry-run
  parlance prune --older-than 7d
  parlance prune --max-size 200MB --keep 50
  parlance prune --keep 0`;

/** Adds `parlance prune`. */
export function registerPrune(program: Command, invocation: Invocation): void {
  program
    .command("prune")
    .summary("delete old recordings")
    .description(about)
    .option(
      "--older-than <age>",
      "recordings not written for this long: 12h, 30d, 4w",
      read(parseAge, "12h, 30d or 4w"),
    )
    .option(
      "--max-size <size>",
      "the oldest recordings, until this much is left: 500MB, 1GB",
      read(parseBytes, "500MB or 1GB"),
    )
    .option("--keep <n>", "the oldest recordings, until this many are left", read(parseCount, "a whole number"))
    .option("--dry-run", "print what would be deleted, and delete nothing")
    .option("--json", "print one JSON object per line, for programs")
    .addHelpText("after", `\nWithout a limit, those of PARLANCE_RETENTION apply.\n\n${retentionHelp}\n\n${examples}`)
    .action((flags: PruneFlags) => invocation.run(() => run(flags, invocation)));
}

function read(parse: (text: string) => number | undefined, form: string): (text: string) => number {
  return (text) => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`Write ${form}.`);
    return value;
  };
}

async function run(flags: PruneFlags, { out, err }: Invocation): Promise<number> {
  const { olderThan: age, maxSize: bytes, keep, dryRun: isDry = false, json = false } = flags;
  const isBounded = age !== undefined || bytes !== undefined || keep !== undefined;
  const retention = isBounded ? { age, bytes, count: keep } : retentionOf(process.env);
  if (retention === undefined) {
    err.print(
      `PARLANCE_RETENTION is ${escapeControls(process.env.PARLANCE_RETENTION ?? "")}: name a bound, e.g. --older-than 30d`,
    );
    return exitCodes.usage;
  }
  const { deleted, spared, kept } = await prune(process.env, retention, isDry);
  const verb = isDry ? "would delete" : "deleted";
  for (const each of deleted)
    out.print(json ? jsonLine({ ...valueOfFile(each), deleted: !isDry }) : `${verb} ${lineOf(each)}`);
  for (const each of spared) {
    if (json) out.print(jsonLine({ ...valueOfFile(each), deleted: false, spared: true }));
    else
      out.print(
        out.style.dim(`not deleted, because it may still be written, or for lack of permission: ${lineOf(each)}`),
      );
  }
  const freed = deleted.reduce((sum, { bytes: each }) => sum + each, 0);
  const words =
    deleted.length === 0 ? "nothing to delete" : `${verb} ${count(deleted.length, "recording")}, ${bytesText(freed)}`;
  if (!json) err.print(`${words}; ${kept} kept in ${recordingDirectory(process.env)}`);
  return exitCodes.clean;
}

function valueOfFile({ path, name, bytes, changed, beyond }: Prunable): object {
  return { path, name, bytes, changed: new Date(changed).toISOString(), beyond };
}

const reasons: Readonly<Record<Bound, string>> = { age: "too old", bytes: "too much", count: "too many" };

function lineOf({ name, bytes, beyond }: Prunable): string {
  return `${escapeControls(name)} (${bytesText(bytes)}, ${reasons[beyond]})`;
}
