import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { relative } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { constants, createGunzip } from "node:zlib";
import { type Entry, RecordingDecoder, type RecordingItem, type reportOf } from "@parlance/wire";
import { exitCodes } from "../exit-codes.js";
import { Failure, messageOf } from "../failure.js";
import type { Pace } from "../pace.js";
import { findRecording, nameOfRecording } from "./find-recording.js";

type EndEntry = Extract<Entry, { k: "end" }>;
type RecordingDamage = NonNullable<RecordingItem["damage"]>;

type LinePlace = Extract<RecordingItem, { place: unknown }>["place"];
type ReportOptions = Parameters<typeof reportOf>[0];

/**
 * Reads a file, or stdin for `-`, line by line. Yields entries, and the damages of unreadable lines. Ends early when `stop` is aborted.
 * @throws Failure
 */
export async function* readRecordingFile(path: string, stop?: AbortSignal): AsyncGenerator<RecordingItem> {
  for await (const items of readTogether(path, stop)) yield* items;
}

/**
 * Like `readRecordingFile`, in lists of lines that were read together: an asynchronous step per line takes as long as parsing the
 * line.
 */
async function* readTogether(path: string, stop: AbortSignal | undefined): AsyncGenerator<readonly RecordingItem[]> {
  const decoder = new RecordingDecoder();
  const checksum = new Checksum();
  let last: LinePlace | undefined;
  const checked = (items: readonly RecordingItem[], chunk: Uint8Array): readonly RecordingItem[] => {
    const final = items.at(-1);
    last = final?.damage ?? final?.place ?? last;
    return items.flatMap((item) => {
      if (item.damage !== undefined || item.entry.k !== "end") return [item];
      const damage = checksum.check(item.entry, item.place, chunk);
      return damage === undefined ? [item] : [item, { damage }];
    });
  };
  try {
    for await (const chunk of chunksOf(path, stop)) {
      yield checked(decoder.push(chunk), chunk);
      checksum.push(chunk);
    }
  } catch (error) {
    if (stop?.aborted === true) return;
    if (last === undefined) throw unreadable(path, error);
    const { line, offset, bytes } = last;
    const says = `nothing after it can be read: ${messageOf(error)}`;
    yield [{ damage: { line: line + 1, offset: offset + bytes + 1, bytes: 0, says, torn: false } }];
  }
  yield checked(decoder.end(), new Uint8Array(0));
}

/** The bytes of a file, decompressed if it is gzip. */
async function* chunksOf(path: string, stop: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const chunks = path === "-" ? inputChunks(stop) : fileChunks(path, stop);
  try {
    const { value: first, done } = await chunks.next();
    if (done === true) return;
    const all = async function* (): AsyncGenerator<Uint8Array> {
      yield first;
      yield* { [Symbol.asyncIterator]: () => chunks };
    };
    const isPacked = first[0] === 0x1f && first[1] === 0x8b;
    // A truncated file can be decompressed up to its end.
    yield* isPacked
      ? Readable.from(copied(all())).compose(createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }))
      : all();
  } finally {
    // Close the file if the reader stops early.
    await chunks.return?.();
  }
}

/** Copies of chunks, because a stream reads ahead. */
async function* copied(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield chunk.slice();
}

function inputChunks(stop: AbortSignal | undefined): AsyncIterator<Uint8Array> {
  stop?.addEventListener("abort", () => process.stdin.destroy(), { once: true });
  return process.stdin[Symbol.asyncIterator]();
}

/** The number of bytes that are read together. */
const chunkSize = 1 << 18;

