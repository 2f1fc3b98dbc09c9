import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A program that runs until the test is over. */
export class Program implements AsyncDisposable {
  /** The first line that it has printed. */
  line = "";
  readonly #child: ChildProcess;
  /** Its output on stderr, with its exit code or signal if it failed. */
  readonly #ended: Promise<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    this.#ended = once(child, "close").then(([code, signal]) =>
      code === 0 ? stderr : `${stderr}exit ${code ?? signal}`,
    );
  }

  /** Starts a program, which gets a port of its own, and waits until it says something. */
  static async start(
    command: string,
    args: readonly string[],
    { cwd, env }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
  ): Promise<Program> {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, PORT: "0", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const program = new Program(child);
    for await (const line of createInterface({ input: child.stdout })) {
      // Its end is only seen behind everything that it prints.
      child.stdout.resume();
      return Object.assign(program, { line });
    }
    throw new Error(`${args.join(" ")} has ended: ${await program.end()}`);
  }

  /** Asks it to end; what it has written to stderr, and how it has ended if that was no success. */
  end(): Promise<string> {
    return this.#kill("SIGTERM");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kill("SIGKILL");
  }

  #kill(by: "SIGTERM" | "SIGKILL"): Promise<string> {
    this.#child.kill(by);
    return this.#ended;
  }
}
