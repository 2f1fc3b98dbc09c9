import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { Entry } from "@parlance/wire";
import { exitCodes } from "../exit-codes.js";
import { Failure } from "../failure.js";
import type { Pace } from "../pace.js";
import { findRecording } from "./find-recording.js";
import { nameOfRecording } from "./list-recordings.js";
import { RecordedLines, readRecordingFile } from "./read-recording.js";

/** A recording that can be read more than once. Only stdin is kept in memory. */
export class RecordingReader {
  /** The name without the directory and the endings. */
  readonly title: string;
  /** The address of the file, relative to where the command runs. */
  readonly uri: string;
  /** The line of the file that something stands on, once it was read. */
  readonly lines: RecordedLines = new RecordedLines();
  readonly #path: string;
  readonly #pace: Pace;
  #held: readonly Entry[] | undefined;
  /** Lines of the first reading: a growing file has more by now. */
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
   * The lines, in order. A last line that was never finished is no damage: its recorder was killed. @throws Failure for one
   * that cannot be opened, or is damaged, and once the program is to end
   */
  async *entries(): AsyncGenerator<Entry> {
    if (this.#held !== undefined) {
      yield* this.#held;
      return;
    }
    const held: Entry[] | undefined = this.#path === "-" ? [] : undefined;
    let count = 0;
    for await (const item of readRecordingFile(this.#path, this.#pace.stop)) {
      if (this.#pace.isDue) await this.#pace.turn();
      if (item.damage !== undefined) {
        if (!item.damage.torn) throw damaged(this.#path, item.damage.line, item.damage.says);
        continue;
      }
      const { entry, place } = item;
      if (count === this.#count) break;
      count += 1;
      this.lines.note(entry, place.line);
      held?.push(entry);
      yield entry;
    }
    this.#pace.check();
    this.#held = held;
    this.#count = count;
  }
}

function damaged(path: string, line: number, says: string): Failure {
  return new Failure(`${path} is damaged in line ${line}: ${says}`, {
    exitCode: exitCodes.damaged,
    remedy: `parlance check ${path} judges what can be read of it`,
  });
}

/** The path of a recording, as short as it can be clicked on. */
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
