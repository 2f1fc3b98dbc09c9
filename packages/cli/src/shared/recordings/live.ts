import { type FileHandle, open } from "node:fs/promises";
import { type HeaderEntry, RecordingDecoder, type RecordingItem, readRecording } from "@parlance/wire";

/** Milliseconds without a write after which a recording without an end and with an unknown host counts as abandoned. */
const longestSilence = 3_600_000;

/** Whether a recording without an end may still grow: its host runs, or it was written recently. */
export function isLive(header: HeaderEntry | undefined, changed: number): boolean {
  const pid = header?.host?.pid;
  return pid === undefined ? Date.now() - changed < longestSilence : isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The number of bytes that are read for the header and for the last line. */
const edge = 65_536;

/** Whether a file may still grow; only its beginning and end are read. @param writers the processes that may write it */
export async function mayGrow(path: string, changed: number, writers: readonly number[] = []): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const beginning = await readAt(0);
    const [first] = new RecordingDecoder().push(beginning);
    const header = first?.entry?.k === "hdr" ? first.entry : undefined;
    const ending = await readAt(Math.max(0, size - edge));
    if (readRecording(ending).entries.some(({ k }) => k === "end")) return false;
    return isLive(header, changed) || writers.some(isAlive);
  } finally {
    await file.close();
  }

  async function readAt(position: number): Promise<Uint8Array> {
    const { buffer, bytesRead } = await file.read(new Uint8Array(edge), 0, edge, position);
    return buffer.subarray(0, bytesRead);
  }
}

const chunkSize = 1 << 16;

/** Reads a recording that may still grow. An incomplete last line waits for its end. */
export class FollowedFile {
  readonly #decoder = new RecordingDecoder();
  readonly #file: FileHandle;
  readonly #buffer = new Uint8Array(chunkSize);

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<FollowedFile> {
    return new FollowedFile(await open(path));
  }

  /** The lines written since the last read. */
  async *read(): AsyncGenerator<RecordingItem> {
    for (;;) {
      const { bytesRead } = await this.#file.read(this.#buffer, 0, chunkSize);
      if (bytesRead === 0) return;
      yield* this.#decoder.push(this.#buffer.subarray(0, bytesRead));
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
