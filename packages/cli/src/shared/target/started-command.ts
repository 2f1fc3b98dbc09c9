import type { Command } from "@parlance/mcp/node";

/** A command to start. No part of it ever comes from a peer. */
export interface StartedCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: the folder of this process. */
  readonly cwd?: string;
}

/** The command of a target for the library, with all variables of this process, as a shell starts it. */
export function commandOf({ command, args, env, cwd }: StartedCommand): Command {
  return { command, args, env, inheritEnv: "all", ...(cwd !== undefined && { cwd }) };
}
