import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { idsOfAnswer } from "./expected-answers.js";

const script = fileURLToPath(new URL("answering-server.mjs", import.meta.url));

/** How a process ended, and what it had to say. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
}

/** The answering server as a child process, and a peer that sends it bytes and counts its answers. */
export class PipedServer implements AsyncDisposable {
  /** How often each id was answered, as it stands on the wire; `null` for answers without one. */
  readonly answers: Map<string, number> = new Map();
  /** Lines that were no answers. */
  readonly faults: string[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #closed: Promise<unknown>;
  readonly #awaited = new Map<string, (answer: string) => void>();
  #unread = "";
  #stderr = "";

  constructor(frameBytes: number) {
    const options = ["--expose-gc", "--max-old-space-size=64"];
    this.#child = spawn(process.execPath, [...options, script, String(frameBytes)], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#closed = once(this.#child, "close");
    this.#child.stdin.on("error", (error) => this.faults.push(String(error)));
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => this.#read(text));
  }

  /** Writes bytes and waits until there is room for more. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#child.stdin.write(bytes)) await Promise.race([once(this.#child.stdin, "drain"), this.#closed]);
  }

  /** Calls a method without params; the whole answer as it came. `id` is quoted as on the wire. */
  async ask(id: string, method: string): Promise<string> {
    const answer = new Promise<string>((resolve) => this.#awaited.set(id, resolve));
    await this.write(new TextEncoder().encode(`{"jsonrpc":"2.0","id":${id},"method":"${method}"}\n`));
    const gone = this.#closed.then(() => Promise.reject(new Error(`the server has ended: ${this.#stderr}`)));
    return Promise.race([answer, gone]);
  }

  /** Ends the input and waits for the process to do the same. */
  async end(): Promise<Ended> {
    this.#child.stdin.end();
    await this.#closed;
    return { code: this.#child.exitCode, signal: this.#child.signalCode, stderr: this.#stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  #read(text: string): void {
    const lines = (this.#unread + text).split("\n");
    this.#unread = lines.pop() ?? "";
    for (const line of lines) this.#answered(line);
  }

  #answered(line: string): void {
    try {
      for (const id of idsOfAnswer(line)) {
        this.answers.set(id, (this.answers.get(id) ?? 0) + 1);
        this.#awaited.get(id)?.(line);
      }
    } catch (error) {
      this.faults.push(`${String(error)}: ${line}`);
    }
  }
}
