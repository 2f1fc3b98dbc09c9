import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import type { Entry, HeaderEntry } from "@parlance/wire";
import { monotonic } from "../monotonic.js";
import type { Hole, LineStream, LostLines, Observation, ObservedFrame } from "./observation.js";
import type { FromRecorder, RecorderStart, ToRecorder } from "./recorder-messages.js";
import type { RecordingOutcome } from "./recording-file.js";

/** What a recorder is told. */
export interface RecorderOptions {
  readonly path: string;
  readonly header: Omit<HeaderEntry, "k" | "fmt" | "id" | "t0" | "clock" | "os">;
  /** Hears of every entry, some time after it happened, in order. Here a live view of the conversation attaches. */
  readonly onEntries?: (entries: readonly Entry[]) => void;
  /** Hears, in words, of every rule that is broken. */
  readonly onViolations?: (violations: readonly string[]) => void;
}

/** Bytes that may be on their way to the thread that writes. */
const mostOutstanding = 32 * 1024 * 1024;

/** Milliseconds in which a recording is open, if nothing is in its way. */
const openWithin = 1_000;

/** Milliseconds in which something must be written at the end of a recording. */
const endWithin = 2_000;

const newline = 0x0a;

/** What is being counted instead of recorded. */
interface OpenHole {
  readonly from: number;
  to: number;
  lost: number;
  readonly streams: Map<LineStream, LostLines>;
}

/**
 * Records what it is shown, without ever making anybody wait: what was observed is copied, and handed to a thread of its
 * own once in a turn of the event loop. When that falls too far behind, what it is shown is counted instead.
 */
export class Recorder {
  readonly #zero: number;
  readonly #path: string;
  readonly #counter = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker | undefined;
  #batch: Observation[] = [];
  #transfer: ArrayBuffer[] = [];
  #hole: OpenHole | undefined;
  #failure: string | undefined;
  #onOpened: ((path: string) => void) | undefined;
  #ended: Promise<RecordingOutcome> | undefined;
  #outcome: ((outcome: RecordingOutcome) => void) | undefined;

  /** Where the recording is; where it will be, if it cannot be written in the first moment. */
  readonly opened: Promise<string>;

