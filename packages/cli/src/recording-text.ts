import { createHash, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { type Entry, encodeEntry, type HeaderEntry } from "@parlance/mcp/wire";
import { escaped } from "./export/exported.js";
import { usageFailure } from "./failure.js";
import { packageVersion } from "./package-version.js";
import type { Target } from "./target.js";

/** The header of a recording that is made of another one. */
export function childHeader(parent: HeaderEntry, redact: readonly string[]): HeaderEntry {
  const { id, redact: before = [] } = parent;
  return { ...parent, id: randomUUID(), parent: id, redact: [...new Set([...before, ...redact])] };
}

/** The header of a recording in which this program is the client of a target. */
export function newHeader(target: Target, parent?: HeaderEntry): HeaderEntry {
  const server = target.kind === "command" ? { cmd: target.command, args: target.args } : { url: target.title };
  return {
    k: "hdr",
    fmt: "parlance/1",
    id: randomUUID(),
    t0: new Date().toISOString(),
    clock: "monotonic",
    app: { name: "parlance", ver: packageVersion() },
    mode: "launch",
    server,
    os: process.platform,
    ...(parent !== undefined && { parent: parent.id }),
  };
}

/** A recording as the text of a file. Its last line, if it has one, tells of the lines as they are here. */
export function recordingText(entries: readonly Entry[]): string {
  const hash = createHash("sha256");
  const lines = entries.map((entry) => {
    const line = escaped(encodeEntry(entry.k === "end" ? { ...entry, sha256: hash.copy().digest("hex") } : entry));
    hash.update(line);
    return line;
  });
  return lines.join("");
}

/** Writes a new file, for nobody else to read. @throws Failure if there is one already */
export async function writeNewFile(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "EEXIST" ? "there is a file of that name already" : error.message;
    throw usageFailure(`${path} cannot be written: ${why}`, "name another file");
  });
}
