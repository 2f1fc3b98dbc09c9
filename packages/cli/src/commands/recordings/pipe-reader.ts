import { constants, fstatSync, lstatSync, readdirSync, readlinkSync } from "node:fs";

/**
 * The process that reads what this one prints. A pipe tells its writer of a lost reader only at the next write, which may be
 * long in coming, so on Linux the reader is looked up in /proc. Where it cannot be seen (another system, another user's
 * process, the host of a container) it is never taken for gone.
 */
export class PipeReader {
  /** The name of the pipe in /proc. */
  readonly #pipe: string | undefined;
  #pid: string | undefined;

  /** @param fd the descriptor that this process writes to; call before writing */
  constructor(fd: number) {
    if (process.platform !== "linux") return;
    const stats = fstatSync(fd);
    if (!stats.isFIFO()) return;
    this.#pipe = `pipe:[${stats.ino}]`;
    this.#pid = this.#find();
  }

  get isGone(): boolean {
    if (this.#pid === undefined || this.#reads(this.#pid)) return false;
    this.#pid = this.#find();
    return this.#pid === undefined;
  }

  #find(): string | undefined {
    return readdirSync("/proc").find((name) => /^\d+$/.test(name) && this.#reads(name));
  }

  #reads(pid: string): boolean {
    try {
      const directory = `/proc/${pid}/fd`;
      return readdirSync(directory).some((fd) => {
        const path = `${directory}/${fd}`;
        // Both ends have one name; the mode of the link tells them apart.
        return readlinkSync(path) === this.#pipe && (lstatSync(path).mode & constants.S_IRUSR) !== 0;
      });
    } catch {
      return false; // The process has exited, or belongs to another user.
    }
  }
}
