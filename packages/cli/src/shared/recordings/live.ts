import { open } from "node:fs/promises";
import { type HeaderEntry, RecordingDecoder, readRecording } from "@parlance/wire";

/** Milliseconds after which a recording that has no end, and whose host is not known, counts as left behind. */
const longestSilence = 3_600_000;

/** Whether more may come to a recording that has no end: its host lives, or it was written not long ago. */
export function isLive(header: HeaderEntry | undefined, changed: number): boolean {
  const pid = header?.host?.pid;
  return pid === undefined ? Date.now() - changed < longestSilence : isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process lives all the same.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** More than a header and the last line of a recording take. */
const edge = 65_536;

/** The same of a file, of which only the beginning and the end are read. @param writers processes that may write it */
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
