import type { Command, Option } from "commander";

/** All commands with their options and values. */
export interface CommandTable {
  readonly options: readonly OptionRow[];
  readonly commands: readonly CommandRow[];
}

export interface CommandRow {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionRow[];
  /** The possible first words after the command; empty if it may be anything. */
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

/** Reads the table from the registered commands. */
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
