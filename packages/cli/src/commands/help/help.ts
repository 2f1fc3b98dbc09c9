import { didYouMean } from "@parlance/mcp/jsonrpc";
import type { Command } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { visibleLines } from "../../shared/output/columns.js";
import type { Style } from "../../shared/output/style.js";

/** Adds `parlance help`, which prints what `--help` of a command prints. */
export function registerHelp(program: Command, { run }: Invocation): void {
  program
    .command("help")
    .summary("print the help page of a command")
    .description("Print this page or that of a command, as parlance <command> --help does.")
    .argument("[command]", "the command")
    .addHelpText("after", "\nExamples:\n  parlance help\n  parlance help talk")
    .action((name: string | undefined) =>
      run(async () => {
        const command = name === undefined ? program : program.commands.find((each) => each.name() === name);
        if (command === undefined) program.error(`error: unknown command '${name}'`, { exitCode: exitCodes.usage });
        command.outputHelp();
        return exitCodes.clean;
      }),
    );
}

/** A usage error of commander in the form of our failures, with the nearest name or the help page as the remedy. */
export function usageErrorText(message: string, program: Command, words: readonly string[], style: Style): string {
  const [headline = ""] = visibleLines(message.replace(/^error: /, ""));
  const command = program.commands.find((each) => each.name() === words[0]);
  const [, kind, name = ""] = /unknown (option|command) '(.*)'/.exec(headline) ?? [];
  const page =
    command === undefined || kind === "command"
      ? "parlance help lists the commands"
      : `parlance help ${command.name()} shows how to write it`;
  const advice = (kind === undefined ? undefined : didYouMean(name, namesIn(kind, command ?? program))) ?? page;
  return `${style.red("✖")} ${headline}\n  ${style.dim("→")} ${advice}\n`;
}

function namesIn(kind: string, command: Command): readonly string[] {
  const help = command.createHelp();
  if (kind === "option") return help.visibleOptions(command).flatMap(({ long }) => long ?? []);
  return (command.parent ?? command).commands.map((each) => each.name());
}
