import { Command, CommanderError } from "commander";
import { exitCodes } from "../shared/exit-codes.js";
import { toFailure, usageFailure } from "../shared/failure.js";
import { listenForInterrupt } from "../shared/interrupt.js";
import type { Invocation } from "../shared/invocation.js";
import { wantsColour } from "../shared/output/style.js";
import { outputOf, printFailure } from "../shared/output/terminal.js";
import { packageVersion } from "../shared/package-version.js";
import { partCommandLine } from "../shared/target/target.js";
import { usageErrorText } from "./help/help.js";

/** Adds a command to the program. */
type Register = (program: Command, invocation: Invocation) => void;

/**
 * Where the commands are; `command-groups.ts` has the order of the help page. Each is loaded when it is wanted: it needs
 * its part of the library, and nobody waits for that of the others.
 */
const commands: Readonly<Record<string, () => Promise<Register>>> = {
  bridge: async () => (await import("./bridge/command.js")).registerBridge,
  call: async () => (await import("./ask/call.js")).registerCall,
  check: async () => (await import("./check/command.js")).registerCheck,
  complete: async () => (await import("./ask/complete.js")).registerComplete,
  completion: async () => (await import("./help/completion.js")).registerCompletion,
  diff: async () => (await import("./recordings/diff.js")).registerDiff,
  doctor: async () => (await import("./doctor/command.js")).registerDoctor,
  explain: async () => (await import("./explain/command.js")).registerExplain,
  export: async () => (await import("./export/command.js")).registerExport,
  help: async () => (await import("./help/help.js")).registerHelp,
  list: async () => (await import("./ask/list.js")).registerList,
  ls: async () => (await import("./recordings/ls.js")).registerLs,
  prompt: async () => (await import("./ask/prompt.js")).registerPrompt,
  proxy: async () => (await import("./proxy/command.js")).registerProxy,
  prune: async () => (await import("./recordings/prune.js")).registerPrune,
  read: async () => (await import("./ask/read.js")).registerRead,
  redact: async () => (await import("./recordings/redact.js")).registerRedact,
  replay: async () => (await import("./replay/command.js")).registerReplay,
  run: async () => (await import("./run/command.js")).registerRun,
  send: async () => (await import("./send/command.js")).registerSend,
  serve: async () => (await import("./serve/command.js")).registerServe,
  show: async () => (await import("./recordings/show.js")).registerShow,
  subscribe: async () => (await import("./ask/subscribe.js")).registerSubscribe,
  tail: async () => (await import("./recordings/tail.js")).registerTail,
  talk: async () => (await import("./talk/command.js")).registerTalk,
  tap: async () => (await import("./tap/command.js")).registerTap,
  wrap: async () => (await import("./wrap/command.js")).registerWrap,
  unwrap: async () => (await import("./wrap/command.js")).registerWrap,
};

/** Commands that speak of the others. */
const aboutAll: ReadonlySet<string> = new Set(["help", "completion"]);

/** What a command line needs: its command, or all of them where it names none that needs no other. */
async function registrationsFor([word = ""]: readonly string[]): Promise<ReadonlySet<Register>> {
  const wanted = Object.hasOwn(commands, word) && !aboutAll.has(word) ? commands[word] : undefined;
  const loads = wanted === undefined ? Object.values(commands) : [wanted];
  return new Set(await Promise.all(loads.map((load) => load())));
}

/** The groups of commands, in the order of the help page. Every command is in one of them. */
const groups: readonly (readonly [title: string, names: readonly string[]])[] = [
  ["Attach", ["talk", "run", "tap", "proxy", "bridge", "wrap", "unwrap"]],
  ["Read", ["ls", "tail", "show", "list", "explain", "prune"]],
  ["Judge", ["check", "doctor"]],
  ["Ask", ["call", "read", "prompt", "complete", "subscribe"]],
  ["Act", ["send", "replay", "diff", "export", "redact"]],
  ["Serve", ["serve"]],
  ["Help", ["completion", "help"]],
];

/** Puts the commands of the program into their groups, and in their order. */
function groupCommands(program: Command): void {
  const order = groups.flatMap(([, names]) => names);
  for (const command of program.commands) {
    const [title] = groups.find(([, names]) => names.includes(command.name())) ?? [];
    if (title !== undefined) command.helpGroup(`${title}:`);
  }
  // Commander prints its array as it is, and offers no other order than that of the alphabet.
  (program.commands as Command[]).sort((a, b) => order.indexOf(a.name()) - order.indexOf(b.name()));
}

const out = outputOf(process.stdout, process.env);
const err = outputOf(process.stderr, process.env);
const interrupt = listenForInterrupt();

/** The one place where something thrown becomes words and an exit code. */
function fail(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode; // Commander has said it.
  const failure = toFailure(error, "opening");
  // A reader that has read enough has no use for a reason.
  if (failure.exitCode !== exitCodes.clean) printFailure(failure, err);
  return failure.exitCode;
}

async function main(): Promise<number> {
  const { own, command } = partCommandLine(process.argv.slice(2));
  let exitCode: number = exitCodes.clean;
  const invocation: Invocation = {
    out,
    err,
    interrupt,
    command,
    async run(action) {
      exitCode = await action();
    },
  };
  const program: Command = new Command("parlance")
    .description("See, check and drive any MCP conversation.")
    .version(packageVersion, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this page")
    // What the arguments are is said below the options, where there is room for it.
    .configureHelp({
      styleTitle: (title) => `\u001b[1m${title}\u001b[22m`,
      visibleArguments: () => [],
      // Where its lines end in the source says nothing of the width of a terminal.
      commandDescription: (command) => command.description().replaceAll("\n", " "),
      subcommandTerm: (command) => command.name(),
    })
    .configureOutput({
      outputError: (message, write) => write(usageErrorText(message, program, own, err.style)),
      getOutHelpWidth: () => out.width,
      getErrHelpWidth: () => err.width,
      getOutHasColors: () => wantsColour(out.isTerminal, process.env),
      getErrHasColors: () => wantsColour(err.isTerminal, process.env),
    })
    .showSuggestionAfterError(false) // Ours looks like every other failure.
    .helpCommand(false) // Ours is a command like the others.
    .exitOverride();
  for (const register of await registrationsFor(own)) register(program, invocation);
  groupCommands(program);
  await program.parseAsync(own, { from: "user" });
  return exitCode;
}

/** What is still under way, like a timer of an imported module, does not keep the program alive. */
function leave(exitCode: number): void {
  const exit = (): void => {
    const { lostOutput } = interrupt;
    process.exit(
      lostOutput === undefined ? exitCode : fail(usageFailure(`the output cannot be written: ${lostOutput.message}`)),
    );
  };
  process.stdout.write("", () => setImmediate(exit)); // An error is told behind the write that met it.
}

process.on("uncaughtException", (error) => leave(fail(error)));
leave(await main().catch(fail));
