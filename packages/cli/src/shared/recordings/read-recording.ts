import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { constants, createGunzip } from "node:zlib";
import { type Entry, RecordingDecoder, type RecordingItem, type reportOf } from "@parlance/wire";
import { exitCodes } from "../exit-codes.js";
import { Failure } from "../failure.js";
import { Checksum } from "./checksum.js";

type LinePlace = Extract<RecordingItem, { place: unknown }>["place"];
type ReportOptions = Parameters<typeof reportOf>[0];

/**
 * Reads a file, or stdin for `-`, line by line: what can be read is given, what cannot is named. Ends early when `stop` is aborted.
 * @throws Failure
 */
export async function* readRecordingFile(path: string, stop?: AbortSignal): AsyncGenerator<RecordingItem> {
  const decoder = new RecordingDecoder();
  const seal = new Checksum();
  let last: LinePlace | undefined;
  const checked = function* (items: readonly RecordingItem[], chunk: Uint8Array): Generator<RecordingItem> {
    for (const item of items) {
      yield item;
      last = item.damage ?? item.place;
      if (item.damage !== undefined || item.entry.k !== "end") continue;
      const damage = seal.check(item.entry, item.place, chunk);
      if (damage !== undefined) yield { damage };
    }
  };
  try {
    for await (const chunk of chunksOf(path, stop)) {
      yield* checked(decoder.push(chunk), chunk);
      seal.push(chunk);
    }
  } catch (error) {
    if (stop?.aborted === true) return;
    if (last === undefined) throw unreadable(path, error);
    const { line, offset, bytes } = last;
    const says = `nothing behind it can be read: ${messageOf(error)}`;
    yield { damage: { line: line + 1, offset: offset + bytes + 1, bytes: 0, says, torn: false } };
  }
  yield* checked(decoder.end(), new Uint8Array(0));
}

/** The bytes of a file, decompressed if it is gzip. */
async function* chunksOf(path: string, stop: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const source = path === "-" ? process.stdin : createReadStream(path, { highWaterMark: 1 << 18 });
  const end = (): void => void source.destroy();
  stop?.addEventListener("abort", end, { once: true });
  const chunks: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]();
  const { value: first, done } = await chunks.next();
  if (done === true) return;
  const all = async function* (): AsyncGenerator<Uint8Array> {
    yield first;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  const isPacked = first[0] === 0x1f && first[1] === 0x8b;
  // Of a truncated file, everything before the end can still be decompressed.
  yield* isPacked ? Readable.from(all()).compose(createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })) : all();
}

/** Whether a file begins with the header of a recording. */
export async function isRecording(path: string): Promise<boolean> {
  for await (const { entry } of readRecordingFile(path)) return entry?.k === "hdr";
  return false;
}

function unreadable(path: string, error: unknown): Failure {
  return new Failure(`${path} cannot be read: ${messageOf(error)}`, { exitCode: exitCodes.usage, cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The line of each entry in the file. */
export class RecordedLines {
  readonly #lines = new Map<number, number>();
  readonly #gaps = new Map<number, number>();

  /** Nothing was noted. */
  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  note(entry: Entry, line: number): void {
    if (entry.k === "gap") this.#gaps.set(entry.t, line);
    else if ("n" in entry && entry.k !== "a") this.#lines.set(entry.n, line);
  }

  /** The line of something, by its number; of a gap by its time. */
  readonly of: NonNullable<ReportOptions["lineOf"]> = (at) =>
    "n" in at ? this.#lines.get(at.n) : this.#gaps.get(at.gapAt);
}
