import { type ChildProcess, fork } from "node:child_process";
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Channel } from "@parlance/mcp/jsonrpc";
import { streamChannel } from "@parlance/mcp/node";
import { aborted, type Interrupt } from "../../shared/interrupt.js";
import type { Relay } from "./relay.js";
import type { Transport, WorkerReport } from "./serving.js";

/** An event of a watched module. */
export type ServeEvent =
  | WorkerReport
  | { readonly kind: "changed"; readonly file: string }
  | { readonly kind: "exited"; readonly how: string };

/** Options of serving a module until a person ends it. */
interface SupervisorOptions {
  readonly path: string;
  readonly transport: Transport;
  readonly interrupt: Interrupt;
  /** The conversation of the host, on stdio. */
  readonly relay: Relay | undefined;
  readonly onEvent: (event: ServeEvent) => void;
}

/** Serves a module in a process of its own, and in a new process whenever one of its files changes. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #watch: FileWatch;
  /** Called with a changed file; each worker has its own. */
  #onChange: (file: string) => void = () => undefined;
  /** With port 0 the first worker takes a free port, and the next ones keep it. */
  #transport: Transport;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#transport = options.transport;
    this.#watch = new FileWatch((file) => this.#onChange(file));
  }

  /** Resolves when the user or the host ends it. */
  async run(): Promise<void> {
    const { interrupt, relay } = this.#options;
    const over = Promise.race([aborted(interrupt.stop), ...(relay === undefined ? [] : [relay.over])]);
    while (await this.#serve(over));
    this.#watch.close();
  }

  /** Serves until the module changes (true), or until the user or the host ends it (false). */
  async #serve(over: Promise<undefined>): Promise<boolean> {
    const { path, interrupt, relay, onEvent } = this.#options;
    const changed = new Promise<string>((resolve) => {
      this.#onChange = resolve;
    });
    const since = Date.now();
    const worker = new WorkerProcess(path, this.#transport);
    interrupt.force.addEventListener("abort", worker.kill);
    const report = await Promise.race([worker.report, over]);
    if (report !== undefined) {
      this.#watch.follow([resolve(path), ...report.files], { since, all: report.kind === "failed" });
      this.#tell(report, worker);
    }
    const file = report === undefined ? undefined : await Promise.race([changed, over]);
    if (file !== undefined) onEvent({ kind: "changed", file });
    relay?.hold();
    await worker.end();
    interrupt.force.removeEventListener("abort", worker.kill);
    relay?.detach(`${path} has changed and is reloaded: this call was lost`);
    return file !== undefined;
  }

  #tell(report: WorkerReport, worker: WorkerProcess): void {
    const { relay, onEvent } = this.#options;
    onEvent(report);
    if (report.kind === "failed") {
      relay?.detach(report.message, true);
      return;
    }
    if (report.http !== undefined && this.#transport.kind === "http")
      this.#transport = { ...this.#transport, port: report.http.port };
    if (worker.channel !== undefined) relay?.attach(worker.channel);
    void worker.exited.then((how) => {
      if (worker.isEnding) return;
      onEvent({ kind: "exited", how });
      relay?.detach(`the server ${how}`, true);
    });
  }
}

/** Milliseconds that a worker with running calls gets to exit. */
const endGrace = 2_000;

/** A process that serves a module. */
class WorkerProcess {
  /** The report of the worker; one that exits without a report has failed. */
  readonly report: Promise<WorkerReport>;
  /** How it ended, in words. */
  readonly exited: Promise<string>;
  /** The channel on its stdin and stdout; undefined if it serves HTTP. */
  readonly channel: Channel | undefined;
  /** Whether `end` was called. */
  isEnding = false;
  readonly #child: ChildProcess;

  constructor(path: string, transport: Transport) {
    const isStdio = transport.kind === "stdio";
    // With HTTP, the stdout of the module goes to stderr: stdout is the output of the command.
    const stdio = isStdio ? (["pipe", "pipe", "inherit", "ipc"] as const) : (["ignore", 2, "inherit", "ipc"] as const);
    const args = [path, JSON.stringify(transport)];
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
      child.once("message", (report) => resolve(report as WorkerReport)); // Only our worker sends one.
      void this.exited.then((how) =>
        resolve({ kind: "failed", files: [], message: `${path} ${how} while it was loaded`, seen: [] }),
      );
    });
    process.on("exit", this.kill);
  }

  /** Closes its input, and kills it if it does not exit in time. */
  async end(): Promise<void> {
    this.isEnding = true;
    this.#child.stdin?.end();
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(this.kill, endGrace);
    await this.exited;
    clearTimeout(timer);
    process.off("exit", this.kill);
  }

  /** Kills it. */
  readonly kill = (): void => {
    this.#child.kill("SIGKILL");
  };
}

/** Milliseconds without a further change until a change is reported: editors and compilers write several files, several times. */
const quiet = 100;

/** Watches files by their folders: most editors replace a file instead of writing to it. */
class FileWatch {
  readonly #onChange: (file: string) => void;
  readonly #folders = new Map<string, FSWatcher>();
  #files: ReadonlyMap<string, number> = new Map();
  #all = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  /**
   * Watches exactly these files. A file written after `since`, in milliseconds, counts as changed. With `all`, any module in
   * their folders counts, too, because a missing import may appear.
   */
  follow(files: readonly string[], { since, all }: { readonly since: number; readonly all: boolean }): void {
    this.#files = new Map(files.map((file) => [file, writtenAt(file)]));
    const folders = new Set(files.map((file) => dirname(file)));
    for (const [folder, watcher] of this.#folders) if (!folders.has(folder)) this.#forget(folder, watcher);
    for (const folder of folders) if (!this.#folders.has(folder)) this.#watch(folder);
    this.#all = all;
    const late = files.find((file) => writtenAt(file) > since);
    if (late !== undefined) this.#changed(late);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const [folder, watcher] of this.#folders) this.#forget(folder, watcher);
  }

  #watch(folder: string): void {
    const watcher = watch(folder, (_event, name) => {
      const file = join(folder, name ?? "");
      const known = this.#files.get(file);
      if (known === undefined ? this.#all && isModule(file) : writtenAt(file) !== known) this.#changed(file);
    });
    watcher.on("error", () => this.#forget(folder, watcher)); // The folder was deleted.
    this.#folders.set(folder, watcher);
  }

  #forget(folder: string, watcher: FSWatcher): void {
    watcher.close();
    this.#folders.delete(folder);
  }

  #changed(file: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onChange(file), quiet);
  }
}

function isModule(file: string): boolean {
  return /\.(?:[cm]?[jt]s|json)$/.test(file);
}

function writtenAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
