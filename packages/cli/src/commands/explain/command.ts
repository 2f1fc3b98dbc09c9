import type { Command } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { wrapWords } from "../../shared/output/columns.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import type { Output } from "../../shared/output/terminal.js";
import { explain, topics } from "./explain.js";
import { type Explanation, spanText, type Topic } from "./explanation.js";

interface ExplainFlags {
  readonly json?: true;
}

const about = `Explain an error code, an HTTP status, a method, a capability, a revision, a rule or a probe: the
revisions that have it, the side at fault, examples of messages, and the page of the specification.
Without a word, list everything that can be explained.`;

const examples = `Examples:
  parlance explain -32602
  parlance explain MethodNotFound
  parlance explain tools/call
  parlance explain tools.listChanged
  parlance explain R-5 R-7
  parlance explain --json tools/call | jq -r '.explanations[0].spec[]'`;

/** Adds `parlance explain`. */
export function registerExplain(program: Command, invocation: Invocation): void {
  program
    .command("explain")
    .summary("explain an error code, a method, a capability, a revision, a rule or a probe")
    .description(about)
    .usage("[options] [code|method|capability|revision|rule|probe…]")
    .argument("[words...]", "see above")
    .option("--json", "print one JSON object for each word, for programs")
    // A negative code begins like an option.
    .allowUnknownOption()
    .addHelpText(
      "after",
      `\nExit codes:\n  0  explained\n  1  the command line is wrong, or the word is unknown\n\n${examples}`,
    )
    .action((given: readonly string[], flags: ExplainFlags) =>
      invocation.run(async () => {
        const words = [...given, ...(invocation.command ?? [])]; // `explain -- -32602`
        if (words.length === 0) printTopics(flags, invocation.out);
        // All are read before one is printed: an unknown word is a wrong command line.
        const explained = words.map((word) => ({ word, ...explain(word) }));
        for (const [index, each] of explained.entries()) {
          if (index > 0 && flags.json !== true) invocation.out.print("");
          printExplained(each, flags, invocation.out);
        }
        return exitCodes.clean;
      }),
    );
}

function printTopics({ json }: ExplainFlags, { style, width, print }: Output): void {
  if (json === true) print(jsonLine(Object.fromEntries(topics.map(({ topic, names }) => [topic, names]))));
  else
    for (const { topic, names } of topics) {
      const lines = wrapWords(names.join("  "), width - indent.length, "  ");
      print(style.bold(headings[topic]), ...lines.map((line) => `${indent}${line}`));
    }
}

function printExplained(
  { word, remark, explanations }: ReturnType<typeof explain> & { readonly word: string },
  { json }: ExplainFlags,
  out: Output,
): void {
  if (json === true) {
    out.print(jsonLine({ word, remark, explanations: explanations.map(jsonOf) }));
    return;
  }
  if (remark !== undefined) out.print(...wrapWords(remark, out.width).map((line) => out.style.yellow(line)), "");
  for (const [index, each] of explanations.entries()) {
    if (index > 0) out.print("");
    printExplanation(each, out);
  }
}

const headings: Readonly<Record<Topic, string>> = {
  code: "Error codes, which may also be given by name",
  request: "Requests",
  notification: "Notifications",
  revision: "Revisions",
  rule: "Rules, which parlance check applies",
  probe: "Probes, which parlance check sends to a server",
};

const indent = "  ";
const labelWidth = 10;

function printExplanation(
  { name, title, says, facts, sentences = [], wire, spec }: Explanation,
  { style, width, print }: Output,
): void {
  const arrow = { client: "client →", server: "server ←" } as const;
  const quoted = sentences.map(({ level, text, versions }) => ({
    label: level === "may" ? "note" : level.toUpperCase(),
    text: `${text === undefined ? "no sentence requires it" : `“${text}”`}${sentences.length > 1 ? ` (${spanText(versions)})` : ""}`,
  }));
  const rows = [...facts, ...quoted].flatMap(({ label, text }) =>
    wrapWords(text, width - indent.length - labelWidth).map(
      (line, index) => indent + style.dim((index === 0 ? label : "").padEnd(labelWidth)) + line,
    ),
  );
  print(
    `${style.bold(name)}${style.dim(` · ${title}`)}`,
    ...wrapWords(says, width - indent.length).map((line) => `${indent}${line}`),
    ...rows,
    // Not cut, because users copy examples.
    ...wire.map(({ from, raw }) => `${indent}${style.dim(arrow[from].padEnd(labelWidth))}${raw}`),
    ...spec.map((address) => `${indent}${style.dim(address)}`),
  );
}

function jsonOf({ facts, wire, ...rest }: Explanation): object {
  return { ...rest, facts: Object.fromEntries(facts.map(({ label, text }) => [label, text])), wire };
}
