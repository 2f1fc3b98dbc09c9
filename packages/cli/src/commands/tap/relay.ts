import type { Readable, Writable } from "node:stream";
import type { Entry } from "@parlance/wire";
import { forward } from "../../shared/forward.js";
import type { Recorder } from "../../shared/recorder/recorder.js";
import type { LineStream } from "../../shared/recorder/recorder-messages.js";
import type { TapInterceptor } from "./tap-interceptor.js";
import { type Ended, passSignals, type StartedServer, sweep, Watchdog } from "./tapped-process.js";

type LifeEntry = Extract<Entry, { k: "l" }>;

/** The two ends of a tap, and its recorder. */
export interface RelayEnds extends StartedServer {
  readonly recorder: Recorder;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Replaces `forward`, and records the frames that it intercepts. */
  readonly interceptor?: TapInterceptor | undefined;
}

/**
 * Milliseconds of silence after which the output of an exited server counts as ended, even if a child of it holds the pipe open.
 */
const silence = 250;

/** Milliseconds after a signal in which the host may still read. */
const signalGrace = 1_000;

/** Milliseconds before the watchdogs start: a starting server needs the CPU first. */
const watchdogDelay = 1_000;

/** A lifecycle event, without its number and time. */
type Life = Omit<LifeEntry, "k" | "n" | "t" | "s">;

/** Forwards bytes, ends of streams and signals between a host and its server. */
export class Relay {
  readonly #ends: RelayEnds;
  #lastOutput = 0;
  #signalled: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  #watchdog: Watchdog | undefined;
  /** Resolves to how the server exited, once all its output is forwarded; to an error if it could not be started. */
  readonly ended: Promise<Ended | Error>;

  constructor(ends: RelayEnds) {
    this.#ends = ends;
    this.ended = this.#run();
  }

  /** Resolves when stderr is flushed or closed. */
  async flushed(): Promise<void> {
    await this.#untilWritten(this.#ends.stderr);
  }

  async #run(): Promise<Ended | Error> {
    const { server, exited } = this.#ends;
    if (server.pid === undefined) {
      const error = await exited;
      if (error instanceof Error) this.#tell({ ev: "exit", code: null, why: error.message });
      return error;
    }
    this.#tell({ ev: "spawn", pid: server.pid });
    this.#connect();
    const passesNoMore = passSignals(server, (signal) => this.#onSignal(signal));
    const parent = process.ppid;
    const delay = setTimeout(() => {
      this.#startWatchdog();
      void watchHost(parent);
    }, watchdogDelay);
    const ended = await exited;
    if (!(ended instanceof Error)) this.#tell({ ev: "exit", code: ended.code, sig: ended.signal });
    clearTimeout(delay);
    await this.#untilSilent();
    if (this.#signalled !== undefined) sweep(server.pid, this.#signalled.signal);
    this.#watchdog?.dismiss();
    await this.#untilWritten(this.#ends.stdout);
    passesNoMore();
    return ended;
  }

  #connect(): void {
    const { server, release, recorder, stdout, stderr } = this.#ends;
    if (server.stdin === null || server.stdout === null || server.stderr === null) return; // All three are pipes.
    this.#forward("stdin", process.stdin, server.stdin, { ev: "stdin-end", d: "c2s" });
    this.#forward("stdout", server.stdout, stdout, { ev: "close", d: "s2c" });
    // Keep our stderr open: the tap prints its own messages there after the server has exited.
    server.stderr.on("data", (bytes: Uint8Array) => {
      stderr.write(bytes);
      this.#lastOutput = performance.now();
      recorder.stderr(bytes, recorder.now());
    });
    stderr.on("error", () => server.stderr?.destroy());
    release();
  }

  #forward(stream: LineStream, from: Readable, to: Writable, end: Life): void {
    const { recorder } = this.#ends;
    let over = false;
    const ended = (by: "from" | "to" = "from"): void => {
      if (over) return;
      over = true;
      recorder.add({ kind: "ended", stream });
      // A server that exits closes its stdin, too; then the host has not ended the input.
      if (by === "from" || stream !== "stdin") this.#tell(end);
    };
    const chunk = (bytes: Uint8Array): void => {
      if (stream === "stdout") this.#lastOutput = performance.now();
      recorder.bytes(stream, bytes, recorder.now());
    };
    const { interceptor } = this.#ends;
    if (interceptor === undefined) forward(from, to, { chunk, ended });
    else interceptor.forward(stream, from, to, { chunk, ended });
    // A broken pipe has ended: close the pipe of the other side, too.
    from.on("error", () => {
      to.end();
      ended();
    });
    to.on("error", () => {
      from.destroy();
      ended("to");
    });
  }

  #tell(life: Life): void {
    const { recorder } = this.#ends;
    recorder.add({ kind: "entry", entry: { k: "l", s: "1", t: recorder.now(), ...life } });
  }

  #onSignal(signal: NodeJS.Signals): void {
    this.#signalled = { signal, at: performance.now() };
    this.#tell({ ev: "signal", sig: signal });
    this.#startWatchdog(); // A host that sends SIGTERM may send SIGKILL next.
  }

  #startWatchdog(): void {
    const { pid } = this.#ends.server;
    if (pid !== undefined) this.#watchdog ??= new Watchdog(pid);
  }

  /**
   * Waits for the last output of an exited server. Its children may hold the pipes open for ever, so silence counts as the end.
   */
  async #untilSilent(): Promise<void> {
    const { server, stdout } = this.#ends;
    const closed = (): boolean => server.stdout?.closed !== false && server.stderr?.closed !== false;
    this.#lastOutput = performance.now();
    await polled(() => closed() || (stdout.writableLength === 0 && this.#silentFor() > silence) || this.#isAbandoned());
  }

  #silentFor(): number {
    return performance.now() - this.#lastOutput;
  }

  async #untilWritten(output: Writable): Promise<void> {
    await polled(() => output.writableLength === 0 || output.destroyed || this.#isAbandoned());
  }

  /** Whether the host has sent a signal and does not read the remaining output. */
  #isAbandoned(): boolean {
    return this.#signalled !== undefined && performance.now() - this.#signalled.at > signalGrace;
  }
}

/** Resolves when the host has exited, also if another process holds its end of the pipe. */
async function watchHost(parent: number): Promise<void> {
  const { watchParent } = await import("@parlance/mcp/node");
  const gone = (): void => void process.stdin.destroy(new Error("the host has exited"));
  if (process.ppid === parent) watchParent(gone);
  else gone();
}

/** Milliseconds between checks of states without events. */
const pollInterval = 5;

async function polled(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, pollInterval));
}
