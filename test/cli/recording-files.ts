import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { parlance, type Ran, type RunningProcess, start } from "./run.js";

/** A directory for recordings that the command looks into. */
export interface RecordingFiles {
  readonly directory: string;
  write(name: string, data: string | Uint8Array): Promise<string>;
  run(...args: readonly string[]): Promise<Ran>;
  /** `input` is what comes on stdin. */
  start(args: readonly string[], input?: string): RunningProcess;
}

/**
 * Makes a directory that lasts as long as the test. @param whenFinished the hook from the context of a concurrent test, since Vitest
 * does not know which of them calls its global one
 */
export async function recordingFiles(
  whenFinished: (work: () => Promise<void>) => void = onTestFinished,
): Promise<RecordingFiles> {
  const directory = await mkdtemp(join(tmpdir(), "parlance-recordings-"));
  whenFinished(() => rm(directory, { recursive: true }));
  const env = { PARLANCE_RECORDINGS: directory };
  return {
    directory,
    async write(name, data) {
      const path = join(directory, name);
      await writeFile(path, data);
      return path;
    },
    run: (...args) => parlance(args, env),
    start: (args, input) => start(args, env, input),
  };
}
