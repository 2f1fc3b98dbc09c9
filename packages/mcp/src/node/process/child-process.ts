import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { type Clock, settlesWithin } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { escapeControls } from "../../base/escape-controls.js";
import type { UnfinishedFrame } from "../../base/framing.js";
import { isObject, kindOf } from "../../base/json.js";
import type { Channel, ChannelReceiver } from "../../jsonrpc/channel.js";
import { guarded, reporterOf } from "../../jsonrpc/hooks.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { excerpt, type Reporter } from "../../jsonrpc/report.js";
import { steadyClock } from "../../jsonrpc/steady-clock.js";
import { StreamChannel, type StreamChannelOptions, streamMembers } from "../stream-channel.js";
import { type Command, commandMembers, start, startFailure } from "./command.js";
import { ProcessGroup } from "./process-group.js";

export type { Command } from "./command.js";

export interface ChildChannelOptions extends Omit<StreamChannelOptions, "keepsOutputOpen"> {
  /** Called with each chunk that the child writes to stderr. Default: stderr is kept for error messages only. */
  readonly onStderr?: (chunk: Uint8Array) => unknown;
  /** Called with errors that `onStderr` throws or rejects with. Default: they are written to the console (stderr). */
  readonly report?: Reporter;
  /** Milliseconds between closing stdin and SIGTERM, and between SIGTERM and SIGKILL. Default: 2,000. */
  readonly exitGrace?: number;
}

const { keepsOutputOpen, ...pipeMembers } = streamMembers;
const childMembers: MembersOf<ChildChannelOptions> = {
  ...pipeMembers,
  onStderr: ["function", "stderr", "onstderr"],
  report: ["function", "reporter"],
  exitGrace: ["number", "grace", "killTimeout"],
};

/** A channel to a child process, with the state of the process. */
export interface ChildChannel extends Channel {
  /** Undefined if the process could not be started. */
  readonly pid: number | undefined;
  /** The child's stdin, for bytes that are not frames. They may overtake frames sent at the same time. */
  readonly stdin: Writable | undefined;
  /** The last lines that the child wrote to stderr. */
  readonly stderr: string;
  /** How the process ended; undefined if it is running or was never started. */
  readonly exit: ProcessExit | undefined;
}

/** The exit code, or the signal that ended the process. */
export interface ProcessExit {
  /** The exit code; null if a signal ended the process. */
  readonly code: number | null;
  /** The signal that ended the process; null if it exited by itself. */
  readonly signal: string | null;
}

/**
 * Starts a command in its own process group and opens a channel to its stdin and stdout.
 *
 * If the command cannot be started, exits or closes its output, the channel ends with an error that has the exit code
 * or signal and the last lines of stderr. `close` closes stdin, then sends SIGTERM, then SIGKILL to the whole group,
 * and resolves when the process has exited. When the process exits, the rest of its group is ended in the same way.
 * Windows has no such groups; there only the process itself is ended.
 *
 * @example
 * await using connection = openConnection(childChannel({ command: "node", args: ["server.js"] }));
 */
export function childChannel(command: Command, options: ChildChannelOptions = {}): ChildChannel {
  if (!isObject(command)) {
    const remedy = 'write childChannel({ command: "node", args: ["server.js"] })';
    throw new TypeError(`childChannel needs a command, got ${kindOf(command)}: ${remedy}`);
  }
  checkMembers("The command", command, commandMembers);
  checkMembers("childChannel", options, childMembers);
  return new ProcessChannel(command, options);
}

/** Milliseconds after the child's output closes until the error says that the child still runs. */
const exitDelay = 250;

/** Milliseconds after the child's exit to wait for its pipes to close; other processes may hold them open forever. */
const pipesDelay = 50;

class ProcessChannel implements ChildChannel {
  readonly #command: Command;
  readonly #options: ChildChannelOptions;
  readonly #clock: Clock;
  readonly #tail = new StderrTail();
  /** Resolves when the command has exited or could not be started. */
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
    this.#clock = steadyClock(options.clock, options.report);
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

  get unfinished(): UnfinishedFrame | undefined {
    return this.#stream?.unfinished;
  }

