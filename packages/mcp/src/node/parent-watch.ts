import { fstatSync, readFileSync, readlinkSync } from "node:fs";
import { type Clock, systemClock, type Timer } from "../base/clock.js";

/** Milliseconds between two looks at the host: one small file is read each time. */
const pollInterval = 2_000;

/** The most wrappers (`npx`, `sh -c`, `env`, …) between a host and its server that are looked through. */
const maxWrappers = 16;

/**
 * Calls `gone`, once, when the process that started this one has ended: for stdio servers, which the end of their input does
 * not reach while another process holds the host's end of the pipe. Returns a function that stops the watch.
 *
 * Looks every two seconds, with a timer that does not keep the process alive. On Linux the host is the nearest ancestor that
 * does not share this process's stdin, so that a host is noticed through wrappers that stay (`npx`, `sh -c`), and a wrapper that
 * exits is no reason to end. On other systems the parent is watched.
 *
 * There is nothing to watch, and `gone` is never called, where stdin is neither a pipe nor a socket (a terminal, a file), where
 * the parent is outside of this container, and where the host had ended before the call.
 *
 * @example
 * const stop = watchParent(() => connection.close());
 */
export function watchParent(gone: () => void, { clock = systemClock }: { readonly clock?: Clock } = {}): () => void {
  const isThere = stdinIsPipe() ? hostCheck() : undefined;
  if (isThere === undefined) return () => undefined;
  let timer: Timer;
  const look = (): void => {
    timer = clock.setTimer(() => (isThere() ? look() : gone()), pollInterval);
    timer.unref?.();
  };
  look();
  return () => clock.clearTimer(timer);
}

function stdinIsPipe(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isSocket();
  } catch {
    return false; // Started with stdin closed: it is no stdio server.
  }
}

/** A function that tells whether the host is still there; undefined where that cannot be found out. */
function hostCheck(): (() => boolean) | undefined {
  const parent = process.ppid;
  if (process.platform === "win32") return () => isRunning(parent); // The number of a parent stays there when it ends.
  const host = hostOf(parent);
  if (host === undefined) {
    const isHidden = stdinOf(parent) === undefined;
    return isHidden && parent > 1 ? () => process.ppid === parent : undefined;
  }
  return host.pid > 1 ? () => processAt(host.pid)?.startedAt === host.startedAt : undefined;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // It runs as another user.
  }
}

/** A process as `/proc` shows it. A number alone may belong to another process later; the time of the start tells. */
interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly startedAt: string;
}

/** The nearest ancestor with another stdin; undefined where there is no `/proc`, or the ancestor is outside of this container. */
function hostOf(parent: number): Process | undefined {
  const stdin = stdinOf("self");
  let pid = parent;
  for (let wrappers = 0; wrappers < maxWrappers && stdin !== undefined && stdinOf(pid) === stdin; wrappers += 1) {
    pid = processAt(pid)?.parent ?? 0;
  }
  return processAt(pid);
}

/** Names the pipe or socket; undefined for a process that cannot be looked into: it runs as another user, or is gone. */
function stdinOf(pid: number | "self"): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`);
  } catch {
    return undefined;
  }
}

/** Undefined for a process that is not there, or has ended and waits to be reaped. */
function processAt(pid: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html; the name, in parentheses, may hold anything.
  const [state = "", parent = "0", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return "ZX".includes(state) ? undefined : { pid, parent: Number(parent), startedAt: rest[17] ?? "" };
}
