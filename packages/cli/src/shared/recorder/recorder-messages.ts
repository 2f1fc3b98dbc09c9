import type { Entry, HeaderEntry } from "@parlance/wire";
import type { Observation } from "./observation.js";
import type { RecordingOutcome } from "./recording-file.js";

/** The data with which the writer thread starts. */
export interface RecorderStart {
  readonly path: string;
  readonly header: HeaderEntry;
  /** `monotonic()` at `header.t0`. */
  readonly zero: number;
  /** Bytes in transit: one 32-bit number that both threads change. */
  readonly outstanding: SharedArrayBuffer;
  /** Send every entry. */
  readonly watched: boolean;
  /** Send every violation. */
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
