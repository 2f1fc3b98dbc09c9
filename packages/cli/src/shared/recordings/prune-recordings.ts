import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { listRecordings, type RecordingFile } from "./find-recording.js";
import { mayGrow } from "./live.js";

/** The kinds of bounds. */
export type Bound = keyof Retention;

/** A recording beyond a bound. */
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

/**
 * Deletes the recordings of the default folder that are beyond a bound, the oldest first. With `isDry`, only finds them. @throws
 * Failure
 */
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

/** The recordings beyond a bound, newest first. `files` are in the same order. */
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
    return true; // Unreadable, so it may be unfinished.
  }
}

/** The processes that may have started a recording: the last number of its name, or the one before if the name was numbered. */
function writersOf(path: string): readonly number[] {
  const [, before, last] = /-(?:(\d+)-)?(\d+)\.parlance\.jsonl(?:\.gz)?$/.exec(basename(path)) ?? [];
  return [before, last].flatMap((pid) => (pid === undefined ? [] : [Number(pid)]));
}

async function isRemoved(path: string): Promise<boolean> {
  try {
    await rm(path);
    return true;
  } catch {
    return false; // Another process deleted it, or this one lacks the permission.
  }
}

/** The bounds for recordings in the default folder; undefined for no bound. */
export interface Retention {
  /** The maximum milliseconds since the last write of a recording. */
  readonly age: number | undefined;
  /** The maximum number of bytes of all recordings. */
  readonly bytes: number | undefined;
  readonly count: number | undefined;
}

const day = 86_400_000;

/** The default bounds. Recordings take space and hold secrets. */
const defaultRetention: Retention = { age: 30 * day, bytes: 1_000_000_000, count: undefined };

/** The syntax of `PARLANCE_RETENTION`, for help pages. */
export const retentionHelp = `Recordings in the folder of parlance ls are kept for 30 days, and up to 1 GB.
When a new recording begins, older ones beyond these limits are deleted.
  PARLANCE_RETENTION=off            keeps everything
  PARLANCE_RETENTION='90d 5GB 200'  keeps 90 days, 5 GB and 200 recordings
Recordings that may still be written, and those of --record, are never deleted.`;

/** The bounds in `PARLANCE_RETENTION`; undefined for `off`, and for an invalid value, so that nothing is deleted. */
export function retentionOf({ PARLANCE_RETENTION: text }: NodeJS.ProcessEnv): Retention | undefined {
  if (text === undefined || text.trim() === "") return defaultRetention;
  let retention: Retention = { age: undefined, bytes: undefined, count: undefined };
  for (const word of text.trim().split(/[\s,]+/)) {
    const [age, bytes, count] = [parseAge(word), parseBytes(word), parseCount(word)];
    if (age !== undefined) retention = { ...retention, age };
    else if (bytes !== undefined) retention = { ...retention, bytes };
    else if (count !== undefined) retention = { ...retention, count };
    else return undefined;
  }
  return retention;
}

const ages: ReadonlyMap<string, number> = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", day],
  ["w", 7 * day],
]);

/** Milliseconds of `90m`, `12h`, `30d`, `4w`; undefined for any other text. */
export function parseAge(text: string): number | undefined {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)([mhdw])$/.exec(text) ?? [];
  const length = ages.get(unit);
  return amount === undefined || length === undefined ? undefined : Number(amount) * length;
}

const units: ReadonlyMap<string, number> = new Map([
  ["kb", 1_000],
  ["mb", 1_000_000],
  ["gb", 1_000_000_000],
  ["tb", 1_000_000_000_000],
]);

/** Bytes of `500MB`, `1GB`; undefined for any other text. */
export function parseBytes(text: string): number | undefined {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)\s?([kmgt]b)$/i.exec(text) ?? [];
  const size = units.get(unit.toLowerCase());
  return amount === undefined || size === undefined ? undefined : Number(amount) * size;
}

/** A whole number; undefined for any other text. */
export function parseCount(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
