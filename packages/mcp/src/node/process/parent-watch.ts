import { fstatSync, readlinkSync } from "node:fs";
import { type Clock, setBackgroundTimer, systemClock, type Timer } from "../../base/clock.js";
import { fieldsOf, isRunning } from "./process-table.js";

/** Milliseconds between two checks of the host. Each reads one small file. */
const pollInterval = 2_000;

/** The maximum number of wrapper processes (`npx`, `sh -c`, `env`, …) between the host and this server. */
const maxWrappers = 16;

/**
 * Calls `gone`, once, when the process that started this one has exited. For stdio servers: they get no end of input
 * while another process holds the host's end of the pipe. Returns a function that stops watching.
 *
 * Checks every two seconds, with a timer that does not keep the process alive. On Linux the host is the nearest
 * ancestor with a different stdin: an exiting host is detected through wrappers that remain (`npx`, `sh -c`), and an
 * exiting wrapper is ignored. Other systems watch the parent.
 *
 * `gone` is never called if stdin is neither a pipe nor a socket (a terminal, a file), if the parent is outside of this
 * container, or if the host had exited before the call.
 *
 * @example
 * const stop = watchParent(() => connection.close());
 */
export function watchParent(
  gone: () => void,
  {
    clock = systemClock,
  }: {
    /** The clock of the checks. Default: that of the system. */
    readonly clock?: Clock;
  } = {},
): () => void {
  const isThere = stdinIsPipe() ? hostCheck() : undefined;
  if (isThere === undefined) return () => undefined;
  let timer: Timer;
  const look = (): void => {
    timer = setBackgroundTimer(clock, () => (isThere() ? look() : gone()), pollInterval);
  };
  look();
  return () => clock.clearTimer(timer);
}

function stdinIsPipe(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isSocket();
  } catch {
    return false; // Started with stdin closed, so it is not a stdio server.
  }
}

/** A function that checks whether the host is running; undefined if that cannot be determined. */
function hostCheck(): (() => boolean) | undefined {
  const parent = process.ppid;
  if (process.platform === "win32") return () => isRunning(parent); // `ppid` never changes on Windows.
  const host = hostOf(parent);
  if (host === undefined) {
    const isHidden = stdinOf(parent) === undefined;
    return isHidden && parent > 1 ? () => process.ppid === parent : undefined;
  }
  return host.pid > 1 ? () => processAt(host.pid)?.startedAt === host.startedAt : undefined;
}

/** A process in `/proc`. A pid may be reused, so the start time is compared too. */
interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly startedAt: string;
}

/**
 * The nearest ancestor with a different stdin; undefined without `/proc`, or if the ancestor is outside of this
 * container.
 */
function hostOf(parent: number): Process | undefined {
  const stdin = stdinOf("self");
  let pid = parent;
  for (let wrappers = 0; wrappers < maxWrappers && stdin !== undefined && stdinOf(pid) === stdin; wrappers += 1) {
    pid = processAt(pid)?.parent ?? 0;
  }
  return processAt(pid);
}

/**
 * The identity of a process's stdin; undefined if it cannot be read, because the process runs as another user or has
 * exited.
 */
function stdinOf(pid: number | "self"): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`);
  } catch {
    return undefined;
  }
}

/** Undefined if the process does not exist, or has exited and is a zombie. */
function processAt(pid: number): Process | undefined {
  const [state = "X", parent = "0", ...rest] = fieldsOf(pid);
  return "ZX".includes(state) ? undefined : { pid, parent: Number(parent), startedAt: rest[17] ?? "" };
}
