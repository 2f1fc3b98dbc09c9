import { Command, CommanderError } from "commander";
import { exitCodes } from "../shared/exit-codes.js";
import { toFailure, usageFailure } from "../shared/failure.js";
import { listenForInterrupt } from "../shared/interrupt.js";
import type { Invocation } from "../shared/invocation.js";
import { printFailure } from "../shared/output/print-failure.js";
import { wantsColour } from "../shared/output/style.js";
import { outputOf } from "../shared/output/terminal.js";
import { packageVersion } from "../shared/package-version.js";
import { partCommandLine } from "../shared/target/target.js";
import { groupCommands, registrationsFor } from "./all.js";
import { usageErrorText } from "./help/usage-error.js";

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
