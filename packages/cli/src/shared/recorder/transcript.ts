import { type Entry, type FrameEntry, LineCutter, recordedBytes } from "@parlance/wire";
import { milliseconds } from "../monotonic.js";
import {
  directions,
  type Gap,
  type LineStream,
  type Observation,
  type ObservedEntry,
  type ObservedFrame,
} from "./recorder-messages.js";

type CutLine = ReturnType<LineCutter["push"]>[number];
type RecorderRuleEntry = Extract<Entry, { k: "r" }>;

/** The name of the only session of a process on stdio. */
const stdio = "1";

/** Milliseconds after which an unfinished line is recorded as `partial`. */
const partialAfter = 1_000;

/** Converts observations to the entries of a recording, in order, and numbers them. */
export class Transcript {
  readonly #write: (entry: ObservedEntry) => void;
  readonly #lose: (from: number, to: number, lost: number) => void;
  readonly #cutters: Readonly<Record<LineStream, LineCutter>> = { stdin: new LineCutter(), stdout: new LineCutter() };
  /** The streams whose unfinished line was recorded as `partial`. */
  readonly #reported = new Set<LineStream>();
  /** The numbers of marked frames. */
  readonly #marked = new Map<number, number>();
  #n = 0;

  /**
   * @param write called with each entry
   * @param lose called with the interval and the number of missing lines. Default: does nothing
   */
  constructor(
    write: (entry: ObservedEntry) => void,
    lose: (from: number, to: number, lost: number) => void = () => undefined,
  ) {
    this.#write = write;
    this.#lose = lose;
  }

  /** Takes the next observation. */
  observe(observation: Observation): void {
    switch (observation.kind) {
      case "bytes":
        this.#bytes(observation.stream, observation.bytes, observation.t);
        break;
      case "ended":
        this.#ended(observation.stream);
        break;
      case "stderr": {
        const { t, bytes } = observation;
        this.#number((n) => ({ k: "e", n, s: stdio, t: milliseconds(t), ...recordedBytes(bytes) }));
        break;
      }
      case "frame":
        this.#frame(observation.frame, observation.frame.nl);
        break;
      case "rule":
        this.#rule(observation.entry, observation.of);
        break;
      case "entry": {
        const { entry } = observation;
        // The most important members first, for people who read the line.
        this.#number((n) => Object.assign({ k: entry.k, n }, entry, { t: milliseconds(entry.t) }));
        break;
      }
      case "gap":
        this.#gap(observation);
        break;
    }
  }

  /** Records lines that stay unfinished, each once. Returns the time of the next check; undefined if none is needed. */
  lookAtUnfinished(now: number): number | undefined {
    const waiting = streams.filter((stream) => this.#cutters[stream].held > 0 && !this.#reported.has(stream));
    const due = waiting.filter((stream) => this.#cutters[stream].last + partialAfter <= now);
    for (const stream of due) {
      this.#reported.add(stream);
      const { held: len } = this.#cutters[stream];
      const t = milliseconds(now);
      this.#number((n) => ({ k: "l", n, t, s: stdio, ev: "partial", d: directions[stream], len }));
    }
    const later = waiting.filter((stream) => !due.includes(stream)).map((stream) => this.#cutters[stream].last);
    return later.length === 0 ? undefined : Math.min(...later) + partialAfter;
  }

  /** Ends all streams. */
  end(): void {
    for (const stream of streams) this.#ended(stream);
  }

  #bytes(stream: LineStream, bytes: Uint8Array, t: number): void {
    for (const line of this.#cutters[stream].push(bytes, t)) {
      this.#reported.delete(stream);
      this.#line(stream, line);
    }
  }

  #ended(stream: LineStream): void {
    const rest = this.#cutters[stream].end();
    if (rest !== undefined) this.#line(stream, rest);
  }

  #line(stream: LineStream, { nl, ...line }: CutLine): void {
    this.#frame({ s: stdio, d: directions[stream], ch: stream, ...line }, nl);
  }

  #frame({ bytes, ...frame }: ObservedFrame, nl: FrameEntry["nl"] = ""): void {
    const { s, t, t1 = t, d, ch, len, w = [], req, ev, cut, by, mark } = frame;
    const of = frame.of === undefined ? undefined : this.#marked.get(frame.of);
    if (mark !== undefined) this.#marked.set(mark, this.#n + 1);
    this.#number((n) => ({
      k: "f",
      n,
      s,
      t: milliseconds(t),
      ...(t1 > t && { t1: milliseconds(t1) }),
      d,
      ch,
      len,
      nl,
      ...(bytes.length < len && { kept: bytes.length }),
      ...(w.length > 0 && { w: w.map(([offset, at]) => [offset, milliseconds(at)] as const) }),
      ...(req !== undefined && { req }),
      ...(ev !== undefined && { ev }),
      ...(cut !== undefined && { cut }),
      ...(by !== undefined && { by }),
      ...(of !== undefined && { of }),
      ...recordedBytes(bytes),
    }));
  }

  #rule(entry: RecorderRuleEntry, of: number | undefined): void {
    const n = of === undefined ? undefined : this.#marked.get(of);
    this.#write({ ...entry, t: milliseconds(entry.t), ...(n !== undefined && { of: n }) });
  }

  #gap({ from, to, lost, streams: lines }: Gap): void {
    let count = lost;
    for (const { stream, ended, withinLine } of lines) {
      count += this.#cutters[stream].skip(ended, withinLine);
      this.#reported.delete(stream);
    }
    this.#n += count;
    this.#lose(from, to, count);
  }

  #number(make: (n: number) => ObservedEntry): void {
    this.#n += 1;
    this.#write(make(this.#n));
  }
}

const streams: readonly LineStream[] = ["stdin", "stdout"];
