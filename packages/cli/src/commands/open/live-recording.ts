import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Conversation, type Entry, type HeaderEntry, type RecordingItem, type Row } from "@parlance/wire";
import { nameOfRecording } from "../../shared/recordings/find-recording.js";
import { FollowedFile, mayGrow } from "../../shared/recordings/live.js";
import { readRecordingFile } from "../../shared/recordings/read-recording.js";

/** Milliseconds between two reads of a file that grows. */
const pause = 50;

/** Lines that are read before other work of the process gets its turn. */
const together = 2_000;

/** The frames of one rule that are kept. */
const mostTouched = 10;

type RecorderRuleEntry = Extract<Entry, { k: "r" }>;

/** The events of a recording for its viewers. */
export interface RecordingWatcher {
  /** Rows were added, or the recording has ended. */
  grown(): void;
  /** An earlier row got verdicts. */
  judged(row: Row): void;
}

/** A recording in memory, which grows with its file. All pages that show it share it. */
export class LiveRecording {
  readonly name: string;
  readonly conversation: Conversation = new Conversation();
  readonly watchers: Set<RecordingWatcher> = new Set();
  /** Resolves once all that the file had at the beginning is in memory; rejects for a file that cannot be read. */
  readonly loaded: Promise<void>;
  /** The newest frames that breakpoints and faults were applied to, by the texts of these. */
  readonly touched: Map<string, readonly number[]> = new Map();
  /** The frames that a breakpoint holds, until they are sent, or something else in their place. */
  readonly withheld: Set<number> = new Set();
  #header: HeaderEntry | undefined;
  #isLive = true;
  #violations = 0;
  /** Rows of HTTP requests, which get their verdicts with the response. */
  readonly #open = new Map<number, Row>();

  constructor(path: string, stop: AbortSignal) {
    this.name = nameOfRecording(path);
    this.loaded = new Promise((resolve, reject) => {
      this.#follow(path, stop, resolve).catch(reject);
    });
  }

  get header(): HeaderEntry | undefined {
    return this.#header;
  }

  /** Whether the file may still grow. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Verdicts that a requirement is broken. */
  get violations(): number {
    return this.#violations;
  }

  async #follow(path: string, stop: AbortSignal, onLoaded: () => void): Promise<void> {
    // A recorder that has just been started makes the file soon.
    while (path !== "-" && !existsSync(path) && !stop.aborted)
      await delay(pause, undefined, { signal: stop }).catch(() => undefined); // Stopped.
    if (stop.aborted) return onLoaded();
    if (path === "-" || path.endsWith(".gz")) await this.#takeAll(readRecordingFile(path, stop));
    else {
      const file = await FollowedFile.open(path);
      try {
        for (let grows = true; grows && !stop.aborted; ) {
          // Asked before the read: what is written between the two is read.
          grows = await mayGrow(path, (await stat(path)).mtimeMs);
          await this.#takeAll(file.read());
          onLoaded();
          if (grows) await delay(pause, undefined, { signal: stop }).catch(() => undefined); // Stopped.
        }
      } finally {
        await file.close();
      }
    }
    this.conversation.finish();
    for (const row of this.#open.values()) this.#judged(row);
    this.#isLive = false;
    this.#tell();
    onLoaded();
  }

  async #takeAll(items: AsyncIterable<RecordingItem>): Promise<void> {
    let taken = 0;
    for await (const { entry } of items) {
      if (entry === undefined) continue;
      if (entry.k === "hdr") this.#header = entry;
      if (entry.k === "r") this.#touch(entry);
      if (entry.k === "f" && entry.of !== undefined) this.withheld.delete(entry.of);
      const row = this.conversation.push(entry);
      if (row !== undefined) this.#violations += violationsOf(row);
      if (entry.k === "h" && entry.ph === "req" && row !== undefined) this.#open.set(entry.x, row);
      else if (entry.k === "h") {
        const request = this.#open.get(entry.x);
        this.#open.delete(entry.x);
        if (request !== undefined) this.#judged(request);
      }
      taken += 1;
      if (taken % together === 0) {
        this.#tell();
        await delay(0);
      }
    }
    if (taken > 0) this.#tell();
  }

  #touch({ break: filter, fault, of, did }: RecorderRuleEntry): void {
    const text = filter ?? fault;
    if (of === undefined || text === undefined) return;
    if (did === "hold") this.withheld.add(of);
    else if (did !== "change") this.withheld.delete(of);
    if (did !== undefined && did !== "hold") return;
    this.touched.set(text, [...(this.touched.get(text) ?? []), of].slice(-mostTouched));
  }

  #judged(row: Row): void {
    if (row.verdicts.length === 0) return;
    this.#violations += violationsOf(row);
    for (const watcher of this.watchers) watcher.judged(row);
  }

  #tell(): void {
    for (const watcher of this.watchers) watcher.grown();
  }
}

function violationsOf({ verdicts }: Row): number {
  return verdicts.filter(({ level }) => level === "must").length;
}
