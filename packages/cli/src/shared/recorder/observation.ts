import type {
  Direction,
  Entry,
  FrameChannel,
  FrameEntry,
  HttpEntry,
  LifeEntry,
  RecorderRuleEntry,
  StderrEntry,
} from "@parlance/wire";

/** A line of a recording that tells of one moment. */
export type ObservedEntry = FrameEntry | StderrEntry | HttpEntry | LifeEntry | RecorderRuleEntry;

/** An entry that has no number yet. */
type Unnumbered<Each> = Each extends Entry ? Omit<Each, "n"> : never;

/** A stream of bytes that is recorded line by line. */
export type LineStream = Extract<FrameChannel, "stdin" | "stdout">;

/** What was seen at one moment, as it goes to whoever writes it down. Its bytes belong to whoever gets it. */
export type Observation =
  | { readonly kind: "bytes"; readonly stream: LineStream; readonly t: number; readonly bytes: Uint8Array }
  | { readonly kind: "ended"; readonly stream: LineStream }
  | { readonly kind: "stderr"; readonly t: number; readonly bytes: Uint8Array }
  | { readonly kind: "frame"; readonly frame: ObservedFrame }
  | { readonly kind: "entry"; readonly entry: Unnumbered<HttpEntry | LifeEntry> }
  /** A rule that is followed from here on, or was followed on the frame with a mark. */
  | { readonly kind: "rule"; readonly entry: RecorderRuleEntry; readonly of?: number }
  | Hole;

/** A frame of a carrier that keeps its frames apart by itself. */
export interface ObservedFrame
  extends Pick<FrameEntry, "s" | "t" | "t1" | "d" | "ch" | "w" | "req" | "ev" | "cut" | "by"> {
  /** How its line ended, if it is one. */
  readonly nl?: FrameEntry["nl"];
  /** What others may name it by, before it has a number. */
  readonly mark?: number;
  /** The mark of the frame that it was made of. */
  readonly of?: number;
  /** Or no more than its beginning. */
  readonly bytes: Uint8Array;
  readonly len: number;
}

/** What could not be handed over, because whoever writes it down was too far behind. */
export interface Hole {
  readonly kind: "hole";
  readonly from: number;
  readonly to: number;
  /** Of the frames that a carrier keeps apart, and of stderr. */
  readonly lost: number;
  readonly streams: readonly LostLines[];
}

/** What is missing of a stream of lines. */
export interface LostLines {
  readonly stream: LineStream;
  readonly ended: number;
  /** The last byte that is missing ends no line. */
  readonly withinLine: boolean;
}

/** The way that a stream of lines goes. */
export const directions: Readonly<Record<LineStream, Direction>> = { stdin: "c2s", stdout: "s2c" };
