import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { listRecordings, type RecordingFile } from "./find-recording.js";
import { mayGrow } from "./live.js";

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

/** The bounds for recordings in the default folder; undefined is no bound. */
export interface Retention {
  /** Milliseconds since a recording was written last. */
  readonly age: number | undefined;
  /** Bytes of all of them. */
  readonly bytes: number | undefined;
  readonly count: number | undefined;
}

const day = 86_400_000;

/** The default bounds: recordings grow, and hold secrets. */
export const defaultRetention: Retention = { age: 30 * day, bytes: 1_000_000_000, count: undefined };

/** How `PARLANCE_RETENTION` is written, for help pages. */
export const retentionHelp = `Recordings in the folder of parlance ls are kept for 30 days, and 1 GB of them.
A recording that begins deletes what is beyond that, the oldest first.
  PARLANCE_RETENTION=off            keeps everything
  PARLANCE_RETENTION='90d 5GB 200'  keeps 90 days, 5 GB and 200 recordings
One that may still be written is never deleted, nor is one with a file of its
own (--record).`;

/** The bounds in `PARLANCE_RETENTION`; undefined for `off`, and for an invalid value, which must delete nothing. */
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

/** Milliseconds of `90m`, `12h`, `30d`, `4w`; undefined for anything else. */
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

/** Bytes of `500MB`, `1GB`; undefined for anything else. */
export function parseBytes(text: string): number | undefined {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)\s?([kmgt]b)$/i.exec(text) ?? [];
  const size = units.get(unit.toLowerCase());
  return amount === undefined || size === undefined ? undefined : Number(amount) * size;
}

/** A whole number; undefined for anything else. */
export function parseCount(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
