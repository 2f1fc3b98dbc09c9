import type { Entry, FrameEntry } from "@parlance/wire";

type Direction = FrameEntry["d"];
type FrameChannel = FrameEntry["ch"];
type HttpEntry = Extract<Entry, { k: "h" }>;
type LifeEntry = Extract<Entry, { k: "l" }>;
type RecorderRuleEntry = Extract<Entry, { k: "r" }>;
type StderrEntry = Extract<Entry, { k: "e" }>;

/** A line of a recording that tells of one moment. */
export type ObservedEntry = FrameEntry | StderrEntry | HttpEntry | LifeEntry | RecorderRuleEntry;

/** An entry that has no number yet. */
type Unnumbered<Each> = Each extends Entry ? Omit<Each, "n"> : never;

/** A stream of bytes that is recorded line by line. */
export type LineStream = Extract<FrameChannel, "stdin" | "stdout">;

/** An observation for the writer thread, which owns its bytes from then on. */
export type Observation =
  | { readonly kind: "bytes"; readonly stream: LineStream; readonly t: number; readonly bytes: Uint8Array }
  | { readonly kind: "ended"; readonly stream: LineStream }
  | { readonly kind: "stderr"; readonly t: number; readonly bytes: Uint8Array }
  | { readonly kind: "frame"; readonly frame: ObservedFrame }
  | { readonly kind: "entry"; readonly entry: Unnumbered<HttpEntry | LifeEntry> }
  /** A rule of the recorder, in force from here on or applied to a marked frame. */
  | { readonly kind: "rule"; readonly entry: RecorderRuleEntry; readonly of?: number }
  | Gap;

/** A frame of a transport with frames. */
export interface ObservedFrame
  extends Pick<FrameEntry, "s" | "t" | "t1" | "d" | "ch" | "w" | "req" | "ev" | "cut" | "by"> {
  /** How its line ended, if it is one. */
  readonly nl?: FrameEntry["nl"];
  /** Identifies the frame before it has a number. */
  readonly mark?: number;
  /** The mark of the frame that it was made of. */
  readonly of?: number;
  /** Or no more than its beginning. */
  readonly bytes: Uint8Array;
  readonly len: number;
}

/** Observations that were dropped because the writer thread was too far behind. */
export interface Gap {
  readonly kind: "hole";
  readonly from: number;
  readonly to: number;
  /** Dropped frames and chunks of stderr. */
  readonly lost: number;
  readonly streams: readonly LostLines[];
}

/** Dropped bytes of a stream of lines. */
export interface LostLines {
  readonly stream: LineStream;
  readonly ended: number;
  /** The dropped bytes end within a line. */
  readonly withinLine: boolean;
}

/** The direction of a stream of lines. */
export const directions: Readonly<Record<LineStream, Direction>> = { stdin: "c2s", stdout: "s2c" };
