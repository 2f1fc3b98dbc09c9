import { constants, existsSync, fstatSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import { usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { filterHelp, readFilter } from "../../shared/recordings/filter-option.js";
import {
  findRecording,
  listRecordings,
  nameOfRecording,
  recordingHelp,
} from "../../shared/recordings/find-recording.js";
import { FollowedFile, mayGrow } from "../../shared/recordings/live.js";
import { readRecordingFile } from "../../shared/recordings/read-recording.js";
import { TailedRecording, TailView } from "../../shared/recordings/tailed-recording.js";

interface TailFlags {
  readonly recording?: string;
  readonly lines?: number;
  readonly follow: boolean;
  readonly json?: true;
}

/** Milliseconds between two reads of growing files: short enough for people, and little load. */
const pause = 100;

/** The number of reads between two searches for new recordings. */
const turnsPerSearch = 5;

const waiting = `nothing is being recorded: waiting for a recording to begin, Ctrl-C ends it
  → parlance tail --recording last shows the newest there is`;

const examples = `Examples:
  parlance tail
  parlance tail 'verdict:must'
  parlance tail --recording last
  parlance tail --no-follow -n 20 --recording last 'tool:search lat>500ms'`;

/** Adds `parlance tail`. */
export function registerTail(program: Command, invocation: Invocation): void {
  program
    .command("tail")
    .summary("show live recordings as they grow")
    .description(
      "Show the rows of all live recordings, and of new ones, as they are written. Ctrl-C ends\nit. With --recording, show that recording to its end.",
    )
    .usage("[options] [filter]")
    .argument("[filter...]", "see below")
    .option("--recording <recording>", "show this recording, live or not")
    .option("-n, --lines <number>", "show only this many of the existing rows, the last ones (default: all)", lines)
    .option("--no-follow", "end after the existing rows")
    .option("--json", "print one JSON object per line, for programs")
    .addHelpText("after", `\n${recordingHelp}\n\n${filterHelp}\n\n${examples}`)
    .action((words: readonly string[], flags: TailFlags) =>
      invocation.run(() => new Tail(filterOf(words, flags), flags, invocation).run()),
    );
}

/** The filter. @throws Failure if the word is a recording: as a filter, it would match nothing without an error */
function filterOf(words: readonly string[], { recording }: TailFlags): string {
  const [word = "", ...more] = words;
  if (recording === undefined && more.length === 0 && (word === "last" || existsSync(word)))
    throw usageFailure(`${word} is a recording, and the argument is a filter`, `parlance tail --recording ${word}`);
  return words.join(" ");
}

function lines(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a number of rows.");
}

/** A followed recording and its file. */
interface Followed {
  readonly recording: TailedRecording;
  readonly file: FollowedFile;
}

/** One run of the command. */
class Tail {
  readonly #flags: TailFlags;
  readonly #invocation: Invocation;
  readonly #start: (name: string) => TailedRecording;
  readonly #followed = new Map<string, Followed>();
  readonly #reader = new PipeReader(process.stdout.fd);
  #hasLostReader = false;
  /** Whether it was interrupted before all existing rows were shown. */
  #isCut = false;

  constructor(filter: string, flags: TailFlags, invocation: Invocation) {
    const { json, lines: most } = flags;
    const matches = readFilter(filter);
    const view = new TailView(invocation.out, json === true);
    this.#flags = flags;
    this.#invocation = invocation;
    this.#start = (name) => new TailedRecording(name, view, matches, most);
  }

  async run(): Promise<number> {
    const { recording, follow } = this.#flags;
    if (follow && recording === undefined) await this.#followAll();
    else {
      const path = await findRecording(recording ?? "last", process.env);
      if (follow && path !== "-" && !path.endsWith(".gz")) await this.#followOne(path);
      else await this.#read(path);
    }
    for (const { file } of this.#followed.values()) await file.close();
    return this.#isCut ? this.#invocation.interrupt.exitCode : exitCodes.clean;
  }

  get #isStopped(): boolean {
    return this.#hasLostReader || this.#invocation.interrupt.stop.aborted;
  }

  /** Shows existing rows while they are read, unless only the last ones are requested. */
  async #read(path: string): Promise<void> {
    const recording = this.#start(nameOfRecording(path));
    for await (const item of readRecordingFile(path, this.#invocation.interrupt.stop)) {
      if (this.#isStopped) break;
      recording.take(item);
    }
    this.#isCut = this.#isStopped;
    if (!this.#isCut) recording.release();
  }

  async #followOne(path: string): Promise<void> {
    const followed = await this.#open(path);
    while (!followed.recording.ended && !this.#isStopped) {
      // A recording without an end whose recorder has stopped does not grow.
      const grows = await mayGrow(path, (await stat(path)).mtimeMs);
      await this.#take(followed);
      if (!grows) return;
      await this.#wait();
    }
  }

  /** Follows every live recording, and new ones. Waits for one if there is none. */
  async #followAll(): Promise<void> {
    const { err } = this.#invocation;
    await this.#findLive();
    if (this.#followed.size === 0) err.print(err.style.dim(waiting));
    for (let turn = 1; !this.#isStopped; turn += 1) {
      await this.#wait();
      if (turn % turnsPerSearch === 0) await this.#findLive();
      for (const followed of this.#followed.values()) await this.#take(followed);
    }
  }

  /** Shows the rows that were written since the last call. */
  async #take({ recording, file }: Followed): Promise<void> {
    for await (const item of file.read()) {
      if (this.#isStopped) return;
      recording.take(item);
    }
  }

  async #findLive(): Promise<void> {
    // The oldest first, so that the newest is at the end of the output.
    for (const { path, changed } of [...(await listRecordings(process.env))].reverse()) {
      if (this.#followed.has(path) || path.endsWith(".gz") || !(await mayGrow(path, changed))) continue;
      await this.#open(path);
    }
  }

  async #open(path: string): Promise<Followed> {
    const followed = { recording: this.#start(nameOfRecording(path)), file: await FollowedFile.open(path) };
    this.#followed.set(path, followed);
    await this.#take(followed);
    followed.recording.release();
    return followed;
  }

  async #wait(): Promise<void> {
    await delay(pause, undefined, { signal: this.#invocation.interrupt.stop }).catch(() => undefined); // Stopped.
    this.#hasLostReader = this.#reader.isGone;
  }
}

/**
 * The process that reads our output. A pipe reports a lost reader only at the next write, which may come late, so on Linux the
 * reader is looked up in /proc. If it cannot be seen there (on another system, or for a process of another user or outside the
 * container), it counts as present.
 */
class PipeReader {
  /** The name of the pipe in /proc. */
  readonly #pipe: string | undefined;
  #pid: string | undefined;

  /** @param fd the descriptor that this process writes to; call before writing */
  constructor(fd: number) {
    if (process.platform !== "linux") return;
    const stats = fstatSync(fd);
    if (!stats.isFIFO()) return;
    this.#pipe = `pipe:[${stats.ino}]`;
    this.#pid = this.#find();
  }

  get isGone(): boolean {
    if (this.#pid === undefined || this.#reads(this.#pid)) return false;
    this.#pid = this.#find();
    return this.#pid === undefined;
  }

  #find(): string | undefined {
    return readdirSync("/proc").find((name) => /^\d+$/.test(name) && this.#reads(name));
  }

  #reads(pid: string): boolean {
    try {
      const directory = `/proc/${pid}/fd`;
      return readdirSync(directory).some((fd) => {
        const path = `${directory}/${fd}`;
        // Both ends have the same name; the mode of the link distinguishes them.
        return readlinkSync(path) === this.#pipe && (lstatSync(path).mode & constants.S_IRUSR) !== 0;
      });
    } catch {
      return false; // The process has exited, or belongs to another user.
    }
  }
}
