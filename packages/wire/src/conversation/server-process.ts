import type { LifeEntry, StderrEntry } from "../recording/entry.js";
import { bytesOf } from "../recording/frame.js";

/** The number of newest pieces of stderr that are kept, and the maximum number of characters of each. */
const mostKept = 20;
const longest = 2_000;

/** A piece of output of the server on stderr. */
export interface StderrPiece {
  /** The number of the observation. */
  readonly n: number;
  /** When it arrived, in milliseconds since the recording began. */
  readonly at: number;
  /** The text, with U+FFFD in place of bytes that are not UTF-8. */
  readonly text: string;
}

/** How the process of a server ended. */
export interface ProcessEnd {
  /** The number of the observation. */
  readonly n: number;
  /** When it ended. */
  readonly at: number;
  /** The exit code; undefined after a signal. */
  readonly code: number | undefined;
  /** The signal that ended it. */
  readonly signal: string | undefined;
}

const loose = new TextDecoder("utf-8", { ignoreBOM: true });

/** The process of a server, as far as the recording shows it. The properties stay after the process has ended. */
export interface ServerProcess {
  /** The process id. */
  readonly pid: number | undefined;
  /** When it was started; undefined for a server that the recorder did not start. */
  readonly startedAt: number | undefined;
  /** Why the process could not be started; undefined if it was. */
  readonly failure: string | undefined;
  /** When the client closed its input. */
  readonly stdinEndedAt: number | undefined;
  /** The end; undefined while it runs. */
  readonly end: ProcessEnd | undefined;
  /** The signals that were sent to it, in order. */
  readonly signals: readonly string[];
  /** The newest output on stderr, in order. */
  readonly stderr: readonly StderrPiece[];
  /** The number of bytes that it wrote to stderr. */
  readonly stderrBytes: number;
}

/** A process of which nothing was recorded so far. */
export const unseenProcess: ServerProcess = {
  pid: undefined,
  startedAt: undefined,
  failure: undefined,
  stdinEndedAt: undefined,
  end: undefined,
  signals: [],
  stderr: [],
  stderrBytes: 0,
};

/** The process after the next entry of its session. */
export function processAfter(before: ServerProcess, entry: LifeEntry | StderrEntry): ServerProcess {
  const { n, t } = entry;
  if (entry.k === "e") {
    const bytes = bytesOf(entry);
    const piece = { n, at: t, text: loose.decode(bytes.subarray(0, longest)) };
    const stderr = [...before.stderr, piece].slice(-mostKept);
    return { ...before, stderr, stderrBytes: before.stderrBytes + bytes.length };
  }
  const { ev, pid, why, code, sig } = entry;
  switch (ev) {
    case "spawn":
      return { ...before, startedAt: t, pid, end: undefined };
    case "stdin-end":
      return { ...before, stdinEndedAt: before.stdinEndedAt ?? t };
    case "signal":
      return typeof sig === "string" ? { ...before, signals: [...before.signals, sig].slice(0, mostKept) } : before;
    case "exit":
      return { ...before, failure: why, end: { n, at: t, code: code ?? undefined, signal: sig ?? undefined } };
    default:
      return before;
  }
}
