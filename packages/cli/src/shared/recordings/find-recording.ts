import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { didYouMean } from "@parlance/mcp/jsonrpc";
import { usageFailure } from "../failure.js";
import { recordingDirectory, recordingSuffix } from "../recorder/recording-name.js";

/** The forms of a recording argument, for help pages. */
export const recordingHelp = `A <recording> is one of
  last             the newest
  name             the beginning of a name in the list of parlance ls
  path             a file, plain or compressed with gzip
  -                the recording on stdin`;

/** The path of the recording that an argument names; `-` is stdin. @throws Failure */
export async function findRecording(word: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (word === "-" || existsSync(word)) return word;
  const known = await listRecordings(env);
  const [newest] = known;
  if (word === "last") {
    if (newest !== undefined) return newest.path;
    throw usageFailure(
      `there is no recording in ${recordingDirectory(env)}`,
      "parlance tap -- node server.js makes one",
    );
  }
  const exact = known.find(({ name }) => name === word);
  const [first, second] = known.filter(({ name }) => name.startsWith(word));
  if (exact !== undefined) return exact.path;
  if (first !== undefined && second === undefined) return first.path;
  if (first !== undefined && second !== undefined)
    throw usageFailure(`${word} may be ${first.name} or ${second.name}`, "write more of the name");
  const names = known.map(({ name }) => name);
  throw usageFailure(
    `there is no file ${word}, and no recording whose name begins so in ${recordingDirectory(env)}`,
    didYouMean(word, names) ?? "parlance ls shows what there is",
  );
}

/** A file with a recording. */
export interface RecordingFile {
  readonly path: string;
  /** The name of the file without its suffixes. */
  readonly name: string;
  readonly bytes: number;
  /** The time of the last write, in milliseconds since 1970. */
  readonly changed: number;
}

/**
 * The recordings in the default folder, newest first; those of `--record` are elsewhere. @throws Error if the folder cannot be
 * listed
 */
export async function listRecordings(env: NodeJS.ProcessEnv): Promise<readonly RecordingFile[]> {
  const directory = recordingDirectory(env);
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return []; // No folder: nothing was recorded.
    throw new Error(`the recordings in ${directory} cannot be listed: ${error.message}`, { cause: error });
  });
  const files = await Promise.all(names.filter(isRecordingName).map((name) => describeFile(join(directory, name))));
  return files.filter((file) => file !== undefined).sort(newestFirst);
}

/** Orders recordings. Times of files may have a resolution of a few milliseconds only; names begin with their time. */
function newestFirst(a: RecordingFile, b: RecordingFile): number {
  return b.changed - a.changed || (a.name < b.name ? 1 : -1);
}

/** Whether a file has the name of a recording, plain or compressed. */
export function isRecordingName(name: string): boolean {
  return name.endsWith(recordingSuffix) || name.endsWith(`${recordingSuffix}.gz`);
}

async function describeFile(path: string): Promise<RecordingFile | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { path, name: nameOfRecording(path), bytes: size, changed: mtimeMs };
  } catch {
    return undefined; // Removed in the meantime.
  }
}

/** The name of a recording: its file name without the suffixes. */
export function nameOfRecording(path: string): string {
  if (path === "-") return "stdin";
  const name = basename(path).replace(/\.gz$/, "");
  return name.endsWith(recordingSuffix) ? name.slice(0, -recordingSuffix.length) : name;
}
