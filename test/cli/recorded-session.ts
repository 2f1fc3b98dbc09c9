import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Channel } from "@parlance/mcp/jsonrpc";
import { tapChannel } from "@parlance/mcp/jsonrpc";
import { type Command, childChannel } from "@parlance/mcp/node";
import { type Direction, type Entry, encodeEntry, recordedBytes } from "@parlance/mcp/wire";
import { header } from "../wire/recorded.js";

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

/** Starts a command, and keeps what crosses as the entries of a recording. */
export function recordedChild(command: Command, entries: Entry[]): Channel {
  const frame = (d: Direction, text: string): void => {
    const n = entries.length + 1;
    const bytes = new TextEncoder().encode(text);
    const ch = d === "c2s" ? "stdin" : "stdout";
    const place = { k: "f", n, s: "1", t: n, d, ch, len: bytes.length, nl: "\n" } as const;
    entries.push({ ...place, ...recordedBytes(bytes) });
  };
  return tapChannel(childChannel(command), (tapped) => {
    if (tapped.kind === "sent") frame("c2s", tapped.frame);
    if (tapped.kind === "received") frame("s2c", tapped.frame);
  });
}
