import { basename, dirname, join } from "node:path";
import { recordingDirectory, recordingSuffix } from "../recordings/recording-directory.js";

/** Words that start a server and do not name it. */
const launchers =
  /^(node|nodejs|npx|npm|pnpm|yarn|bun|bunx|deno|tsx|ts-node|python[\d.]*|py|uv|uvx|pipx|docker|podman|sh|bash|cmd|exec|run|dlx|parlance|serve)(\.exe|\.cmd)?$/i;

/** Files that are called like those of every other server. */
const everyday = /^(index|main|server|app|cli|dist|build|src|bin|out|lib)$/i;

/** The path of a new recording that nobody has named a file for: when, whose, and by which process. */
export function newRecordingPath(name: string, env: NodeJS.ProcessEnv): string {
  const when = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return join(recordingDirectory(env), `${when}-${name}-${process.pid}${recordingSuffix}`);
}

/** What a server is called that is started by these words: the first of them that tells it from others. */
export function serverName(words: readonly string[]): string {
  const [first = "server"] = words;
  const word = words.find((each) => !each.startsWith("-") && !launchers.test(basename(each))) ?? first;
  return plain(everyday.test(stem(word)) ? nameOfFolder(word) : stem(word));
}

/** What a server is called that is at this URL. */
export function hostName(url: URL): string {
  return plain(url.host);
}

function nameOfFolder(path: string): string {
  const folder = dirname(path);
  if (folder === "." || folder === dirname(folder)) return stem(path);
  return everyday.test(basename(folder)) ? nameOfFolder(folder) : basename(folder);
}

function stem(word: string): string {
  return basename(word).replace(/\.[a-z]{1,4}$/i, "");
}

/** As part of the name of a file, on every system. */
function plain(name: string): string {
  return (
    name
      .replaceAll(/[^\w.@]+/g, "-")
      .replaceAll(/^-|-$/g, "")
      .slice(0, 60) || "server"
  );
}

/** The path of a recording, or the one beside it where that is taken: the second, the third. */
export function numberedPath(path: string, number: number): string {
  if (number === 1) return path;
  const end = path.endsWith(recordingSuffix) ? recordingSuffix : "";
  return `${path.slice(0, path.length - end.length)}-${number}${end}`;
}
