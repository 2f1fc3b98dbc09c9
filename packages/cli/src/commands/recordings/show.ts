import { existsSync } from "node:fs";
import type { Row } from "@parlance/wire";
import type { Command } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import { type Failure, usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { lined } from "../../shared/output/terminal.js";
import { Pace } from "../../shared/pace.js";
import { findRecording, recordingHelp } from "../../shared/recordings/find-recording.js";
import { loadRecording } from "../../shared/recordings/load-recording.js";
import { pendingValue, rowValue } from "../../shared/recordings/recorded-json.js";
import { loadFrame } from "./frame-context.js";
import { detailLines } from "./frame-detail.js";

interface ShowFlags {
  readonly hex?: true;
  readonly json?: true;
}

const examples = `Examples:
  parlance show last 44
  parlance show last 44 --hex
  gunzip -c run.parlance.jsonl.gz | parlance show - 44 --json | jq .verdicts`;

/** Adds `parlance show`. */
export function registerShow(program: Command, invocation: Invocation): void {
  program
    .command("show")
    .summary("show one frame of a recording: its bytes, its context, and the rules that it breaks")
    .description("Show one frame of a recording: its bytes, its context, and the rules that it breaks.")
    .usage("[options] <recording> <n>")
    .argument("<recording>", "see below")
    .argument("[n]", "its number, as parlance tail shows it")
    .option("--hex", "print the bytes in hexadecimal digits, with their offsets")
    .option("--json", "print one JSON object, for programs")
    .addHelpText("after", `\n${recordingHelp}\n\n${examples}`)
    .action((word: string, n: string | undefined, flags: ShowFlags) =>
      invocation.run(async () => {
        if (n === undefined) throw await numberMissing(word, invocation);
        return show(word, n, flags, invocation);
      }),
    );
}

/** A command line without the number of a frame. The remedy has the numbers of the recording. */
async function numberMissing(word: string, { interrupt }: Invocation): Promise<Failure> {
  const missing = "the number of a frame is missing";
  if (/^\d{1,15}$/.test(word) && !existsSync(word)) return usageFailure(missing, `parlance show last ${word}`);
  const path = await findRecording(word, process.env);
  const { conversation } = await loadRecording(path, { stop: interrupt.stop });
  const [first] = conversation.rows.flatMap(({ n }) => n ?? []);
  return usageFailure(
    `${missing}: ${numbersOf(conversation.rows)}`,
    `parlance tail --no-follow --recording ${word} prints them${first === undefined ? "" : `\nparlance show ${word} ${first}`}`,
  );
}

async function show(word: string, n: string, flags: ShowFlags, { out, interrupt }: Invocation): Promise<number> {
  const wanted = Number(n);
  if (!/^\d{1,15}$/.test(n)) throw usageFailure(`${n} is not the number of a frame`, "parlance show last 1");
  const path = await findRecording(word, process.env);
  const pace = new Pace(interrupt, "not all of it is shown");
  const conversation =
    (await loadFrame(path, wanted)) ?? (await loadRecording(path, { stop: interrupt.stop })).conversation;
  pace.check();
  const row = conversation.rows.find((each) => each.n === wanted);
  if (row === undefined) throw usageFailure(`${path} has no frame ${wanted}: ${numbersOf(conversation.rows)}`);
  const pending = conversation.pending();
  if (flags.json === true) {
    const own = pending.filter(({ operation }) => row.messages.includes(operation.request));
    out.print(jsonLine({ ...rowValue(row), pending: own.map(pendingValue) }));
  } else await out.write(lined(detailLines({ row, pending, hex: flags.hex === true }, out)), pace);
  return exitCodes.clean;
}

function numbersOf(rows: readonly Row[]): string {
  const numbers = rows.flatMap(({ n }) => (n === undefined ? [] : [n]));
  if (numbers.length === 0) return "the recording is empty";
  return `the recording has the numbers ${numbers[0]} to ${numbers.at(-1)}`;
}
