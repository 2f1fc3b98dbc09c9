import type { Entry, FrameEntry, HeaderEntry } from "@parlance/wire";

type Direction = FrameEntry["d"];
type FrameChannel = FrameEntry["ch"];
type HttpEntry = Extract<Entry, { k: "h" }>;
type LifeEntry = Extract<Entry, { k: "l" }>;
type RecorderRuleEntry = Extract<Entry, { k: "r" }>;
type StderrEntry = Extract<Entry, { k: "e" }>;

/** The data with which the writer thread starts. */
export interface RecorderStart {
  readonly path: string;
  readonly header: HeaderEntry;
  /** `monotonic()` at `header.t0`. */
  readonly zero: number;
  /** Bytes in transit: one 32-bit number that both threads change. */
  readonly outstanding: SharedArrayBuffer;
  /** Whether to send every entry. */
  readonly watched: boolean;
  /** Whether to send every violation. */
  readonly judged: boolean;
}

/** Messages to the thread. */
export type ToRecorder = { readonly observations: readonly Observation[] } | { readonly end: number };

/** Messages from the thread. */
export type FromRecorder =
  | { readonly kind: "opened"; readonly path: string }
  | { readonly kind: "entries"; readonly entries: readonly Entry[] }
  | { readonly kind: "violations"; readonly violations: readonly string[] }
  | { readonly kind: "outcome"; readonly outcome: RecordingOutcome };

/** A numbered line of a recording. */
export type ObservedEntry = FrameEntry | StderrEntry | HttpEntry | LifeEntry | RecorderRuleEntry;

/** An entry without its number. */
type Unnumbered<Each> = Each extends Entry ? Omit<Each, "n"> : never;

/** A stream of bytes that is recorded line by line. */
export type LineStream = Extract<FrameChannel, "stdin" | "stdout">;

/** An observation for the writer thread, to which its bytes are transferred. */
export type Observation =
  | { readonly kind: "bytes"; readonly stream: LineStream; readonly t: number; readonly bytes: Uint8Array }
  | { readonly kind: "ended"; readonly stream: LineStream }
  | { readonly kind: "stderr"; readonly t: number; readonly bytes: Uint8Array }
  | { readonly kind: "frame"; readonly frame: ObservedFrame }
  | { readonly kind: "entry"; readonly entry: Unnumbered<HttpEntry | LifeEntry> }
  /** A rule of the recorder that was set, or applied to a marked frame. */
  | { readonly kind: "rule"; readonly entry: RecorderRuleEntry; readonly of?: number | undefined }
  | Gap;

/** A frame of a transport with frames. */
export interface ObservedFrame
  extends Pick<FrameEntry, "s" | "t" | "t1" | "d" | "ch" | "w" | "req" | "ev" | "cut" | "by"> {
  /** The line end, if the frame is a line. */
  readonly nl?: FrameEntry["nl"];
  /** Identifies the frame before it has a number. */
  readonly mark?: number | undefined;
  /** The mark of the frame that it was made from. */
  readonly of?: number | undefined;
  /** The bytes, or only the beginning of a long frame. */
  readonly bytes: Uint8Array;
  readonly len: number;
}

/** Observations that were dropped because the writer thread was too far behind. */
export interface Gap {
  readonly kind: "gap";
  readonly from: number;
  readonly to: number;
  /** The number of dropped frames and chunks of stderr. */
  readonly lost: number;
  readonly streams: readonly LostLines[];
}

/** Dropped bytes of a stream of lines. */
export interface LostLines {
  readonly stream: LineStream;
  readonly ended: number;
  /** Whether the dropped bytes end within a line. */
  readonly withinLine: boolean;
}

/** The direction of a stream of lines. */
export const directions: Readonly<Record<LineStream, Direction>> = { stdin: "c2s", stdout: "s2c" };

/** How a recording ended. */
export interface RecordingOutcome {
  readonly path: string;
  /** The number of missing frames and lines that no entry reports, because there was no room for the entry either. */
  readonly unreported: number;
  /** Why the last write failed; undefined when everything was written. */
  readonly why?: string;
}
