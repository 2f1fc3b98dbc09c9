import type { Command, Option } from "commander";

/** What can be completed: the commands of the program, each with its options and the words that it knows. */
export interface CommandTable {
  readonly options: readonly OptionRow[];
  readonly commands: readonly CommandRow[];
}

export interface CommandRow {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionRow[];
  /** What the first word behind the command may be; none, if it is a file or anything else. */
  readonly words: readonly string[];
  /** Whether the first word after the command is a target, which may be the name of a configured server. */
  readonly targets: boolean;
}

export interface OptionRow {
  /** `-h`, if it has a short name. */
  readonly short: string | undefined;
  /** `--help`. */
  readonly long: string;
  readonly value: "none" | "optional" | "required";
  readonly description: string;
}

/** Reads the table out of the program itself, so that it has all that the program has. */
export function commandTable(program: Command): CommandTable {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  const names = commands.map((command) => command.name());
  return {
    options: help.visibleOptions(program).map(optionRow),
    commands: commands.map((command) => ({
      name: command.name(),
      summary: command.summary() || command.description(),
      options: help.visibleOptions(command).map(optionRow),
      words: command.name() === "help" ? names : (command.registeredArguments[0]?.argChoices ?? []),
      targets: command.registeredArguments.some((argument) => argument.name() === "target"),
    })),
  };
}

function optionRow({ short, long, flags, required, optional, description }: Option): OptionRow {
  const value = required ? "required" : optional ? "optional" : "none";
  return { short, long: long ?? flags, value, description };
}
