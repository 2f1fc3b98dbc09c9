import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { listRecordings, type RecordingFile } from "./list-recordings.js";
import { mayGrow } from "./live.js";
import type { Retention } from "./retention.js";

/** The kinds of bounds. */
export type Bound = keyof Retention;

/** A recording that is beyond a bound. */
export interface Prunable extends RecordingFile {
  readonly beyond: Bound;
}

/** The result of pruning. */
export interface Pruned {
  readonly deleted: readonly Prunable[];
  readonly kept: number;
  /** Recordings beyond a bound that may still grow or could not be deleted. */
  readonly spared: readonly Prunable[];
}

/** Deletes the recordings in the folder for them that are beyond a bound, the oldest first; `isDry`: finds them only. @throws Failure */
export async function prune(env: NodeJS.ProcessEnv, retention: Retention, isDry = false): Promise<Pruned> {
  const files = await listRecordings(env);
  const prunable = beyond(files, retention, Date.now()).toReversed();
  const deleted: Prunable[] = [];
  const spared: Prunable[] = [];
  for (const each of prunable) {
    const isDeleted = !(await mayBeWritten(each)) && (isDry || (await isRemoved(each.path)));
    (isDeleted ? deleted : spared).push(each);
  }
  return { deleted, spared, kept: files.length - deleted.length };
}

/** The recordings that are beyond a bound, newest first, of some that are in that order. */
function beyond(files: readonly RecordingFile[], { age, bytes, count }: Retention, now: number): readonly Prunable[] {
  let total = 0;
  return files.flatMap((file, index): readonly Prunable[] => {
    total += file.bytes;
    if (age !== undefined && now - file.changed > age) return [{ ...file, beyond: "age" }];
    if (count !== undefined && index >= count) return [{ ...file, beyond: "count" }];
    return bytes !== undefined && total > bytes ? [{ ...file, beyond: "bytes" }] : [];
  });
}

/** Whether a recording has no end, and its host or the process in its name runs. */
async function mayBeWritten({ path, changed }: RecordingFile): Promise<boolean> {
  try {
    return await mayGrow(path, changed, writersOf(path));
  } catch {
    return true; // Unreadable: it may not have ended.
  }
}

/** The processes that may have begun a recording: the last number of its name, or the one before where others had the name first. */
function writersOf(path: string): readonly number[] {
  const [, before, last] = /-(?:(\d+)-)?(\d+)\.parlance\.jsonl(?:\.gz)?$/.exec(basename(path)) ?? [];
  return [before, last].flatMap((pid) => (pid === undefined ? [] : [Number(pid)]));
}

async function isRemoved(path: string): Promise<boolean> {
  try {
    await rm(path);
    return true;
  } catch {
    return false; // Another process has deleted it, or this one has no permission.
  }
}
