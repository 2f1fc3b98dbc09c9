import { Command, CommanderError } from "commander";
import { exitCodes } from "../shared/exit-codes.js";
import { toFailure, usageFailure } from "../shared/failure.js";
import { listenForInterrupt } from "../shared/interrupt.js";
import type { Invocation } from "../shared/invocation.js";
import { usesColour } from "../shared/output/style.js";
import { type Output, outputOf, printFailure } from "../shared/output/terminal.js";
import { packageVersion } from "../shared/package-version.js";
import { partCommandLine } from "../shared/target/target.js";
import { usageErrorText } from "./help/help.js";

/** Adds a command to the program. */
type Register = (program: Command, invocation: Invocation) => void;

/** The commands by name. Each is loaded only when it runs, because commands use different parts of the library. */
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
  login: async () => (await import("./login/command.js")).registerLogin,
  logout: async () => (await import("./login/logout.js")).registerLogout,
  ls: async () => (await import("./recordings/ls.js")).registerLs,
  open: async () => (await import("./open/command.js")).registerOpen,
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
  whoami: async () => (await import("./login/logout.js")).registerWhoami,
  wrap: async () => (await import("./wrap/command.js")).registerWrap,
  unwrap: async () => (await import("./wrap/command.js")).registerWrap,
};

/** Commands that list the others. */
const listing: ReadonlySet<string> = new Set(["help", "completion"]);

/** The registrations for a command line: that of its command, or all of them for help, completion and unknown commands. */
async function registrationsFor([word = ""]: readonly string[]): Promise<ReadonlySet<Register>> {
  const only = Object.hasOwn(commands, word) && !listing.has(word) ? commands[word] : undefined;
  const loads = only === undefined ? Object.values(commands) : [only];
  return new Set(await Promise.all(loads.map((load) => load())));
}

/** The groups of commands, in the order of the help page. Every command is in one of them. */
const groups: readonly (readonly [title: string, names: readonly string[]])[] = [
  ["Connect", ["talk", "run", "tap", "proxy", "bridge", "wrap", "unwrap"]],
  ["Read", ["ls", "open", "tail", "show", "list", "explain", "prune"]],
  ["Check", ["check", "doctor"]],
  ["Call", ["call", "read", "prompt", "complete", "subscribe"]],
  ["Replay", ["send", "replay", "diff", "export", "redact"]],
  ["Authorize", ["login", "logout", "whoami"]],
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
  // Commander can only sort by name; otherwise it prints its array in order.
  (program.commands as Command[]).sort((a, b) => order.indexOf(a.name()) - order.indexOf(b.name()));
}

/** The outputs and the interrupt of a command line. */
export type Surroundings = Pick<Invocation, "out" | "err" | "interrupt">;

/** Prints any error, and returns its exit code. */
function fail(error: unknown, err: Output): number {
  if (error instanceof CommanderError) return error.exitCode; // Commander has printed it.
  const failure = toFailure(error, "opening");
  // A closed output, as in `parlance tail | head`, is not an error.
  if (failure.exitCode !== exitCodes.clean) printFailure(failure, err);
  return failure.exitCode;
}

/** Runs a command line, and returns its exit code. Never rejects. */
export async function runProgram(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { out, err } = surroundings;
  try {
    const { own, command } = partCommandLine(words);
    let exitCode: number = exitCodes.clean;
    const invocation: Invocation = {
      ...surroundings,
      command,
      async run(action) {
        exitCode = await action();
      },
    };
    const program = programFor(own, out, err);
    for (const register of await registrationsFor(own)) register(program, invocation);
    groupCommands(program);
    await program.parseAsync(own, { from: "user" });
    return exitCode;
  } catch (error) {
    return fail(error, err);
  }
}

/** The program without its commands. @param own the words of the command line, for error messages */
function programFor(own: readonly string[], out: Output, err: Output): Command {
  const program: Command = new Command("parlance")
    .description("Inspect, record, check, call and replay MCP servers and clients.")
    .version(packageVersion, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this page")
    // The sections after the options describe the arguments.
    .configureHelp({
      styleTitle: (title) => `\u001b[1m${title}\u001b[22m`,
      visibleArguments: () => [],
      // The line breaks of the source do not fit the width of the terminal.
      commandDescription: (command) => command.description().replaceAll("\n", " "),
      subcommandTerm: (command) => command.name(),
    })
    .configureOutput({
      writeOut: (text) => out.stream.write(text),
      writeErr: (text) => err.stream.write(text),
      outputError: (message, write) => write(usageErrorText(message, program, own, err.style)),
      getOutHelpWidth: () => out.width,
      getErrHelpWidth: () => err.width,
      getOutHasColors: () => usesColour(out.isTerminal, process.env),
      getErrHasColors: () => usesColour(err.isTerminal, process.env),
    })
    .showSuggestionAfterError(false) // `usageErrorText` adds suggestions in the format of our failures.
    .helpCommand(false) // `help` is registered like the other commands.
    .exitOverride();
  return program;
}

/** Runs the command line of this process, and exits. */
export async function main(): Promise<void> {
  const out = outputOf(process.stdout, process.env);
  const err = outputOf(process.stderr, process.env);
  const interrupt = listenForInterrupt();
  /** Exits when the output is written. Exiting explicitly ignores open timers, for instance of an imported module. */
  const leave = (exitCode: number): void => {
    const exit = (): void => {
      const { lostOutput } = interrupt;
      const lost = lostOutput && usageFailure(`the output cannot be written: ${lostOutput.message}`);
      process.exit(lost === undefined ? exitCode : fail(lost, err));
    };
    process.stdout.write("", () => setImmediate(exit)); // The error of a write is emitted after its callback.
  };
  process.on("uncaughtException", (error) => leave(fail(error, err)));
  leave(await runProgram(process.argv.slice(2), { out, err, interrupt }));
}
