import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fchmodSync, fstatSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { type Entry, encodeEntry, type HeaderEntry } from "@parlance/wire";
import { milliseconds } from "../monotonic.js";
import { linesIn } from "./lines-in.js";
import type { ObservedEntry, RecordingOutcome } from "./recorder-messages.js";
import { numberedPath } from "./recording-name.js";

/** The maximum number of bytes that wait for a slow or full disk before lines are dropped. */
const mostQueued = 32 * 1024 * 1024;

/** The maximum number of characters of lines that are encoded together. */
const mostUnencoded = 1024 * 1024;

/** The result of a write: all, some or none of the queue. */
export type Flushed = "all" | "some" | "none";

/** A run of missing lines, and the reason. */
type Gap = Omit<Extract<Entry, { k: "gap" }>, "k" | "t">;

/**
 * The file of a recording: complete lines, in order. A failed write is retried with the next line; lines that do not fit into the
 * queue meanwhile become one `gap`. No method throws.
 *
 * An existing file with content is not changed: the recording goes to a new file beside it.
 */
export class RecordingFile {
  #path: string;
  #file: number | undefined;
  /** Lines that are not encoded yet: the lines of one turn are encoded together. */
  #lines = "";
  readonly #queue: Uint8Array[] = [];
  #queued = 0;
  #gap: Gap | undefined;
  #trouble: string | undefined;
  readonly #hash = createHash("sha256");
  #frames = 0;
  #bytes = 0;

  constructor(path: string, header: HeaderEntry) {
    this.#path = path;
    this.#enqueue(header);
    this.flush();
  }

  /** Whether the file is open. */
  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** The path; final once the file is open. */
  get path(): string {
    return this.#path;
  }

  /** Appends an entry. */
  append(entry: ObservedEntry): void {
    const { t } = entry;
    // Lifecycle events have extra room: the end of a side matters more than one more frame.
    const isSmall = entry.k === "l" || entry.k === "h" || entry.k === "r";
    if (this.#queued > (isSmall ? 2 * mostQueued : mostQueued)) {
      this.lose(t, t, 1, this.#trouble ?? "the disk is slower than the conversation");
      return;
    }
    this.#closeGap(t);
    if (entry.k === "f") {
      this.#frames += 1;
      this.#bytes += entry.len;
    }
    this.#enqueue(entry);
  }

  /** Records missing lines. */
  lose(from: number, to: number, lost: number, why: string): void {
    const gap = this.#gap;
    this.#gap = gap === undefined ? { from, to, lost, why } : { ...gap, to, lost: gap.lost + lost };
  }

  /** Writes as much of the queue as the file accepts. */
  flush(): Flushed {
    this.#encode();
    let hasWritten = false;
    try {
      this.#file ??= this.#open();
      for (let [first] = this.#queue; first !== undefined; [first] = this.#queue) {
        this.#written(writeSync(this.#file, first));
        hasWritten = true;
      }
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble = reasonOf(error);
    }
    if (this.#queue.length === 0) return "all";
    return hasWritten ? "some" : "none";
  }

  /** Appends the end entry with the checksum. */
  finish(t: number): void {
    this.#closeGap(t);
    const sha256 = this.#hash.copy().digest("hex");
    this.#enqueue({ k: "end", t, frames: this.#frames, bytes: this.#bytes, sha256 });
  }

  /** Drops the queue. */
  close(): RecordingOutcome {
    if (this.#file !== undefined) closeSync(this.#file);
    const unreported = this.#queue.reduce((sum, bytes) => sum + linesIn(bytes), this.#gap?.lost ?? 0);
    return { path: this.#path, unreported, ...(this.#trouble !== undefined && { why: this.#trouble }) };
  }

  #closeGap(t: number): void {
    if (this.#gap === undefined) return;
    const { from, to, lost, why } = this.#gap;
    this.#gap = undefined;
    this.#enqueue({ k: "gap", t, from: milliseconds(from), to: milliseconds(to), lost, why });
  }

  #enqueue(entry: Entry): void {
    const line = encodeEntry(entry);
    this.#hash.update(line);
    this.#lines += line;
    this.#queued += line.length;
    if (this.#lines.length > mostUnencoded) this.#encode();
  }

  #encode(): void {
    if (this.#lines === "") return;
    const bytes = Buffer.from(this.#lines);
    this.#queued += bytes.length - this.#lines.length;
    this.#queue.push(bytes);
    this.#lines = "";
  }

  /** Removes written bytes from the queue. The rest of an incompletely written line must be written next. */
  #written(bytes: number): void {
    this.#queued -= bytes;
    const [first] = this.#queue;
    if (first === undefined || bytes === first.length) this.#queue.shift();
    else this.#queue[0] = first.subarray(bytes);
  }

  #open(): number {
    makeFolder(dirname(this.#path));
    const wanted = this.#path;
    for (let attempt = 1; ; attempt += 1) {
      const path = numberedPath(wanted, attempt);
      try {
        return this.#take(path, openSync(path, flags | constants.O_CREAT | constants.O_EXCL, 0o600));
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw error;
      }
      const file = openSync(path, flags);
      if (isForUs(file)) return this.#take(path, file);
      closeSync(file);
    }
  }

  #take(path: string, file: number): number {
    this.#path = path;
    return file;
  }
}

/**
 * Whether an existing file can be used: a pipe or a device always; a file if it is empty and owned by this user, after its mode
 * is set to 0600. A file of another user is not used, because a process that opened it earlier could still read it.
 */
function isForUs(file: number): boolean {
  const is = fstatSync(file);
  if (!is.isFile()) return true;
  if (is.size > 0 || (process.getuid !== undefined && is.uid !== process.getuid())) return false;
  if ((is.mode & 0o077) !== 0) fchmodSync(file, 0o600);
  return true;
}

/**
 * Creates a folder and its parents. The recursive `mkdirSync` of Node never returns if a folder cannot be created, as in /proc.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

// Non-blocking: a pipe without a reader must not stop the thread. Windows has no such flag.
const flags = constants.O_WRONLY | constants.O_APPEND | (constants.O_NONBLOCK ?? 0);

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code; // The file system throws only such errors.
}

const reasons: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOSPC", "there is no room left on the disk"],
  ["EDQUOT", "there is no room left on the disk"],
  ["EFBIG", "the file has reached the size limit of this process"],
  ["EAGAIN", "no process reads the pipe that it is written to"],
  ["ENXIO", "no process reads the pipe that it is written to"],
  ["EACCES", "it may not be written"],
  ["EROFS", "it may not be written"],
]);

function reasonOf(error: unknown): string {
  return reasons.get(codeOf(error)) ?? (error instanceof Error ? error.message : String(error));
}
