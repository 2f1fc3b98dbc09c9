import type { Command } from "@parlance/mcp/node";

/** A command to start, and what it is started with. Nothing of it ever comes from a peer. */
export interface StartedCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Given to it besides the variables that every command gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: the folder of this process. */
  readonly cwd?: string;
}

/** How the command of a target is started: with every variable of this process, as a shell starts it, and its own. */
export function commandOf({ command, args, env, cwd }: StartedCommand): Command {
  return { command, args, env, inheritEnv: "all", ...(cwd !== undefined && { cwd }) };
}
