import { basename, dirname, join, resolve } from "node:path";
import { stateDirectory } from "../user-directories.js";

/** The suffix of recordings. */
export const recordingSuffix = ".parlance.jsonl";

/** Matches launchers, which do not name the server. */
const launchers =
  /^(node|nodejs|npx|npm|pnpm|yarn|bun|bunx|deno|tsx|ts-node|python[\d.]*|py|uv|uvx|pipx|docker|podman|sh|bash|cmd|exec|run|dlx|parlance|serve)(\.exe|\.cmd)?$/i;

/** Matches file names that do not distinguish servers. */
const everyday = /^(index|main|server|app|cli|dist|build|src|bin|out|lib)$/i;

/**
 * The default folder of recordings: `PARLANCE_RECORDINGS`, or `parlance/recordings` in the directory for the state of programs
 * (`XDG_STATE_HOME`, `~/.local/state`; on Windows `%LOCALAPPDATA%`).
 */
export function recordingDirectory(env: NodeJS.ProcessEnv): string {
  const { PARLANCE_RECORDINGS } = env;
  if (PARLANCE_RECORDINGS !== undefined && PARLANCE_RECORDINGS !== "") return PARLANCE_RECORDINGS;
  return join(stateDirectory(env), "recordings");
}

/** The default path of a new recording: time, server and process. */
export function newRecordingPath(name: string, env: NodeJS.ProcessEnv): string {
  const when = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return join(recordingDirectory(env), `${when}-${name}-${process.pid}${recordingSuffix}`);
}

/**
 * The name of a server by the first distinctive word of its command, or by the folder of a file such as `server.js`, whose path is
 * relative to `directory`.
 */
export function serverName(words: readonly string[], directory: string = process.cwd()): string {
  const [first = "server"] = words;
  const word = words.find((each) => !each.startsWith("-") && !launchers.test(basename(each))) ?? first;
  return plain(everyday.test(stem(word)) ? nameOfFolder(resolve(directory, word)) : stem(word));
}

/** The name of a server by its URL. */
export function hostName(url: URL): string {
  return plain(url.host);
}

function nameOfFolder(path: string): string {
  const folder = dirname(path);
  if (folder === dirname(folder)) return stem(path);
  return everyday.test(basename(folder)) ? nameOfFolder(folder) : basename(folder);
}

function stem(word: string): string {
  return basename(word).replace(/\.[a-z]{1,4}$/i, "");
}

/** A name made valid for file names on every system. */
function plain(name: string): string {
  return (
    name
      .replaceAll(/[^\w.@]+/g, "-")
      .replaceAll(/^-|-$/g, "")
      .slice(0, 60) || "server"
  );
}

/** The path of a recording with a number; the first one has none. */
export function numberedPath(path: string, number: number): string {
  if (number === 1) return path;
  const end = path.endsWith(recordingSuffix) ? recordingSuffix : "";
  return `${path.slice(0, path.length - end.length)}-${number}${end}`;
}
