import { createHash, randomUUID } from "node:crypto";
import { appendFileSync, writeFileSync } from "node:fs";
import { open, rm, writeFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { coverCredentials, type Entry, encodeEntry, type HeaderEntry } from "@parlance/wire";
import { usageFailure } from "../failure.js";
import { escapeHidden } from "../output/json-lines.js";
import { packageVersion } from "../package-version.js";
import type { Target } from "../target/target.js";

/** The header of a recording that is made from another one. */
export function childHeader(parent: HeaderEntry, redact: readonly string[]): HeaderEntry {
  const { id, redact: before = [] } = parent;
  return { ...parent, id: randomUUID(), parent: id, redact: [...new Set([...before, ...redact])] };
}

/** The header of a recording in which this program is the client of a target. */
export function newHeader(target: Target, parent?: HeaderEntry): HeaderEntry {
  const server = serverOf(target);
  return {
    k: "hdr",
    fmt: "parlance/1",
    id: randomUUID(),
    t0: new Date().toISOString(),
    clock: "monotonic",
    app: { name: "parlance", ver: packageVersion },
    mode: "launch",
    server,
    os: process.platform,
    ...(parent !== undefined && { parent: parent.id }),
    ...(target.kind === "url" && { redact: ["credentials in HTTP headers and URLs"] }),
  };
}

/** The text of a recording of this program as a client. Credentials in HTTP heads are covered. */
export function recordingText(entries: readonly Entry[]): string {
  const lines = new RecordingLines();
  return entries.map((entry) => lines.line(covered(entry))).join("");
}

function covered(entry: Entry): Entry {
  return entry.k === "h" ? coverCredentials(entry) : entry;
}

/** Encodes the lines of a recording in order. */
class RecordingLines {
  readonly #hash = createHash("sha256");

  /** The next line. */
  line(entry: Entry): string {
    const { k } = entry;
    const line = escapedLine(encodeEntry(k === "end" ? { ...entry, sha256: this.#hash.copy().digest("hex") } : entry));
    this.#hash.update(line);
    return line;
  }
}

/** The text of a recording, one list of lines at a time. */
export async function* recordingTexts(
  lists: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>,
): AsyncGenerator<string> {
  const lines = new RecordingLines();
  for await (const entries of lists) yield entries.map((entry) => lines.line(entry)).join("");
}

/** A line with its hidden characters escaped. Its checksum is that of the escaped line. */
function escapedLine(line: string): string {
  const text = escapeHidden(line.replace(/,"crc":"[0-9a-f]{8}"\}\n$/, ""));
  return `${text},"crc":"${crc32(text).toString(16).padStart(8, "0")}"}\n`;
}

/**
 * A recording of this program as a client, written line by line to a new file that only this user may read, while others follow it.
 * Credentials in HTTP heads are covered.
 */
export class GrowingRecording {
  readonly #path: string;
  readonly #lines = new RecordingLines();

  /** @throws Failure if there is a file already */
  constructor(path: string, header: HeaderEntry) {
    this.#path = path;
    try {
      writeFileSync(path, this.#lines.line(header), { flag: "wx", mode: 0o600 });
    } catch (error) {
      notWritten(path, error as NodeJS.ErrnoException); // Node throws nothing else.
    }
  }

  /** Writes the next line. */
  add(entry: Entry): void {
    appendFileSync(this.#path, this.#lines.line(covered(entry)));
  }
}

/** Writes a new file that only this user may read. @throws Failure if there is one already */
export async function writeNewFile(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) =>
    notWritten(path, error),
  );
}

/** The number of characters that are written together. */
const together = 262_144;

/** Writes a new file piece by piece, and deletes it on an error. @throws Failure, or the error of the pieces */
export async function writeNewFileOf(path: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => notWritten(path, error));
  try {
    let text = "";
    for await (const piece of pieces) {
      text += piece;
      if (text.length < together) continue;
      await file.appendFile(text);
      text = "";
    }
    await file.appendFile(text);
    await file.close();
  } catch (error) {
    await file.close();
    await rm(path);
    throw error;
  }
}

function notWritten(path: string, { code, message }: NodeJS.ErrnoException): never {
  const why = code === "EEXIST" ? "there is a file of that name already" : message;
  throw usageFailure(`${path} cannot be written: ${why}`, "name another file");
}

/** The server of a target, for the header. A module is named by its path, without loading it. */
function serverOf(target: Target): NonNullable<HeaderEntry["server"]> {
  if (target.kind === "command") return { cmd: target.command, args: target.args };
  return target.kind === "url" ? coverCredentials({ url: target.url.href }) : { url: target.title };
}
