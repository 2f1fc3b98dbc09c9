import { versions } from "@parlance/mcp";
import { type Command, InvalidArgumentError } from "commander";
import { parseDuration } from "./duration.js";
import { usageFailure } from "./failure.js";
import { commandTarget, parseTarget, type Target } from "./target.js";

/** What every command that speaks to a server can be told. */
export interface ConversationFlags {
  /** Milliseconds. */
  readonly timeout: number;
  readonly env?: Readonly<Record<string, string>>;
}

const defaultTimeout = "30s";

/** Adds the options of every command that speaks to a server. */
export function addConversationOptions(command: Command): Command {
  return command
    .option(
      "--timeout <duration>",
      `how long to wait for each answer: 500ms, 10s, 2m (default: ${defaultTimeout})`,
      duration,
    )
    .setOptionValue("timeout", parseDuration(defaultTimeout))
    .option("--env <name[=value]>", "give a started command this variable; may be repeated", variable);
}

/** Reads the version of a revision that exists. */
export function parseRevision(text: string): string {
  if (versions.includes(text)) return text;
  throw new InvalidArgumentError(`It must be one of ${versions.join(", ")}.`);
}

function duration(text: string): number {
  const parsed = parseDuration(text);
  if (parsed === undefined) throw new InvalidArgumentError("Write it as 500ms, 10s or 2m, of at most a day.");
  return parsed;
}

function variable(text: string, others: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name = "", assigned] = /^([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
  if (name === "") throw new InvalidArgumentError("Write NAME=value, or NAME to pass on a variable of this shell.");
  const value = assigned ?? process.env[name];
  if (value === undefined) throw new InvalidArgumentError(`${name} is not set here.`);
  return { ...others, [name]: value };
}

/** Adds one more value to an option that may be repeated. */
export function collect(text: string, others: readonly string[] = []): readonly string[] {
  return [...others, text];
}

/** The one target of a command: a word, or the words behind `--`. @throws Failure */
export function chooseTarget(
  word: string | undefined,
  command: readonly string[] | undefined,
): Promise<Target> | Target {
  if (word !== undefined && command !== undefined) {
    throw usageFailure(`there are two targets, ${word} and the command behind --`, "leave one of them out");
  }
  if (command !== undefined) return commandTarget(command);
  if (word !== undefined) return parseTarget(word);
  throw usageFailure("there is no target to speak to", "parlance talk -- node server.js");
}
