import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { type Clock, systemClock } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import { checkMembers, type MembersOf } from "../base/members.js";
import { settlesWithin } from "../base/settles-within.js";
import type { Channel, ChannelReceiver } from "../jsonrpc/channel.js";
import { guarded, reporterOf } from "../jsonrpc/hooks.js";
import { clientLimits } from "../jsonrpc/limits.js";
import { excerpt, type Reporter } from "../jsonrpc/report.js";
import { type Command, commandMembers, start, startFailure } from "./command.js";
import { ProcessGroup } from "./process-group.js";
import { StderrTail } from "./stderr-tail.js";
import { StreamChannel, type StreamChannelOptions, streamMembers } from "./stream-channel.js";

export type { Command } from "./command.js";

export interface ChildChannelOptions extends Omit<StreamChannelOptions, "keepsOutputOpen"> {
  /** Receives what the child writes to stderr, as it comes. Default: it is kept for error messages only. */
  readonly onStderr?: (chunk: Uint8Array) => unknown;
  /** Takes what `onStderr` throws or rejects with. Default: it is written to the console (stderr). */
  readonly report?: Reporter;
  /** Milliseconds from the end of stdin to SIGTERM, and from there to SIGKILL. Default: 2,000. */
  readonly exitGrace?: number;
}

const { keepsOutputOpen, ...pipeMembers } = streamMembers;
const childMembers: MembersOf<ChildChannelOptions> = {
  ...pipeMembers,
  onStderr: ["stderr", "onstderr"],
  report: ["reporter"],
  exitGrace: ["grace", "killTimeout"],
};

/** A channel to a child process, and what became of the process. */
export interface ChildChannel extends Channel {
  /** Undefined when the process could not be started. */
  readonly pid: number | undefined;
  /** The input of the child, for bytes that are no frame: they may overtake frames that are sent at the same time. */
  readonly stdin: Writable | undefined;
  /** The last lines that the child wrote to stderr. */
  readonly stderr: string;
  /** How the process ended; undefined while it runs, and where it was never started. */
  readonly exit: ProcessExit | undefined;
}

/** A code, or the signal that ended the process. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/**
 * Starts a command in a process group of its own and speaks to its stdin and stdout.
 *
 * A command that cannot be started, exits or closes its output ends the channel with an error that says what was seen:
 * exit code or signal, and the last lines of stderr. `close` ends stdin, then sends SIGTERM, then SIGKILL to the whole
 * group, and resolves when the process is gone. What a process that exits leaves in its group is ended in the same way.
 * On Windows, which has no such groups, the process alone is.
 */
export function childChannel(command: Command, options: ChildChannelOptions = {}): ChildChannel {
  checkMembers("The command", command, commandMembers);
  checkMembers("childChannel", options, childMembers);
  return new ProcessChannel(command, options);
}

/** Milliseconds from the end of a child's output until it counts as one that goes on without it. */
const exitDelay = 250;

/** Milliseconds from the exit of a child until its pipes are no longer waited for: others may hold them open for ever. */
const pipesDelay = 50;

class ProcessChannel implements ChildChannel {
  readonly #command: Command;
  readonly #options: ChildChannelOptions;
  readonly #clock: Clock;
  readonly #tail = new StderrTail();
  /** The command has exited, or was never started. */
  readonly #exited = deferred<undefined>();
  readonly #pipesClosed = deferred<undefined>();
  readonly #outputEnded = deferred<Error | undefined>();
  readonly #child: ChildProcess | undefined;
  #group: ProcessGroup | undefined;
  #stream: StreamChannel | undefined;
  #notStarted: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor(command: Command, options: ChildChannelOptions) {
    this.#command = command;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    try {
      this.#child = start(command);
      this.#attach(this.#child);
    } catch (error) {
      this.#startFailed(error);
    }
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get stdin(): Writable | undefined {
    return this.#child?.stdin ?? undefined;
  }

  get stderr(): string {
    return this.#tail.text;
  }

  get exit(): ProcessExit | undefined {
    const { exitCode: code = null, signalCode: signal = null } = this.#child ?? {};
    return code === null && signal === null ? undefined : { code, signal };
  }

  open(receiver: ChannelReceiver): void {
    this.#stream?.open({
      frame: (text) => receiver.frame(text),
      refuse: (refusal) => receiver.refuse(refusal),
      end: (error) => this.#outputEnded.resolve(error),
    });
    void this.#whenOver().then((error) => {
      if (this.#closing !== undefined) return;
      void this.#stream?.finish(); // Never rejects; `close` waits for it.
      receiver.end(error);
    });
  }

  send(frame: string): void | Promise<void> {
    return this.#stream?.send(frame);
  }

  pause(): void {
    this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const finished = this.#stream?.finish();
    await this.#group?.stop();
    // A process that has left the group may hold its ends of the pipes for ever.
    for (const pipe of this.#child?.stdio ?? []) pipe?.destroy();
    await finished;
  }

  #attach(child: ChildProcess): void {
    const { pid, stdin, stdout, stderr } = child;
    const { exitGrace = 2_000 } = this.#options;
    child.on("exit", () => this.#exited.resolve(undefined));
    child.on("close", () => this.#pipesClosed.resolve(undefined));
    child.on("error", (error) => {
      // With a number it was started, and what failed is a signal: `stop` sees that the process is still there.
      if (pid === undefined) this.#startFailed(error);
    });
    if (pid !== undefined) this.#group = new ProcessGroup(child, pid, exitGrace, this.#clock);
    stderr?.on("data", (chunk: Uint8Array) => {
      this.#tail.push(chunk);
      guarded("onStderr", () => this.#options.onStderr?.(chunk), reporterOf(this.#options.report));
    });
    stderr?.on("error", () => undefined); // What it said before is there, and nothing depends on the rest.
    // There are no pipes where the system has no more of them to give.
    if (stdin && stdout) {
      this.#stream = new StreamChannel(stdout, stdin, { frameBytes: clientLimits.frameBytes, ...this.#options });
    }
  }

  #startFailed(error: unknown): void {
    this.#notStarted = startFailure(this.#command, error);
    this.#exited.resolve(undefined);
    this.#pipesClosed.resolve(undefined);
  }

  /** Resolves when the conversation is over, with what was seen of its end. */
  async #whenOver(): Promise<Error> {
    const broken = await Promise.race([this.#exited.promise, this.#outputEnded.promise]);
    // Where the output ended first, the exit is about to follow, and says more.
    await settlesWithin(this.#exited.promise, exitDelay, this.#clock);
    // What it said before is read by then: the system tells of the exit behind the bytes.
    await settlesWithin(this.#pipesClosed.promise, pipesDelay, this.#clock);
    return this.#notStarted ?? this.#ending(broken);
  }

  #ending(broken: Error | undefined): Error {
    const { code = null, signal = null } = this.exit ?? {};
    let how = broken === undefined ? "closed its output and still runs" : `still runs, but ${broken.message}`;
    if (code !== null) how = `exited with code ${code}`;
    if (signal !== null) how = `was ended by ${signal}`;
    const said = this.stderr === "" ? "; it wrote nothing to stderr" : `; its last lines on stderr:\n${this.stderr}`;
    return new Error(`${excerpt(this.#command.command)} ${how}${said}`, broken === undefined ? {} : { cause: broken });
  }
}
