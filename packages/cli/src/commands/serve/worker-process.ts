import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Channel } from "@parlance/mcp/jsonrpc";
import { streamChannel } from "@parlance/mcp/node";
import type { Transport } from "./serving.js";
import type { WorkerReport } from "./worker-report.js";

/** Milliseconds that a worker has to end, with the calls that run in it. */
const endGrace = 2_000;

/** A process that serves a module. */
export class WorkerProcess {
  /** What it tells of itself; a worker that ends without a word has failed. */
  readonly report: Promise<WorkerReport>;
  /** How it ended, in words. */
  readonly exited: Promise<string>;
  /** What it speaks on, where that is stdin and stdout. */
  readonly channel: Channel | undefined;
  readonly #child: ChildProcess;
  #ending = false;

  constructor(path: string, transport: Transport) {
    const isStdio = transport.kind === "stdio";
    // Of a worker that serves HTTP, whatever its module prints belongs to what a person reads beside the output.
    const stdio = isStdio ? (["pipe", "pipe", "inherit", "ipc"] as const) : (["ignore", 2, "inherit", "ipc"] as const);
    const args = isStdio ? [path] : [path, String(transport.port)];
    const child = fork(fileURLToPath(new URL("./worker.js", import.meta.url)), args, { stdio: [...stdio] });
    this.#child = child;
    const { stdin, stdout } = child;
    this.channel = stdin === null || stdout === null ? undefined : streamChannel(stdout, stdin);
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) =>
        resolve(signal === null ? `exited with code ${code}` : `was ended by ${signal}`),
      );
    });
    this.report = new Promise((resolve) => {
      child.once("message", (told) => resolve(told as WorkerReport)); // Our own worker.
      void this.exited.then((how) =>
        resolve({ kind: "failed", files: [], message: `${path} ${how} while it was loaded`, seen: [] }),
      );
    });
    process.on("exit", this.kill);
  }

  /** Whether it was told to end. */
  get isEnding(): boolean {
    return this.#ending;
  }

  /** Ends it: at first its input, then, when it takes too long, the process. */
  async end(): Promise<void> {
    this.#ending = true;
    this.#child.stdin?.end();
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(this.kill, endGrace);
    await this.exited;
    clearTimeout(timer);
    process.off("exit", this.kill);
  }

  /** Ends it at once. */
  readonly kill = (): void => {
    this.#child.kill("SIGKILL");
  };
}
