import type { ChildProcess } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import spawn from "cross-spawn";
import type { MembersOf } from "../base/members.js";
import { excerpt } from "../jsonrpc/report.js";

/** A command to start and speak to. No shell is involved: every argument arrives as it is. */
export interface Command {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to the inherited variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** `safe` (default): only variables like PATH and HOME, so that secrets of this process stay here; `all`: every one. */
  readonly inheritEnv?: "safe" | "all";
}

/** The members of `Command`, for the check of options. */
export const commandMembers: MembersOf<Command> = {
  command: [],
  args: ["arguments", "argv"],
  cwd: ["dir", "directory"],
  env: ["environment"],
  inheritEnv: [],
};

const windows = process.platform === "win32";

/** Starts a command. One that cannot be started is told by the event `error`, or thrown where Node sees it at once. */
export function start(command: Command): ChildProcess {
  return spawn(command.command, [...(command.args ?? [])], {
    cwd: command.cwd,
    env: environmentOf(command),
    stdio: ["pipe", "pipe", "pipe"],
    shell: false,
    windowsHide: true,
    // A group of its own, so that a signal reaches the processes that the command starts as well.
    detached: !windows,
  });
}

/** Why a command could not be started, with what to do about it. */
export function startFailure(command: Command, error: unknown): Error {
  return new Error(`${excerpt(command.command)} could not be started: ${remedyOf(command, error)}`, { cause: error });
}

function remedyOf({ command, cwd = "." }: Command, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException; // `spawn` throws and emits nothing else.
  // The system reports a missing folder as a missing command.
  if (!isFolder(cwd)) return `there is no folder ${excerpt(cwd)} to start it in`;
  if (code === "EACCES") return "permission denied: check that it is a program and may be executed";
  if (code !== "ENOENT") return message;
  const isFile = /[/\\]/.test(command) && existsSync(resolve(cwd, command));
  return isFile ? "the interpreter named in its first line does not exist" : "no such command: check the name and PATH";
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Missing, out of reach, or no path at all: nothing starts there.
    return false;
  }
}

const safeVariables: readonly string[] = windows
  ? [
      "APPDATA",
      "COMSPEC",
      "HOMEDRIVE",
      "HOMEPATH",
      "LOCALAPPDATA",
      "PATH",
      "PATHEXT",
      "PROCESSOR_ARCHITECTURE",
      "PROGRAMFILES",
      "SYSTEMDRIVE",
      "SYSTEMROOT",
      "TEMP",
      "TMP",
      "USERNAME",
      "USERPROFILE",
    ]
  : ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

function environmentOf({ env = {}, inheritEnv = "safe" }: Command): NodeJS.ProcessEnv {
  const inherited = inheritEnv === "all" ? Object.keys(process.env) : safeVariables;
  const given = new Set(Object.keys(env).map(variableKey));
  const kept = inherited.filter((name) => !given.has(variableKey(name)));
  return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), ...env };
}

/** Windows takes `Path` and `PATH` for one variable, and of the two the one that sorts first. */
function variableKey(name: string): string {
  return windows ? name.toUpperCase() : name;
}
