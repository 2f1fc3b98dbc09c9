import { join } from "node:path";
import { stateDirectory } from "../user-directories.js";

/** The suffix of recordings. */
export const recordingSuffix = ".parlance.jsonl";

/**
 * The default folder of recordings: `PARLANCE_RECORDINGS`, or `parlance/recordings` in the directory for the state of programs
 * (`XDG_STATE_HOME`, `~/.local/state`; on Windows `%LOCALAPPDATA%`).
 */
export function recordingDirectory(env: NodeJS.ProcessEnv): string {
  const { PARLANCE_RECORDINGS } = env;
  if (PARLANCE_RECORDINGS !== undefined && PARLANCE_RECORDINGS !== "") return PARLANCE_RECORDINGS;
  return join(stateDirectory(env), "recordings");
}
