import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Conversation, type Entry, type HeaderEntry, type RecordingItem, type Row } from "@parlance/wire";
import { nameOfRecording } from "../../shared/recordings/find-recording.js";
import { FollowedFile, mayGrow } from "../../shared/recordings/live.js";
import { readRecordingFile } from "../../shared/recordings/read-recording.js";

/** Milliseconds between two reads of a growing file. */
const pause = 50;

/** The number of lines that are read before the event loop turns. */
const together = 2_000;

/** The maximum number of frames kept per rule. */
const mostTouched = 10;

type RecorderRuleEntry = Extract<Entry, { k: "r" }>;

/** The events of a recording for its viewers. */
export interface RecordingWatcher {
  /** Called when rows were added, or the recording has ended. */
  grown(): void;
  /** Called when an earlier row got verdicts. */
  judged(row: Row): void;
}

/** A recording in memory that grows with its file. All pages share it. */
export class LiveRecording {
  readonly name: string;
  readonly conversation: Conversation = new Conversation();
  readonly watchers: Set<RecordingWatcher> = new Set();
  /** Resolves when the initial content of the file is in memory; rejects for an unreadable file. */
  readonly loaded: Promise<void>;
  /** The newest frames to which each breakpoint and fault was applied, by its text. */
  readonly touched: Map<string, readonly number[]> = new Map();
  /** The frames held by breakpoints, until they or their replacements are sent. */
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

  /** The number of violations. */
  get violations(): number {
    return this.#violations;
  }

  async #follow(path: string, stop: AbortSignal, onLoaded: () => void): Promise<void> {
    // A recorder that has just started creates the file soon.
    while (path !== "-" && !existsSync(path) && !stop.aborted)
      await delay(pause, undefined, { signal: stop }).catch(() => undefined); // Stopped.
    if (stop.aborted) return onLoaded();
    if (path === "-" || path.endsWith(".gz")) await this.#takeAll(readRecordingFile(path, stop));
    else {
      const file = await FollowedFile.open(path);
      try {
        for (let grows = true; grows && !stop.aborted; ) {
          // Checked before the read, so that the read includes everything written before the end.
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
