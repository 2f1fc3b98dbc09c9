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

/** A usage error of commander in the format of our failures, with the nearest name or the help page as the remedy. */
export function usageErrorText(message: string, program: Command, words: readonly string[], style: Style): string {
  const [headline = ""] = visibleLines(message.replace(/^error: /, ""));
  const command = program.commands.find((each) => each.name() === words[0]);
  const [, kind, name = ""] = /unknown (option|command) '(.*)'/.exec(headline) ?? [];
  const page =
    command === undefined || kind === "command"
      ? "parlance help lists the commands"
      : `parlance help ${command.name()} shows how to write it`;
  const known = elsewhere.get(name)?.(command);
  const near = kind === undefined ? undefined : didYouMean(name, namesIn(kind, command ?? program));
  const isMissing = command !== undefined && headline.startsWith("missing required argument");
  const usage = isMissing ? `parlance ${command.name()} ${command.usage().split("\n")[0]}` : undefined;
  const advice = known ?? near ?? usage ?? page;
  return `${style.red("✖")} ${headline}\n  ${style.dim("→")} ${advice}\n`;
}

type Advice = (command: Command | undefined) => string | undefined;

/** Advice for commands with an option. */
function forOption(name: string, advice: string): Advice {
  return (command) => (command?.options.some(({ long }) => long === name) === true ? advice : undefined);
}

/** Advice for a word in the place of a command. */
function forCommand(advice: string): Advice {
  return (command) => (command === undefined ? advice : undefined);
}

/** Advice on a port, by the option of a command that listens. */
const listeners: ReadonlyMap<string, string> = new Map([
  ["--listen <host:port>", "write --listen 127.0.0.1:8080"],
  ["--listen <address>", "write --listen http://127.0.0.1:8080/mcp"],
  ["--http [port]", "write --http 8080"],
]);

const address: Advice = (command) => command?.options.map(({ flags }) => listeners.get(flags)).find(Boolean);

const header = forOption("--header", "write --header 'Name: value'");
const token = forOption("--bearer-env", "write --bearer-env TOKEN, with the token in the variable TOKEN");

/** Options and commands of other programs, with their equivalents. */
const elsewhere: ReadonlyMap<string, Advice> = new Map<string, Advice>([
  ["-H", header],
  ["--headers", header],
  ["--token", token],
  ["--bearer", token],
  ["--auth", token],
  ["--port", address],
  ["-p", address],
  ["--host", address],
  [
    "--answer",
    (command) =>
      command?.name() === "check"
        ? "check answers nothing that a tool asks: parlance run --call 'tool name=text' --answer accept does"
        : undefined,
  ],
  ["tools", forCommand("parlance list <target> tools")],
  ["resources", forCommand("parlance list <target> resources")],
  ["templates", forCommand("parlance list <target> templates")],
  ["prompts", forCommand("parlance list <target> prompts")],
  ["inspect", forCommand("parlance talk <target>, or parlance run --ui <target>")],
]);

function namesIn(kind: string, command: Command): readonly string[] {
  const help = command.createHelp();
  if (kind === "option") return help.visibleOptions(command).flatMap(({ long }) => long ?? []);
  return (command.parent ?? command).commands.map((each) => each.name());
}
