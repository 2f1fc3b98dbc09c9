import { type Command, Option } from "commander";
import { usageFailure } from "../../shared/failure.js";
import { addFaultOptions, type FaultFlags, faultHelp, faultPlan } from "../../shared/faults/fault.js";
import { addBreakOption, type BreakFlags, breakpointsOf } from "../../shared/intercept/break-option.js";
import type { Invocation } from "../../shared/invocation.js";
import { tapOptions } from "./arguments.js";

interface TapFlags extends FaultFlags, BreakFlags {
  readonly record?: string;
  readonly name?: string;
  readonly verbose?: true;
}

const about = `Start a server, and record its conversation with its host: every byte is forwarded as
it arrives, and recorded with its time. Put parlance tap -- before the command of a
server in the configuration of the host; nothing else changes.`;

const contract = `Each run writes a new recording, which only you can read (mode 0600), in:
  PARLANCE_RECORDINGS, or the folder for the state of programs (parlance ls)
  It may contain the secrets of the conversation.

Exit code: that of the server; if a signal ended it, the same signal.
  126  the command is not an executable program
  127  the command could not be started`;

const examples = `Examples:
  parlance tap -- node build/index.js
  parlance tap --record run.parlance.jsonl -- npx -y some-server ~/notes
  parlance tap -v -- python -m my_server
  parlance tap --ui -- node server.js
  parlance tap --ui --break method:tools/call -- node server.js
  parlance tap --fault 'tool:search => delay 500ms±200' -- node server.js

In the configuration of a host:
  "my-server": {
    "command": "parlance",
    "args": ["tap", "--", "node", "build/index.js"]
  }`;

/** Adds `parlance tap`. */
export function registerTap(program: Command, invocation: Invocation): void {
  const command = program
    .command("tap")
    .summary("record every byte between a host and its server on stdio")
    .description(about)
    .usage("[options] -- command args…");
  for (const { flags, description } of tapOptions)
    command.addOption(new Option(flags, description).hideHelp(description === undefined));
  addFaultOptions(addBreakOption(command))
    .addHelpText("after", `\n${faultHelp}\n\n${contract}\n\n${examples}`)
    .action((flags: TapFlags) =>
      invocation.run(async () => {
        const [command, ...args] = invocation.command ?? [];
        if (command === undefined || command === "") {
          throw usageFailure("there is no command to start", "parlance tap -- node server.js");
        }
        const breakpoints = breakpointsOf(flags);
        // A tap forwards signals to the server instead of ending itself.
        for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.removeAllListeners(signal);
        const { tap } = await import("./tap.js");
        return tap({ command, args, ...flags, faults: faultPlan(flags, "stdio"), breakpoints });
      }),
    );
}