  open(receiver: ChannelReceiver): void {
    this.#stream?.open({
      frame: (text) => receiver.frame(text),
      refuse: (refusal) => receiver.refuse(refusal),
      end: (error) => this.#outputEnded.resolve(error),
    });
    void this.#whenOver().then((error) => {
      if (this.#closing !== undefined) return;
      this.#stream?.endInput(); // Another process may hold the pipe, so its end may never come.
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
    // A process that left the group may hold its ends of the pipes open forever.
    for (const pipe of this.#child?.stdio ?? []) pipe?.destroy();
    await finished;
  }

  #attach(child: ChildProcess): void {
    const { pid, stdin, stdout, stderr } = child;
    const { exitGrace = 2_000 } = this.#options;
    child.on("exit", () => this.#exited.resolve(undefined));
    child.on("close", () => this.#pipesClosed.resolve(undefined));
    child.on("error", (error) => {
      // With a pid, the process was started and a signal failed: `stop` sees that the process still runs.
      if (pid === undefined) this.#startFailed(error);
    });
    if (pid !== undefined) this.#group = new ProcessGroup(child, pid, exitGrace, this.#clock);
    stderr?.on("data", (chunk: Uint8Array) => {
      this.#tail.push(chunk);
      guarded("onStderr", () => this.#options.onStderr?.(chunk), reporterOf(this.#options.report));
    });
    stderr?.on("error", () => undefined); // The output so far is kept, and nothing depends on the rest.
    // The pipes are missing if the system could not create them.
    if (stdin && stdout) {
      this.#stream = new StreamChannel(stdout, stdin, {
        frameBytes: clientLimits.frameBytes,
        ...this.#options,
        clock: this.#clock,
      });
    }
  }

  #startFailed(error: unknown): void {
    this.#notStarted = startFailure(this.#command, error);
    this.#exited.resolve(undefined);
    this.#pipesClosed.resolve(undefined);
  }

  /** Resolves with the error that ends the channel. */
  async #whenOver(): Promise<Error> {
    const broken = await Promise.race([this.#exited.promise, this.#outputEnded.promise]);
    // If the output closed first, wait for the exit, whose code says more.
    await settlesWithin(this.#exited.promise, exitDelay, this.#clock);
    // Wait until the last output is read: the exit may be reported before it.
    if (!(await settlesWithin(this.#pipesClosed.promise, pipesDelay, this.#clock))) await this.#stream?.readRest();
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

/** A command that `connect` starts and talks to over stdio. */
export interface CommandTarget extends Command {
  /**
   * Where the command's stderr goes: to this process's stderr (`"inherit"`, the default), nowhere (`"pipe"`), or line
   * by line to a function, whose errors are reported. In each case the last lines are kept for the error message if the
   * command cannot be started or exits.
   */
  readonly stderr?: "inherit" | "pipe" | ((line: string) => unknown);
}

/**
 * Starts the command of a client.
 * @throws TypeError for an unknown option, or an invalid `stderr`
 */
export function startedChannel({ stderr = "inherit", ...command }: CommandTarget, report?: Reporter): ChildChannel {
  const reporting = report === undefined ? {} : { report };
  if (stderr === "pipe") return childChannel(command, reporting);
  if (stderr === "inherit") {
    return childChannel(command, { ...reporting, onStderr: (chunk) => process.stderr.write(chunk) });
  }
  if (typeof stderr === "function") return childChannel(command, { ...reporting, onStderr: byLine(stderr) });
  throw new TypeError(`stderr of a command must be "inherit", "pipe" or a function, got ${JSON.stringify(stderr)}`);
}

/**
 * The maximum length of a line in characters; a longer one is passed on in parts, because a process may never end its
 * line.
 */
const longestLine = 64 * 1024;

function byLine(take: (line: string) => unknown): (chunk: Uint8Array) => unknown {
  const decoder = new TextDecoder();
  let rest = "";
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) {
      lines.push(rest);
      rest = "";
    }
    return Promise.all(lines.map(async (line) => take(line)));
  };
}

const maxBytes = 64 * 1024;
const maxLines = 20;
const maxLineLength = 8 * 1024;

/** The end of a process's stderr, kept in constant memory. */
export class StderrTail {
  readonly #ring = new Uint8Array(maxBytes);
  #written = 0;

  push(chunk: Uint8Array): void {
    const kept = chunk.subarray(-maxBytes);
    const at = this.#written % maxBytes;
    const untilEdge = maxBytes - at;
    this.#ring.set(kept.subarray(0, untilEdge), at);
    this.#ring.set(kept.subarray(untilEdge));
    this.#written += kept.length;
  }

  /** The last 20 lines, each cut to 8 Ki characters, with control characters escaped. */
  get text(): string {
    return this.#decoded()
      .split(/\r?\n/)
      .filter((line) => line.trim() !== "")
      .slice(-maxLines)
      .map((line) => escapeControls(line.slice(0, maxLineLength)))
      .join("\n");
  }

  #decoded(): string {
    const decoder = new TextDecoder();
    if (this.#written <= maxBytes) return decoder.decode(this.#ring.subarray(0, this.#written));
    const at = this.#written % maxBytes;
    return decoder.decode(this.#ring.subarray(at), { stream: true }) + decoder.decode(this.#ring.subarray(0, at));
  }
}
