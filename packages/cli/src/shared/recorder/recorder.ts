import { Worker } from "node:worker_threads";
import type { Entry, HeaderEntry } from "@parlance/wire";
import { monotonic } from "../monotonic.js";
import { linesIn } from "./lines-in.js";
import type {
  FromRecorder,
  Gap,
  LineStream,
  LostLines,
  Observation,
  ObservedFrame,
  RecorderStart,
  RecordingOutcome,
  ToRecorder,
} from "./recorder-messages.js";

/** The options of a recorder. */
export interface RecorderOptions {
  readonly path: string;
  readonly header: Omit<HeaderEntry, "k" | "fmt" | "id" | "t0" | "clock" | "os">;
  /** Called with entries in order, with some delay; for live views. */
  readonly onEntries?: (entries: readonly Entry[]) => void;
  /** Called with the texts of violations. */
  readonly onViolations?: (violations: readonly string[]) => void;
}

/** The maximum number of bytes in transit to the writer thread. */
const mostOutstanding = 32 * 1024 * 1024;

/** Milliseconds to wait for the file to open. */
const openWithin = 1_000;

/**
 * Milliseconds without progress after which ending a recording is given up. A stuck disk must not block the program for ever, but
 * on a busy machine a thread may get no CPU time for seconds.
 */
const endWithin = 10_000;

const newline = 0x0a;

/** Counts dropped observations. */
interface OpenGap {
  readonly from: number;
  to: number;
  lost: number;
  readonly streams: Map<LineStream, LostLines>;
}

/**
 * Records observations without blocking the traffic: they are copied, and sent to the writer thread once per turn of the event
 * loop. When that thread is too far behind, observations are only counted.
 */
export class Recorder {
  readonly #zero: number;
  readonly #path: string;
  readonly #counter = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker | undefined;
  #batch: Observation[] = [];
  #transfer: ArrayBuffer[] = [];
  #gap: OpenGap | undefined;
  #failure: string | undefined;
  #onOpened: ((path: string) => void) | undefined;
  #ended: Promise<RecordingOutcome> | undefined;
  #outcome: ((outcome: RecordingOutcome) => void) | undefined;

  /** The path of the recording, or the planned path if the file does not open in time. */
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
      // Without a thread nothing is recorded, but the conversation goes on.
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  #start({ path, header, onEntries, onViolations }: RecorderOptions): Worker {
    const workerData: RecorderStart = {
      path,
      header: {
        k: "hdr",
        fmt: "parlance/1",
        id: crypto.randomUUID(),
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
    // No `execArgv` of this process: a debugger or an import hook must not run in this thread.
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

  /** Records a chunk of a stream of lines. */
  bytes(stream: LineStream, bytes: Uint8Array, t: number): void {
    if (this.#hasRoomFor(bytes)) {
      this.#add({ kind: "bytes", stream, t, bytes: this.#copy(bytes) });
      return;
    }
    const { streams } = this.#openGap(t);
    const { ended = 0 } = streams.get(stream) ?? {};
    streams.set(stream, { stream, ended: ended + linesIn(bytes), withinLine: bytes.at(-1) !== newline });
  }

  /** Records a chunk of stderr. */
  stderr(bytes: Uint8Array, t: number): void {
    if (this.#hasRoomFor(bytes)) this.#add({ kind: "stderr", t, bytes: this.#copy(bytes) });
    else this.#openGap(t).lost += 1;
  }

  /** Records a frame of a transport with frames, such as HTTP. */
  frame(frame: ObservedFrame): void {
    if (this.#hasRoomFor(frame.bytes))
      this.#add({ kind: "frame", frame: { ...frame, bytes: this.#copy(frame.bytes) } });
    else this.#openGap(frame.t).lost += 1;
  }

  /** Records a lifecycle event, an HTTP head, a rule or the end of a stream. These are few and never dropped. */
  add(observation: Extract<Observation, { kind: "entry" | "ended" | "rule" }>): void {
    if (this.#gap !== undefined) this.#closeGap(this.#gap);
    this.#add(observation);
  }

  /** Ends the recording. Never rejects, and waits only while lines are being written. */
  end(): Promise<RecordingOutcome> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<RecordingOutcome> {
    if (this.#gap !== undefined) this.#closeGap(this.#gap);
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
    this.#outcome?.({ path: this.#path, unreported: 1, why });
  }

  #hasRoomFor(bytes: Uint8Array): boolean {
    const outstanding = Atomics.load(this.#counter, 0);
    // Resume at half of the limit, or gaps would alternate with single frames.
    const most = this.#gap === undefined ? mostOutstanding : mostOutstanding / 2;
    if (outstanding + bytes.length > most) return false;
    if (this.#gap !== undefined) this.#closeGap(this.#gap);
    return true;
  }

  #openGap(t: number): OpenGap {
    this.#gap ??= { from: t, to: t, lost: 0, streams: new Map() };
    this.#gap.to = t;
    return this.#gap;
  }

  #closeGap({ from, to, lost, streams }: OpenGap): void {
    this.#gap = undefined;
    const gap: Gap = { kind: "gap", from, to, lost, streams: [...streams.values()] };
    this.#add(gap);
  }

  /** A copy, so that it can be transferred to the thread while the original is forwarded. */
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

/** The warning for a recording whose end could not be written. */
export function missingAtEnd({ path, unreported, why }: RecordingOutcome): string {
  const lines = unreported === 1 ? "1 line is" : `${unreported} lines are`;
  return `${lines} missing at the end of the recording ${path}: ${why ?? "it could not be written"}`;
}
