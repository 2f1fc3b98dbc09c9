import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Entry, encodeEntry } from "@parlance/wire";
import { header } from "../wire/recording/recorded.js";

/** A folder that is gone when the test is over. */
export class Scratch implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "parlance-"));

  /** Where a file of this folder is. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Writes a recording, and gives its path. */
  write(name: string, entries: readonly Entry[]): string {
    const path = this.at(name);
    writeFileSync(path, [header, ...entries].map(encodeEntry).join(""));
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