  constructor(options: RecorderOptions) {
    this.#path = options.path;
    this.opened = new Promise((resolve) => {
      this.#onOpened = resolve;
      setTimeout(resolve, openWithin, options.path).unref();
    });
    this.#zero = monotonic();
    try {
      this.#worker = this.#start(options);
    } catch (error) {
      // Without a thread there is no recording, but there is still a conversation.
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  #start({ path, header, onEntries, onViolations }: RecorderOptions): Worker {
    const workerData: RecorderStart = {
      path,
      header: {
        k: "hdr",
        fmt: "parlance/1",
        id: randomUUID(),
        t0: new Date().toISOString(),
        clock: "monotonic",
        ...header,
        os: process.platform,
      },
      zero: this.#zero,
      outstanding: this.#counter.buffer,
      watched: onEntries !== undefined,
      judged: onViolations !== undefined,
    };
    // No options of this process: a debugger, or a hook that prints, belongs into no thread of a tap.
    const worker = new Worker(new URL("./recorder-thread.js", import.meta.url), { workerData, execArgv: [] });
    worker.unref();
    worker.on("message", (message: FromRecorder) => {
      if (message.kind === "opened") this.#onOpened?.(message.path);
      else if (message.kind === "entries") onEntries?.(message.entries);
      else if (message.kind === "violations") onViolations?.(message.violations);
      else this.#outcome?.(message.outcome);
    });
    worker.on("error", (error) => this.#fail(error.message));
    worker.on("exit", () => this.#fail("the thread that writes it has ended"));
    return worker;
  }

  /** Milliseconds since the recording began. */
  now(): number {
    return monotonic() - this.#zero;
  }

  /** A chunk of a stream of lines, when it came. */
  bytes(stream: LineStream, bytes: Uint8Array, t: number): void {
    if (this.#hasRoomFor(bytes)) {
      this.#add({ kind: "bytes", stream, t, bytes: this.#copy(bytes) });
      return;
    }
    const { streams } = this.#openHole(t);
    const { ended = 0 } = streams.get(stream) ?? {};
    streams.set(stream, { stream, ended: ended + linesIn(bytes), withinLine: bytes.at(-1) !== newline });
  }

  /** A chunk of stderr. */
  stderr(bytes: Uint8Array, t: number): void {
    if (this.#hasRoomFor(bytes)) this.#add({ kind: "stderr", t, bytes: this.#copy(bytes) });
    else this.#openHole(t).lost += 1;
  }

  /** A frame that its carrier keeps apart. */
  frame(frame: ObservedFrame): void {
    if (this.#hasRoomFor(frame.bytes))
      this.#add({ kind: "frame", frame: { ...frame, bytes: this.#copy(frame.bytes) } });
    else this.#openHole(frame.t).lost += 1;
  }

  /** What became of a side, a head of HTTP, the end of a stream: few, and never dropped. */
  add(observation: Extract<Observation, { kind: "entry" | "ended" | "rule" }>): void {
    if (this.#hole !== undefined) this.#closeHole(this.#hole);
    this.#add(observation);
  }

  /** Ends the recording. Never rejects, and waits only as long as something is being written. */
  end(): Promise<RecordingOutcome> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<RecordingOutcome> {
    if (this.#hole !== undefined) this.#closeHole(this.#hole);
    this.#flush();
    const outcome = new Promise<RecordingOutcome>((resolve) => {
      this.#outcome = resolve;
    });
    if (this.#failure !== undefined) this.#fail(this.#failure);
    const watch = this.#giveUpWithoutProgress();
    this.#post({ end: this.now() });
    const ended = await outcome;
    clearInterval(watch);
    return ended;
  }

  #giveUpWithoutProgress(): NodeJS.Timeout {
    let before = -1;
    return setInterval(() => {
      const outstanding = Atomics.load(this.#counter, 0);
      if (outstanding === before) this.#fail("the disk is too slow");
      before = outstanding;
    }, endWithin);
  }

  #fail(why: string): void {
    this.#failure ??= why;
    this.#outcome?.({ path: this.#path, untold: 1, why });
  }

  #hasRoomFor(bytes: Uint8Array): boolean {
    const outstanding = Atomics.load(this.#counter, 0);
    // Half of the room must be there again, or a recording would be more gaps than frames.
    const most = this.#hole === undefined ? mostOutstanding : mostOutstanding / 2;
    if (outstanding + bytes.length > most) return false;
    if (this.#hole !== undefined) this.#closeHole(this.#hole);
    return true;
  }

  #openHole(t: number): OpenHole {
    this.#hole ??= { from: t, to: t, lost: 0, streams: new Map() };
    this.#hole.to = t;
    return this.#hole;
  }

  #closeHole({ from, to, lost, streams }: OpenHole): void {
    this.#hole = undefined;
    const hole: Hole = { kind: "hole", from, to, lost, streams: [...streams.values()] };
    this.#add(hole);
  }

  /** Of its own, so that it can change threads: the one that was read goes out while it is looked at. */
  #copy(bytes: Uint8Array): Uint8Array {
    const copy = new Uint8Array(bytes);
    Atomics.add(this.#counter, 0, copy.length);
    this.#transfer.push(copy.buffer);
    return copy;
  }

  #add(observation: Observation): void {
    this.#batch.push(observation);
    if (this.#batch.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const [observations, transfer] = [this.#batch, this.#transfer];
    this.#batch = [];
    this.#transfer = [];
    if (observations.length > 0) this.#post({ observations }, transfer);
  }

  #post(message: ToRecorder, transfer: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, transfer);
  }
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines += 1;
  return lines;
}

/** What a person must be told of a recording that could not be written to its end: it cannot say so itself. */
export function missingAtEnd({ path, untold, why }: RecordingOutcome): string {
  const lines = untold === 1 ? "1 line is" : `${untold} lines are`;
  return `${lines} missing at the end of the recording ${path}: ${why ?? "it could not be written"}`;
}
