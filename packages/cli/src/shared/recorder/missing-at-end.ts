import type { RecordingOutcome } from "./recording-file.js";

/** What a person must be told of a recording that could not be written to its end: it cannot say so itself. */
export function missingAtEnd({ path, untold, why }: RecordingOutcome): string {
  const lines = untold === 1 ? "1 line is" : `${untold} lines are`;
  return `${lines} missing at the end of the recording ${path}: ${why ?? "it could not be written"}`;
}
