import { didYouMean } from "@parlance/mcp/jsonrpc";
import type { Command } from "commander";
import { visibleLines } from "../../shared/output/columns.js";
import type { Style } from "../../shared/output/style.js";

/** A usage error of commander in the form of our failures, with the nearest name or the help page as the remedy. */
export function usageErrorText(message: string, program: Command, words: readonly string[], style: Style): string {
  const [headline = ""] = visibleLines(message.replace(/^error: /, ""));
  const command = program.commands.find((each) => each.name() === words[0]);
  const [, kind, name = ""] = /unknown (option|command) '(.*)'/.exec(headline) ?? [];
  const page =
    command === undefined || kind === "command"
      ? "parlance help lists the commands"
      : `parlance help ${command.name()} says how it is written`;
  const advice = (kind === undefined ? undefined : didYouMean(name, namesIn(kind, command ?? program))) ?? page;
  return `${style.red("✖")} ${headline}\n  ${style.dim("→")} ${advice}\n`;
}

function namesIn(kind: string, command: Command): readonly string[] {
  const help = command.createHelp();
  if (kind === "option") return help.visibleOptions(command).flatMap(({ long }) => long ?? []);
  return (command.parent ?? command).commands.map((each) => each.name());
}
