import { existsSync } from "node:fs";
import { didYouMean } from "@parlance/mcp/jsonrpc";
import { usageFailure } from "../failure.js";
import { listRecordings } from "./list-recordings.js";
import { recordingDirectory } from "./recording-directory.js";

/** The forms of a recording argument, for help pages. */
export const recordingHelp = `A <recording> is one of
  last             the newest
  name             the beginning of the name of one that parlance ls shows
  path             a file, plain or compressed with gzip
  -                what comes on stdin`;

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
