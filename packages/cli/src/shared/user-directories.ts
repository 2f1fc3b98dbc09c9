import { homedir } from "node:os";
import { join } from "node:path";

/** The directory for persistent files of the command: in `XDG_STATE_HOME` or `~/.local/state`; on Windows in `%LOCALAPPDATA%`. */
export function stateDirectory({ XDG_STATE_HOME, LOCALAPPDATA }: NodeJS.ProcessEnv): string {
  return join(XDG_STATE_HOME || LOCALAPPDATA || join(homedir(), ".local", "state"), "parlance");
}

/**
 * The directory for cached files of the command: in `XDG_CACHE_HOME` or `~/.cache`; on Windows in `%LOCALAPPDATA%`. Undefined if the
 * environment names none: some users, as in a container, have no home directory, and `homedir` throws for them.
 */
export function cacheDirectory({ XDG_CACHE_HOME, LOCALAPPDATA, HOME }: NodeJS.ProcessEnv): string | undefined {
  const directory = XDG_CACHE_HOME || LOCALAPPDATA || (HOME && join(HOME, ".cache"));
  return directory ? join(directory, "parlance") : undefined;
}
