import { type RunningProcess, start } from "../cli/run.js";
import type { Scratch } from "../cli/scratch.js";

/** `parlance open`, as long as it runs. */
export class ServedPage implements AsyncDisposable {
  readonly url: string;
  readonly #process: RunningProcess;

  private constructor(url: string, process: RunningProcess) {
    this.url = url;
    this.#process = process;
  }

  /** @param recordings the one to show; of two, the second, which is compared with the first */
  static async open(
    recordings: string | readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<ServedPage> {
    const process = start(["open", "--json", ...[recordings].flat()], env);
    const { url } = JSON.parse(await process.firstLine) as { readonly url: string };
    return new ServedPage(url, process);
  }

  get origin(): string {
    return new URL(this.url).origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.interrupt();
    await this.#process.ended;
  }
}

/** `parlance run --ui`, as long as it runs. */
export class ServedRun implements AsyncDisposable {
  readonly url: string;
  readonly #process: RunningProcess;

  private constructor(url: string, process: RunningProcess) {
    this.url = url;
    this.#process = process;
  }

  static async open(words: readonly string[], folder: Scratch): Promise<ServedRun> {
    const process = start(["run", "--ui", "--json", ...words], { PARLANCE_RECORDINGS: folder.path });
    let errors = "";
    process.child.stderr?.on("data", (text: string) => {
      errors += text;
    });
    await process.untilError("#token=");
    return new ServedRun(/http:\/\/\S+/.exec(errors)?.[0] ?? "", process);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.interrupt();
    await this.#process.ended;
  }
}
