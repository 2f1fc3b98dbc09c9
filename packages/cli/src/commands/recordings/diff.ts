import { Comparable, type Comparison, Conversation, comparisonSteps } from "@parlance/wire";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { comparisonLines } from "../../shared/output/comparison-lines.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { lined } from "../../shared/output/terminal.js";
import { Pace } from "../../shared/pace.js";
import { recordingHelp } from "../../shared/recordings/find-recording.js";
import { RecordingReader } from "../../shared/recordings/read-recording.js";

type ComparedItem = NonNullable<Comparison["items"][number]["left"]>;

interface DiffFlags {
  readonly ignore?: readonly string[];
  readonly json?: true;
}

const about = `Compare two recordings: the declarations of both sides, the definitions of the
server, and every call. Ids, progress tokens, cursors, trace context, request states
and times are ignored.`;

const exits = `Exit codes:
  0  the recordings do not differ
  1  the command line is wrong
  2  they differ
  6  a recording is damaged`;

const examples = `Examples:
  parlance diff before.parlance.jsonl after.parlance.jsonl
  parlance diff --ignore /result/structuredContent/at before.parlance.jsonl last
  parlance diff --ignore '/result/content/*/text' --json a.jsonl b.jsonl`;

/** Adds `parlance diff`. */
export function registerDiff(program: Command, invocation: Invocation): void {
  program
    .command("diff")
    .summary("compare two recordings")
    .description(about)
    .argument("<before>", "a recording, see below")
    .argument("<after>", "another one")
    .option("--ignore <pointer>", "a place in messages to ignore; * is any one token; may be repeated", pointer)
    .option("--json", "print one JSON object, for programs")
    .addHelpText("after", `\n${recordingHelp}\n\n${exits}\n\n${examples}`)
    .action((before: string, after: string, flags: DiffFlags) =>
      invocation.run(() => diff(before, after, flags, invocation)),
    );
}

function pointer(text: string, others: readonly string[] = []): readonly string[] {
  if (text.startsWith("/")) return [...others, text];
  throw new InvalidArgumentError("It must be a JSON pointer from a message, like /result/content/0/text.");
}

async function diff(before: string, after: string, flags: DiffFlags, { out, interrupt }: Invocation): Promise<number> {
  const pace = new Pace(interrupt, "nothing is compared yet");
  // One after the other, so that only the compared parts of both are in memory at the same time.
  const read = async (word: string): Promise<Comparable> => {
    const conversation = new Conversation({ keepRows: false });
    const comparable = new Comparable({ ignore: flags.ignore ?? [] });
    const reader = await RecordingReader.find(word, pace);
    for await (const entries of reader.lists())
      for (const entry of entries) {
        const row = conversation.push(entry);
        if (row !== undefined) comparable.take(row);
      }
    return comparable;
  };
  const comparison = await pace.run(comparisonSteps(await read(before), await read(after)));
  if (flags.json === true) out.print(comparisonJson(comparison));
  else await out.write(lined(comparisonLines(comparison, out)), new Pace(interrupt, "not all differences are shown"));
  return comparison.equal ? exitCodes.clean : exitCodes.violations;
}

/** A comparison as one JSON object. Integers that a double cannot hold are strings. */
function comparisonJson({ contract, definitions, items, same, latencies, equal }: Comparison): string {
  const changed = items.map(({ left, right, ...what }) => ({ ...what, left: place(left), right: place(right) }));
  const slower = latencies.map(({ left, right }) => ({
    ...place(left),
    before: left.latency,
    after: right.latency,
  }));
  const whole = { equal, same, contract, definitions, items: changed, latencies: slower };
  return jsonLine(
    JSON.parse(JSON.stringify(whole, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))),
  );
}

function place(item: ComparedItem | undefined): object | undefined {
  if (item === undefined) return undefined;
  const { n, from, kind, method, target, status, rules } = item;
  return { n, from, kind, method, target, status, rules };
}
