import { resolve } from "node:path";
import type { Interrupt } from "../../shared/interrupt.js";
import { FileWatch } from "./file-watch.js";
import type { Relay } from "./relay.js";
import type { Transport } from "./serving.js";
import { WorkerProcess } from "./worker-process.js";
import type { WorkerReport } from "./worker-report.js";

/** What becomes of a module that is watched. */
export type ServeEvent =
  | WorkerReport
  | { readonly kind: "changed"; readonly file: string }
  | { readonly kind: "exited"; readonly how: string };

/** How to serve a module until a person ends it. */
export interface SupervisorOptions {
  readonly path: string;
  readonly transport: Transport;
  readonly interrupt: Interrupt;
  /** The conversation of the host, on stdio. */
  readonly relay: Relay | undefined;
  readonly onEvent: (event: ServeEvent) => void;
}

/** Serves a module in a process of its own, and in a new one whenever a file of it changes. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #watch: FileWatch;
  /** Resolves with the file that has changed; made anew for each worker. */
  #changed: Promise<string>;
  #tellChange: (file: string) => void;
  /** The first worker may take a port that is free; those after it keep it. */
  #transport: Transport;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#transport = options.transport;
    this.#watch = new FileWatch((file) => this.#tellChange(file));
    [this.#changed, this.#tellChange] = promiseOf<string>();
  }

  /** Resolves when a person, or the host, has ended it. */
  async run(): Promise<void> {
    const { interrupt, relay } = this.#options;
    const over = Promise.race([aborted(interrupt.stop), ...(relay === undefined ? [] : [relay.over])]);
    while (await this.#serve(over));
    this.#watch.close();
  }

  /** Serves until the module changes, then true, or until all is over. */
  async #serve(over: Promise<undefined>): Promise<boolean> {
    const { path, interrupt, relay, onEvent } = this.#options;
    [this.#changed, this.#tellChange] = promiseOf<string>();
    const since = Date.now();
    const worker = new WorkerProcess(path, this.#transport);
    interrupt.force.addEventListener("abort", worker.kill);
    const report = await Promise.race([worker.report, over]);
    if (report !== undefined) {
      this.#watch.follow([resolve(path), ...report.files], { since, all: report.kind === "failed" });
      this.#tell(report, worker);
    }
    const file = report === undefined ? undefined : await Promise.race([this.#changed, over]);
    if (file !== undefined) onEvent({ kind: "changed", file });
    relay?.hold();
    await worker.end();
    interrupt.force.removeEventListener("abort", worker.kill);
    relay?.detach(`${path} has changed, and is served anew: this call was lost`);
    return file !== undefined;
  }

  #tell(report: WorkerReport, worker: WorkerProcess): void {
    const { relay, onEvent } = this.#options;
    onEvent(report);
    if (report.kind === "failed") {
      relay?.detach(report.message, true);
      return;
    }
    if (report.http !== undefined) this.#transport = { kind: "http", port: report.http.port };
    if (worker.channel !== undefined) relay?.attach(worker.channel);
    void worker.exited.then((how) => {
      if (worker.isEnding) return;
      onEvent({ kind: "exited", how });
      relay?.detach(`the server ${how}`, true);
    });
  }
}

function promiseOf<Value>(): [Promise<Value>, (value: Value) => void] {
  let settle: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((resolve) => {
    settle = resolve;
  });
  return [promise, settle];
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
