import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";

/** Milliseconds without a change until one is told: editors and compilers write more than one file, more than once. */
const quiet = 100;

/** Watches files by their folders: most editors do not write a file but put a new one in its place. */
export class FileWatch {
  readonly #onChange: (file: string) => void;
  readonly #folders = new Map<string, FSWatcher>();
  #files: ReadonlyMap<string, number> = new Map();
  #all = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  /**
   * Watches these files, and no others; what was written after `since`, in milliseconds, has changed already. With `all`, a
   * module beside them counts too: one that is missing may appear.
   */
  follow(files: readonly string[], { since, all }: { readonly since: number; readonly all: boolean }): void {
    this.#files = new Map(files.map((file) => [file, writtenAt(file)]));
    const folders = new Set(files.map((file) => dirname(file)));
    for (const [folder, watcher] of this.#folders) if (!folders.has(folder)) this.#forget(folder, watcher);
    for (const folder of folders) if (!this.#folders.has(folder)) this.#watch(folder);
    this.#all = all;
    const late = files.find((file) => writtenAt(file) > since);
    if (late !== undefined) this.#changed(late);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const [folder, watcher] of this.#folders) this.#forget(folder, watcher);
  }

  #watch(folder: string): void {
    const watcher = watch(folder, (_event, name) => {
      const file = join(folder, name ?? "");
      const known = this.#files.get(file);
      if (known === undefined ? this.#all && isModule(file) : writtenAt(file) !== known) this.#changed(file);
    });
    watcher.on("error", () => this.#forget(folder, watcher)); // The folder is gone, and its files with it.
    this.#folders.set(folder, watcher);
  }

  #forget(folder: string, watcher: FSWatcher): void {
    watcher.close();
    this.#folders.delete(folder);
  }

  #changed(file: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onChange(file), quiet);
  }
}

function isModule(file: string): boolean {
  return /\.(?:[cm]?[jt]s|json)$/.test(file);
}

function writtenAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
