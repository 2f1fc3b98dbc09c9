import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type MessagePort, Worker } from "node:worker_threads";
import { expect } from "vitest";
import type { SocketAddress } from "../../packages/mcp/src/node/listen.js";

const program = new URL("far-end.js", import.meta.url);

/** Where a remote end listens. */
interface Listening {
  readonly tcp: SocketAddress;
  readonly unix: SocketAddress;
  readonly webStreams: { readonly port: number };
}

interface Told {
  readonly listening?: Listening;
  readonly ended?: unknown;
}

const atRest = {
  reason: "ended",
  inFlight: { outgoing: 0, incoming: 0, waiting: 0, running: 0 },
  listeners: 0,
  reports: [],
};

/** The reports of remote ends on closed conversations, in the order of their ends. */
class Endings {
  readonly #told: unknown[] = [];
  readonly #waiting: ((ended: unknown) => void)[] = [];

  tell({ ended }: Told): void {
    if (ended === undefined) return;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#told.push(ended);
    else waiting(ended);
  }

  /** @throws Error where the conversation that has ended next, or does so now, has left something behind */
  async assertGone(): Promise<void> {
    const ended = this.#told.shift() ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
    expect(ended, "what the server tells of the end").toEqual(atRest);
  }
}

/** A process that serves on sockets. */
export class FarProcess extends Endings {
  readonly listening: Promise<Listening>;
  readonly #child: ChildProcess;
  #said = "";

  constructor() {
    super();
    this.#child = fork(fileURLToPath(program), { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#child.on("message", (told: Told) => this.tell(told));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#said += text;
    });
    this.listening = once(this.#child, "message").then(([told]) => (told as Required<Told>).listening);
  }

  /** @throws Error for a process that does not end by itself, or has something to say */
  async end(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.disconnect();
    expect(await exited, "how the process has ended").toEqual([0, null]);
    expect(this.#said, "what the process has said").toBe("");
  }
}

/** A thread that serves on the ports that it is given. */
export class FarWorker extends Endings {
  readonly #worker = new Worker(program);

  constructor() {
    super();
    this.#worker.on("message", (told: Told) => this.tell(told));
  }

  serve(port: MessagePort): void {
    this.#worker.postMessage(port, [port]);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
