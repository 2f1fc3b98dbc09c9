import { randomUUID } from "node:crypto";
import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** A file that was read: its real path and its bytes. */
export interface ReadFile {
  /** The path after all symbolic links. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** Reads a file, following links. */
export async function readWhole(path: string): Promise<ReadFile> {
  const real = await realpath(path);
  return { path: real, bytes: await readFile(real) };
}

/** The file has changed since it was read. */
export class ChangedMeanwhile extends Error {}

/**
 * Puts new bytes in place of a file: at every moment there is the whole old one or the whole new one, with the same mode.
 * What was there stays beside it, or `original`, if a backup of that is there already and the rest can be had from it.
 * Gives back the path of the backup.
 */
export async function replaceFile(file: ReadFile, bytes: Buffer, original: Buffer): Promise<string> {
  const { mode } = await stat(file.path);
  const backup = await backUp(file, mode, original);
  const temporary = join(dirname(file.path), `.${basename(file.path)}.${randomUUID()}`);
  try {
    await writeNew(temporary, bytes, mode);
    // Hosts write these files too.
    if (!(await readFile(file.path)).equals(file.bytes)) throw new ChangedMeanwhile();
    await rename(temporary, file.path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return backup;
}

/** Keeps older backups: takes the next free number, unless a backup has the same bytes. */
async function backUp({ path, bytes }: ReadFile, mode: number, original: Buffer): Promise<string> {
  for (let number = 1; ; number += 1) {
    const backup = `${path}.parlance-backup${number === 1 ? "" : `-${number}`}`;
    try {
      await writeNew(backup, bytes, mode);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const kept = await readFile(backup);
      if (kept.equals(bytes) || kept.equals(original)) return backup;
    }
  }
}

async function writeNew(path: string, bytes: Buffer, mode: number): Promise<void> {
  const handle = await open(path, "wx", 0o600); // Configurations hold keys: no other user may read the temporary file.
  try {
    await handle.writeFile(bytes);
    await handle.chmod(mode & 0o7777);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
