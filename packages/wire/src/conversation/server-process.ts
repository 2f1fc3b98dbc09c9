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
export class ServerProcess {
  #pid: number | undefined;
  #startedAt: number | undefined;
  #failure: string | undefined;
  #stdinEndedAt: number | undefined;
  #end: ProcessEnd | undefined;
  readonly #signals: string[] = [];
  readonly #stderr: StderrPiece[] = [];
  #stderrBytes = 0;

  /** The process id. */
  get pid(): number | undefined {
    return this.#pid;
  }

  /** When it was started; undefined for a server that the recorder did not start. */
  get startedAt(): number | undefined {
    return this.#startedAt;
  }

  /** Why the process could not be started; undefined if it was. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** When the client closed its input. */
  get stdinEndedAt(): number | undefined {
    return this.#stdinEndedAt;
  }

  /** The end; undefined while it runs. */
  get end(): ProcessEnd | undefined {
    return this.#end;
  }

  /** The signals that were sent to it, in order. */
  get signals(): readonly string[] {
    return this.#signals;
  }

  /** The newest output on stderr, in order. */
  get stderr(): readonly StderrPiece[] {
    return this.#stderr;
  }

  /** The number of bytes that it wrote to stderr. */
  get stderrBytes(): number {
    return this.#stderrBytes;
  }

  /** Takes the next entry of the session. */
  take(entry: LifeEntry | StderrEntry): void {
    if (entry.k === "l") this.#takeLife(entry);
    else this.#takeStderr(entry);
  }

  #takeLife({ ev, n, t, pid, why, code, sig }: LifeEntry): void {
    if (ev === "spawn") {
      this.#startedAt = t;
      this.#pid = pid;
      this.#end = undefined;
    }
    if (ev === "stdin-end") this.#stdinEndedAt ??= t;
    if (ev === "signal" && typeof sig === "string" && this.#signals.length < mostKept) this.#signals.push(sig);
    if (ev === "exit") this.#failure = why;
    if (ev === "exit") this.#end = { n, at: t, code: code ?? undefined, signal: sig ?? undefined };
  }

  #takeStderr(entry: StderrEntry): void {
    const bytes = bytesOf(entry);
    this.#stderrBytes += bytes.length;
    this.#stderr.push({ n: entry.n, at: entry.t, text: loose.decode(bytes.subarray(0, longest)) });
    if (this.#stderr.length > mostKept) this.#stderr.shift();
  }
}
