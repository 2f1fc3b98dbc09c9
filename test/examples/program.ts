import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A program that runs until the test is over. */
export class Program implements AsyncDisposable {
  /** The first line that it has printed. */
  line = "";
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown[]>;
  #stderr = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = once(child, "exit");
    child.stderr?.on("data", (chunk) => {
      this.#stderr += chunk;
    });
  }

  /** Starts a program, which gets a port of its own, and waits until it says something. */
  static async start(command: string, args: readonly string[], cwd: string): Promise<Program> {
    const env = { ...process.env, PORT: "0" };
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const program = new Program(child);
    for await (const line of createInterface({ input: child.stdout })) return Object.assign(program, { line });
    throw new Error(`${args.join(" ")} has ended: ${await program.end()}`);
  }

  /** Asks it to end; what it has written to stderr, and how it has ended if that was no success. */
  end(): Promise<string> {
    return this.#kill("SIGTERM");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kill("SIGKILL");
  }

  async #kill(by: "SIGTERM" | "SIGKILL"): Promise<string> {
    this.#child.kill(by);
    const [code, signal] = await this.#exit;
    return code === 0 ? this.#stderr : `${this.#stderr}exit ${code ?? signal}`;
  }
}
