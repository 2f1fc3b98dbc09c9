import { type Command, InvalidArgumentError, Option } from "commander";
import { exitCodes } from "../exit-codes.js";
import type { Invocation } from "../invocation.js";
import { playedLines } from "../print/played.js";
import { openRecorded } from "../recorded-conversation.js";
import { type MatchMode, matchModes } from "../replay/matching.js";
import { playOnStdio } from "../replay/stdio-stage.js";

interface ReplayFlags {
  readonly as: "server" | "client";
  readonly match: MatchMode;
  readonly speed: number;
  readonly strict?: true;
}

const about = `Play one side of a recording again. As the server, it waits for what the recorded
client has asked, and answers with the recorded bytes: ids and progress tokens are
those of the client that asks now. stdout holds nothing but the conversation; what
was never asked, and what was asked and is not in the recording, is told on stderr.`;

const exits = `Exit codes:
  0  the conversation is over
  1  the command line is wrong
  2  with --strict: it was not the recorded conversation
  6  the recording is damaged`;

const examples = `Examples:
  parlance replay session.parlance.jsonl --as server
  parlance talk --once -- parlance replay session.parlance.jsonl --as server
  parlance replay session.parlance.jsonl --as server --match method --speed 1`;

/** Adds `parlance replay`. */
export function registerReplay(program: Command, invocation: Invocation): void {
  program
    .command("replay")
    .summary("be the server of a recording, or drive a server with its client")
    .description(about)
    .argument("<recording>", "a file")
    .addOption(new Option("--as <side>", "the side to play").choices(["server", "client"]).makeOptionMandatory())
    .addOption(
      new Option(
        "--match <mode>",
        "how a request must be like the recorded one: exact, method, or order (exact, and in order)",
      )
        .choices(matchModes)
        .default("exact"),
    )
    .option("--speed <times>", "0 answers at once, 1 as fast as recorded, 10 ten times as fast", speed, 0)
    .option("--strict", "exit with 2 if the conversation was another one")
    .addHelpText("after", `\n${exits}\n\n${examples}`)
    .action((path: string, flags: ReplayFlags) => invocation.run(() => replay(path, flags, invocation)));
}

function speed(text: string): number {
  const times = Number(text);
  if (text !== "" && times >= 0 && Number.isFinite(times)) return times;
  throw new InvalidArgumentError("Write 0, 1, 10 or any other factor.");
}

async function replay(path: string, flags: ReplayFlags, { err }: Invocation): Promise<number> {
  const { conversation } = await openRecorded(path);
  const player = await playOnStdio(conversation, flags, {
    send: (bytes, lineBreak) => process.stdout.write(Buffer.concat([bytes, Buffer.from(lineBreak)])),
    log: (bytes) => process.stderr.write(bytes),
    exit: (code) => process.stdout.write("", () => process.exit(code)),
  });
  const { lines, isSame } = playedLines(player, err.style);
  err.print(...lines);
  return flags.strict === true && !isSame ? exitCodes.violations : exitCodes.clean;
}
