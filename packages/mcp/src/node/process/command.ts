import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import type { MembersOf } from "../../base/check-members.js";
import { excerpt } from "../../jsonrpc/report.js";

/** A command to start. No shell is involved: arguments are passed unchanged. */
export interface Command {
  /** The program: a path, or a name that is looked up in `PATH`. No shell is involved. */
  readonly command: string;
  /** The arguments, each passed on as it is. Default: none. */
  readonly args?: readonly string[];
  /** The working directory. Default: that of this process. */
  readonly cwd?: string;
  /** Added to the inherited environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * `"safe"` (default) inherits only variables such as PATH and HOME, so that secrets stay in this process; `"all"`
   * inherits every variable.
   */
  readonly inheritEnv?: "safe" | "all";
}

/** The members of `Command`, to detect unknown options. */
export const commandMembers: MembersOf<Command> = {
  command: ["string"],
  args: ["strings", "arguments", "argv"],
  cwd: ["string", "dir", "directory"],
  env: ["object", "environment"],
  inheritEnv: ["string"],
};

const windows = process.platform === "win32";

/** Starts a command. A failure is reported by the `error` event, or thrown if Node detects it synchronously. */
export function start(command: Command): ChildProcess {
  return (windows ? crossSpawn() : spawn)(command.command, [...(command.args ?? [])], {
    cwd: command.cwd,
    env: environmentOf(command),
    stdio: ["pipe", "pipe", "pipe"],
    shell: false,
    windowsHide: true,
    // A process group of its own, so that signals also reach the command's child processes.
    detached: !windows,
  });
}

/** `spawn` for command shims, as `npx.cmd`. Loaded on Windows alone: elsewhere it does the same as `spawn`, and takes megabytes of memory. */
function crossSpawn(): typeof spawn {
  const require = createRequire(import.meta.url);
  return require("cross-spawn");
}

/** The error for a command that could not be started, with the remedy. */
export function startFailure(command: Command, error: unknown): Error {
  return new Error(`${excerpt(command.command)} could not be started: ${remedyOf(command, error)}`, { cause: error });
}

function remedyOf({ command, cwd = "." }: Command, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException; // `spawn` throws and emits only this type.
  // A missing working directory is reported as a missing command.
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
    // Missing, inaccessible, or not a valid path.
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

/** On Windows, `Path` and `PATH` are one variable, and the one that sorts first wins. */
function variableKey(name: string): string {
  return windows ? name.toUpperCase() : name;
}
