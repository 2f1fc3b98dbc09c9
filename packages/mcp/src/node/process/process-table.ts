import { readFileSync } from "node:fs";

/** Whether a process with this id exists. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // EPERM: it runs, as another user.
  }
}

/**
 * The fields of a process in `/proc` from its state on; none if there is no such process, or no `/proc`.
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
export function fieldsOf(pid: number | string): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the command, in parentheses, may contain any character.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return []; // It may have exited since its id was read.
  }
}
