import { Argument, type Command } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { commandTable } from "./command-table.js";
import { completionScript, type Shell, shells } from "./scripts.js";

const help = `It completes commands, options, hosts, files and the names of configured
servers, which parlance completion targets prints. To have it in every shell,
add the line that is right for yours to its start-up file:
  ~/.bashrc                     source <(parlance completion bash)
  ~/.zshrc, behind compinit     source <(parlance completion zsh)
  ~/.config/fish/config.fish    parlance completion fish | source

Exit codes:
  0  printed
  1  the command line is wrong

Examples:
  source <(parlance completion bash)
  parlance completion fish > ~/.config/fish/completions/parlance.fish`;

/** The names that completion scripts ask for at run time. */
const targets = "targets";

/** Adds `parlance completion`. */
export function registerCompletion(program: Command, { out, run }: Invocation): void {
  program
    .command("completion")
    .summary("print a script that completes the words of parlance in a shell")
    .description("Print a script that teaches a shell to complete the words of this command.")
    .usage(`[options] ${shells.join("|")}`)
    .addArgument(new Argument("<shell>").choices([...shells, targets]))
    .addHelpText("after", `\n${help}`)
    .action((shell: Shell | typeof targets) =>
      run(async () => {
        if (shell === targets) {
          const { configuredNames } = await import("../../shared/target/configured-target.js");
          out.print(...(await configuredNames()).filter((name) => !/\s/.test(name)));
          return exitCodes.clean;
        }
        out.print(completionScript(shell, commandTable(program)));
        return exitCodes.clean;
      }),
    );
}
