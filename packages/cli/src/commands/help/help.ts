import type { Command } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";

/** Adds `parlance help`, which prints what `--help` of a command prints. */
export function registerHelp(program: Command, { run }: Invocation): void {
  program
    .command("help")
    .summary("print the page of a command")
    .description("Print this page, or that of a command: the same as parlance <command> --help.")
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
