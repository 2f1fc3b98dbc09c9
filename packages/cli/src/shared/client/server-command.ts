import type { Command } from "commander";
import { type AnswerFlags, addAnswerOptions, answerHelp } from "../answers/answer-option.js";
import { exitCodeHelp } from "../exit-codes.js";
import { usageFailure } from "../failure.js";
import type { Invocation } from "../invocation.js";
import {
  addConversationOptions,
  addForceOption,
  type ConversationFlags,
  type ForceFlags,
  parseRevision,
  parseRevisions,
} from "../options.js";
import { targetHelp } from "../target/target.js";

/** The flags of every command that is the client of a server. */
export interface ServerFlags extends ConversationFlags, ForceFlags, AnswerFlags {
  readonly json?: true;
}

/** The flags of a client of a server with at most one revision. */
export interface OneRevisionFlags extends ServerFlags {
  readonly revision?: string;
}

/** The words of a command line: the target, unless it is the command after `--`, and the words after it. */
export interface TargetWords {
  readonly target: string | undefined;
  readonly rest: readonly string[];
}

/** The definition of a command that is the client of a server. */
export interface ServerCommand<Flags extends ServerFlags> {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** The words after the target, as the usage line shows them: `<tool> [name=value…]`. Default: none are allowed. */
  readonly words?: string;
  /** How many revisions `--revision` takes. Default: one. */
  readonly revision?: "several";
  /** The help text of `--json`. */
  readonly json: string;
  /** Adds the options of this command alone. */
  readonly addOptions?: (command: Command) => void;
  /** Sections of the help page between those on targets and exit codes. */
  readonly help?: readonly string[];
  /** Command lines, one per line. */
  readonly examples: string;
  /** Resolves to the exit code. */
  readonly run: (words: TargetWords, flags: Flags, invocation: Invocation) => Promise<number>;
}

/** Adds a command that is the client of a server: its target, the shared options, and its help page. */
export function registerServerCommand<Flags extends ServerFlags>(
  program: Command,
  invocation: Invocation,
  { name, run, ...page }: ServerCommand<Flags>,
): void {
  const words = page.words === undefined ? "" : ` ${page.words}`;
  const command = program
    .command(name)
    .summary(page.summary)
    .description(page.description)
    .usage(`[options] <target>${words}\n       parlance ${name} [options]${words} -- command args…`)
    .argument("[target...]", "see below");
  if (page.revision === "several")
    command.option(
      "--revision <version>",
      "the only revision to negotiate; may be repeated, for a conversation each",
      parseRevisions,
    );
  else
    command.option(
      "--revision <version>",
      "the only revision to negotiate (default: the newest that both support)",
      parseRevision,
    );
  page.addOptions?.(command);
  command.option("--json", page.json);
  addAnswerOptions(command);
  const sections = [targetHelp, ...(page.help ?? []), answerHelp, exitCodeHelp, `Examples:\n${page.examples}`];
  addConversationOptions(addForceOption(command))
    .addHelpText("after", `\n${sections.join("\n\n")}`)
    .action((given: readonly string[], flags: Flags) =>
      invocation.run(() => run(targetWords(given, name, page.words, invocation), flags, invocation)),
    );
}

function targetWords(
  given: readonly string[],
  name: string,
  words: string | undefined,
  { command }: Invocation,
): TargetWords {
  const [target, rest] = command === undefined || words === undefined ? [given[0], given.slice(1)] : [undefined, given];
  const [first = "", second = "", ...others] = given;
  const isName = /^(?:@?[\w-]+|[a-z][\w+.-]*:\/.*)$/i.test(first) && !looksLikeTarget(first);
  if (command === undefined && words !== undefined && isName && looksLikeTarget(second)) {
    const [quoted] = /\s/.test(second) ? [JSON.stringify(second)] : [second];
    throw usageFailure(`the target comes before ${first}`, `parlance ${[name, quoted, first, ...others].join(" ")}`);
  }
  if (words === undefined && rest.length > 0)
    throw usageFailure(`unexpected argument: ${rest.join(" ")}`, `parlance help ${name}`);
  return { target, rest };
}

/** A command line with the words that are missing in one with this target. */
export function exampleWith(name: string, words: string, target: string | undefined): string {
  if (target === undefined || !looksLikeTarget(target)) return `parlance ${name} ${words} -- node server.js`;
  return `parlance ${name} ${/\s/.test(target) ? JSON.stringify(target) : target} ${words}`;
}

/** Whether a word can only be a target: a URL, a module, or a command with its arguments. */
function looksLikeTarget(word: string): boolean {
  return (
    /^(?:https?|wss?):\/\//i.test(word) ||
    /^[\w./-]+\.[cm]?[jt]s$/.test(word) ||
    /^(?:node|npx|bun|deno|uvx|python3?) /.test(word)
  );
}
