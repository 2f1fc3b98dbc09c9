import { homedir } from "node:os";
import { join } from "node:path";

/** The folder for persistent files of the program: `XDG_STATE_HOME` or `~/.local/state`; on Windows `%LOCALAPPDATA%`. */
export function stateDirectory({ XDG_STATE_HOME, LOCALAPPDATA }: NodeJS.ProcessEnv): string {
  return join(XDG_STATE_HOME ?? LOCALAPPDATA ?? join(homedir(), ".local", "state"), "parlance");
}

/** The folder for files that the program can make again: `XDG_CACHE_HOME` or `~/.cache`; on Windows `%LOCALAPPDATA%`. */
export function cacheDirectory({ XDG_CACHE_HOME, LOCALAPPDATA }: NodeJS.ProcessEnv): string {
  return join(XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), ".cache"), "parlance");
}