/** The chunks of a file. They share a buffer, so each is valid only until the next. */
async function* fileChunks(path: string, stop: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    const buffer = new Uint8Array(chunkSize);
    while (stop?.aborted !== true) {
      const { bytesRead } = await file.read(buffer, 0, chunkSize);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Whether a file begins with the header of a recording. */
export async function isRecording(path: string): Promise<boolean> {
  for await (const { entry } of readRecordingFile(path)) return entry?.k === "hdr";
  return false;
}

function unreadable(path: string, error: unknown): Failure {
  return new Failure(`${path} cannot be read: ${messageOf(error)}`, { exitCode: exitCodes.usage, cause: error });
}

/** The line of each entry in the file. */
export class RecordedLines {
  readonly #lines = new Map<number, number>();
  readonly #gaps = new Map<number, number>();

  /** Whether no line was noted. */
  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  note(entry: Entry, line: number): void {
    if (entry.k === "gap") this.#gaps.set(entry.t, line);
    else if ("n" in entry && entry.k !== "a") this.#lines.set(entry.n, line);
  }

  /** The line of an entry by its number, or of a gap by its time. */
  readonly of: NonNullable<ReportOptions["lineOf"]> = (at) =>
    "n" in at ? this.#lines.get(at.n) : this.#gaps.get(at.gapAt);
}

const newline = 0x0a;

/** Compares the checksum in the end entry with the lines before it. */
class Checksum {
  readonly #hash = createHash("sha256");
  /** The number of hashed bytes, all of complete lines. */
  #hashed = 0;
  /** The beginning of an incomplete line, which may be the end entry. */
  #rest: Uint8Array[] = [];

  /** Takes the next bytes. The lines that they complete must have been checked before. */
  push(chunk: Uint8Array): void {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end > 0) {
      for (const part of [...this.#rest, chunk.subarray(0, end)]) this.#update(part);
      this.#rest = [];
    }
    // Copied, because the reader reuses its buffer.
    if (end < chunk.length) this.#rest.push(chunk.slice(end));
  }

  /** The damage of the last line, which begins in these bytes or before; undefined if the checksum matches. */
  check({ sha256 }: EndEntry, place: LinePlace, chunk: Uint8Array): RecordingDamage | undefined {
    const before = Buffer.concat([...this.#rest, chunk]).subarray(0, place.offset - this.#hashed);
    const found = this.#hash.copy().update(before).digest("hex");
    if (found === sha256.toLowerCase()) return undefined;
    return {
      ...place,
      says: "the lines before it were changed: their SHA-256 differs",
      torn: false,
    };
  }

  #update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#hashed += bytes.length;
  }
}

/** A recording that can be read more than once. Only stdin is kept in memory. */
export class RecordingReader {
  /** The name without the directory and the endings. */
  readonly title: string;
  /** The address of the file, relative to where the command runs. */
  readonly uri: string;
  /** The lines of entries in the file, once read. */
  readonly lines: RecordedLines = new RecordedLines();
  readonly #path: string;
  readonly #pace: Pace;
  #held: readonly Entry[] | undefined;
  /** The number of lines of the first reading, because a growing file has more in the second. */
  #count = Number.POSITIVE_INFINITY;

  private constructor(path: string, pace: Pace) {
    this.#path = path;
    this.#pace = pace;
    this.title = nameOfRecording(path);
    this.uri = uriOf(path);
  }

  /** The recording that an argument names. @throws Failure */
  static async find(word: string, pace: Pace): Promise<RecordingReader> {
    return new RecordingReader(await findRecording(word, process.env), pace);
  }

  /**
   * The entries, in order, in lists that were read together. An incomplete last line is not damage: its recorder was killed.
   * @throws Failure if the file cannot be opened or is damaged, and after an interrupt
   */
  async *lists(): AsyncGenerator<readonly Entry[]> {
    if (this.#held !== undefined) {
      yield this.#held;
      return;
    }
    const held: Entry[] | undefined = this.#path === "-" ? [] : undefined;
    let count = 0;
    for await (const items of readTogether(this.#path, this.#pace.stop)) {
      if (this.#pace.isDue) await this.#pace.turn();
      const entries = this.#entriesOf(items).slice(0, this.#count - count);
      count += entries.length;
      for (const entry of entries) held?.push(entry);
      yield entries;
      if (count === this.#count) break;
    }
    this.#pace.check();
    this.#held = held;
    this.#count = count;
  }

  #entriesOf(items: readonly RecordingItem[]): readonly Entry[] {
    return items.flatMap((item) => {
      if (item.damage === undefined) {
        this.lines.note(item.entry, item.place.line);
        return [item.entry];
      }
      const { torn, line, says } = item.damage;
      if (!torn) throw damaged(this.#path, line, says);
      return [];
    });
  }
}

function damaged(path: string, line: number, says: string): Failure {
  return new Failure(`${path} is damaged in line ${line}: ${says}`, {
    exitCode: exitCodes.damaged,
    remedy: `parlance check ${path} checks its readable lines`,
  });
}

/** The shortest path of a recording that can be clicked in a terminal. */
export function sourceOf(path: string): string {
  if (path === "-") return "stdin";
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}

/** The address of a recording, relative to where the command runs. */
export function uriOf(path: string): string {
  const source = sourceOf(path);
  return source === path && path.startsWith("/") ? pathToFileURL(path).href : encodeURI(source.replaceAll("\\", "/"));
}
