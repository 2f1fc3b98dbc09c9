import type { Entry, HeaderEntry } from "@parlance/wire";
import type { Observation } from "./observation.js";
import type { RecordingOutcome } from "./recording-file.js";

/** What the thread that writes a recording is started with. */
export interface RecorderStart {
  readonly path: string;
  readonly header: HeaderEntry;
  /** `monotonic()` at `header.t0`. */
  readonly zero: number;
  /** Bytes that were handed over and not yet looked at: one 32-bit number, which both threads change. */
  readonly outstanding: SharedArrayBuffer;
  /** Tell of every entry. */
  readonly watched: boolean;
  /** Tell of every rule that is broken. */
  readonly judged: boolean;
}

/** What the thread is told. */
export type ToRecorder = { readonly observations: readonly Observation[] } | { readonly end: number };

/** What the thread tells. */
export type FromRecorder =
  | { readonly kind: "opened"; readonly path: string }
  | { readonly kind: "entries"; readonly entries: readonly Entry[] }
  | { readonly kind: "violations"; readonly violations: readonly string[] }
  | { readonly kind: "outcome"; readonly outcome: RecordingOutcome };
