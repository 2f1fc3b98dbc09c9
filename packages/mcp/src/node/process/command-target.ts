import type { Reporter } from "../../jsonrpc/report.js";
import { type ChildChannel, childChannel } from "./child-process.js";
import type { Command } from "./command.js";

/** A command that `connect` starts and talks to over stdio. */
export interface CommandTarget extends Command {
  /**
   * Where the command's stderr goes: to this process's stderr (`"inherit"`, the default), nowhere (`"pipe"`), or line
   * by line to a function, whose errors are reported. In each case the last lines are kept for the error message if the
   * command cannot be started or exits.
   */
  readonly stderr?: "inherit" | "pipe" | ((line: string) => unknown);
}

/**
 * Starts the command of a client.
 * @throws TypeError for an unknown option, or an invalid `stderr`
 */
export function startedChannel({ stderr = "inherit", ...command }: CommandTarget, report?: Reporter): ChildChannel {
  const reporting = report === undefined ? {} : { report };
  if (stderr === "pipe") return childChannel(command, reporting);
  if (stderr === "inherit") {
    return childChannel(command, { ...reporting, onStderr: (chunk) => process.stderr.write(chunk) });
  }
  if (typeof stderr === "function") return childChannel(command, { ...reporting, onStderr: byLine(stderr) });
  throw new TypeError(`stderr of a command must be "inherit", "pipe" or a function, got ${JSON.stringify(stderr)}`);
}

/**
 * The maximum length of a line in characters; a longer one is passed on in parts, because a process may never end its
 * line.
 */
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
