import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Entry, readRecording } from "@parlance/wire";
import { expect } from "vitest";
import { main, startInForm } from "../../cli/run.js";
import type { RunningServer } from "../../fixtures/misbehaving/running-server.js";

/** A folder that commands record into, and that is gone when the test is over. */
export class RecordingFolder implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "recordings "));

  /** The environment in which a command records here. */
  get env(): Readonly<Record<string, string>> {
    return { PARLANCE_RECORDINGS: this.path };
  }

  /** The command line of a tap that records here; whoever starts it may hand on no variables. */
  tap(...server: readonly string[]): readonly [string, ...string[]] {
    return ["env", `PARLANCE_RECORDINGS=${this.path}`, process.execPath, main, "tap", "--", ...server];
  }

  /** Starts a proxy that records here. Its recordings are whole when it has ended. */
  async proxy(target: string): Promise<RunningServer> {
    const proxy = startInForm(["proxy", "--json", "--listen", "127.0.0.1:0", "--target", target], this.env);
    const { url } = JSON.parse(await proxy.firstLine) as { readonly url: string };
    return {
      url,
      async [Symbol.asyncDispose]() {
        proxy.interrupt();
        await proxy.ended;
      },
    };
  }

  /** The text of all recordings, as far as they are written. */
  get text(): string {
    return this.#files.map((file) => readFileSync(file, "utf8")).join("");
  }

  /** All recordings, in the order in which they were begun. Fails if there is none, or a damaged one. */
  read(): readonly (readonly Entry[])[] {
    const recordings = this.#files.map((file) => readRecording(readFileSync(file)));
    expect(recordings.length).toBeGreaterThan(0);
    expect(recordings.flatMap(({ damages }) => damages)).toEqual([]);
    return recordings.map(({ entries }) => entries).sort((one, other) => begun(one).localeCompare(begun(other)));
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  get #files(): readonly string[] {
    return readdirSync(this.path, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".parlance.jsonl"))
      .map((name) => join(this.path, name));
  }
}

function begun([first]: readonly Entry[]): string {
  return first?.k === "hdr" ? first.t0 : "";
}
