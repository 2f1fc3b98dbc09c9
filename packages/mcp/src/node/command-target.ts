import type { Reporter } from "../jsonrpc/report.js";
import { type ChildChannel, childChannel } from "./child-process.js";
import type { Command } from "./command.js";

/** A command that `connect` starts. */
export interface CommandTarget extends Command {
  /**
   * Where that goes what the command writes to stderr. `"inherit"` (default): to stderr of this process. `"pipe"`: nowhere. A
   * function takes it line by line; what it throws is reported. Its last lines are always kept: an error says them when the
   * command cannot be started, or ends.
   */
  readonly stderr?: "inherit" | "pipe" | ((line: string) => unknown);
}

/** Starts the command of a client. @throws TypeError for a member that does not exist, or another `stderr` */
export function startedChannel({ stderr = "inherit", ...command }: CommandTarget, report?: Reporter): ChildChannel {
  const reporting = report === undefined ? {} : { report };
  if (stderr === "pipe") return childChannel(command, reporting);
  if (stderr === "inherit") {
    return childChannel(command, { ...reporting, onStderr: (chunk) => process.stderr.write(chunk) });
  }
  if (typeof stderr === "function") return childChannel(command, { ...reporting, onStderr: byLine(stderr) });
  throw new TypeError(`stderr of a command must be "inherit", "pipe" or a function, got ${JSON.stringify(stderr)}`);
}

/** Characters of a line from which on it is handed over in parts: a process may never end one. */
const longestLine = 64 * 1024;

function byLine(take: (line: string) => unknown): (chunk: Uint8Array) => unknown {
  const decoder = new TextDecoder();
  let rest = "";
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) {
      lines.push(rest);
      rest = "";
    }
    return Promise.all(lines.map(async (line) => take(line)));
  };
}
