import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { type Clock, settlesWithin } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { fieldsOf } from "./process-table.js";

const windows = process.platform === "win32";

/**
 * Milliseconds between two checks of a group whose leader has exited; there is no event for the others. Each pause is
 * twice the one before.
 */
const firstPause = 20;
const longestPause = 160;

/** Milliseconds after SIGKILL until a process counts as gone, in any case. */
const reapGrace = 1_000;

/**
 * A process and its child processes in one process group; on Windows, which has no groups, the process alone.
 *
 * The group id may be reused as soon as the group is empty. So when the leader exits, the rest is ended at once, and a
 * group that was found empty is never signalled again.
 */
export class ProcessGroup {
  readonly id: number;
  readonly #leader: ChildProcess;
  readonly #grace: number;
  readonly #clock: Clock;
  readonly #leaderGone = deferred<void>();
  #phase: "led" | "leaderless" | "empty" = "led";
  #stopping: Promise<void> | undefined;

  /** @param grace milliseconds that `stop` waits before each signal */
  constructor(leader: ChildProcess, id: number, grace: number, clock: Clock) {
    this.#leader = leader;
    this.id = id;
    this.#grace = grace;
    this.#clock = clock;
    leader.on("exit", () => {
      this.#phase = "leaderless";
      this.#leaderGone.resolve();
      void this.stop(); // Never rejects.
    });
    endWithThisProcess(this);
  }

  /** Waits for all processes to exit, then sends SIGTERM, then SIGKILL, with `grace` milliseconds before each. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Sends a signal to all processes of the group. */
  signal(signal: NodeJS.Signals): void {
    if (this.#isEmpty()) return;
    if (windows) this.#leader.kill(signal);
    else send(this.id, signal);
  }

  async #stop(): Promise<void> {
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (!(await this.#isEmptyWithin(this.#grace))) this.signal(signal);
    }
    await settlesWithin(this.#leaderGone.promise, reapGrace, this.#clock);
    this.#leader.unref(); // A process stuck in the kernel must not keep this one alive.
    forget(this);
  }

  async #isEmptyWithin(milliseconds: number): Promise<boolean> {
    const until = this.#clock.now() + milliseconds;
    await settlesWithin(this.#leaderGone.promise, milliseconds, this.#clock);
    for (let pause = firstPause; !this.#isEmpty() && this.#clock.now() < until; ) {
      await new Promise<void>((resolve) => this.#clock.setTimer(resolve, pause));
      pause = Math.min(2 * pause, longestPause);
    }
    return this.#isEmpty();
  }

  #isEmpty(): boolean {
    if (this.#phase === "leaderless" && (windows || !isRunning(this.id))) this.#phase = "empty";
    return this.#phase === "empty";
  }
}

/** Returns false if the group has no process that can be signalled. */
function send(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    // ESRCH: the group is empty. EPERM: its processes run as another user.
    return false;
  }
}

/**
 * Whether a group has a process that has not exited. A signal reaches an exited process too, until its parent has read
 * its exit code, and the first process of a container may never do so for those that it inherits.
 */
function isRunning(group: number): boolean {
  if (!send(group, 0)) return false;
  if (process.platform !== "linux") return true;
  const states = statesOf(group);
  return states.length === 0 || states.some((state) => state !== "Z" && state !== "X");
}

/** The states of the processes of a group, as `man 5 proc_pid_stat` lists them; none where /proc does not show them. */
function statesOf(group: number): readonly string[] {
  try {
    return readdirSync("/proc").flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      const [state = "", , id] = fieldsOf(name);
      return Number(id) === group ? [state] : [];
    });
  } catch {
    return [];
  }
}

const started = new Set<ProcessGroup>();
let watchdog: ChildProcess | undefined;

/**
 * `process.exit` and uncaught exceptions leave no time to wait. SIGTERM lets a child clean up, even if it ignores the
 * end of its input; the watchdog ends children that ignore both.
 */
function endWithThisProcess(group: ProcessGroup): void {
  if (started.size === 0) {
    process.on("exit", endAll);
    watchdog = startWatchdog();
  }
  started.add(group);
  watchdog?.stdin?.write(`+ ${group.id}\n`);
}

/** Removes an empty group: the system may reuse its id. */
function forget(group: ProcessGroup): void {
  started.delete(group);
  watchdog?.stdin?.write(`- ${group.id}\n`);
  if (started.size > 0) return;
  process.off("exit", endAll);
  watchdog?.stdin?.end();
  watchdog = undefined;
}

function endAll(): void {
  for (const group of started) group.signal("SIGTERM");
}

/** Seconds between the exit of this process and SIGTERM, and between SIGTERM and SIGKILL. */
const watchdogGrace = 2;

/** Reads the ids of groups to end from its input. The input closes when this process exits, for whatever reason. */
const script = `left=" "
while read -r sign id; do
  case $sign in
    +) left="$left$id " ;;
    -) left="\${left%% $id *} \${left#* $id }" ;;
  esac
done
[ "$left" = " " ] && exit
for signal in TERM KILL; do
  sleep ${watchdogGrace}
  for id in $left; do kill -s $signal -- "-$id"; done
done`;

/**
 * A shell that outlives this process by a few seconds and ends its remaining process groups. A process that is killed
 * (by SIGKILL or for lack of memory), or ended by a signal without a listener, cannot run any cleanup code. Signal handlers of
 * our own would interfere with those of the program; the closing of a pipe covers every case.
 *
 * One shell serves all groups and exits with the last of them. There is none on Windows, or without `/bin/sh`.
 */
function startWatchdog(): ChildProcess | undefined {
  if (windows) return undefined;
  // A group of its own, so that Ctrl+C in the terminal does not end the shell.
  const shell = spawn("/bin/sh", ["-c", script], { cwd: "/", stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.on("error", () => undefined); // Without a shell, only normal exits end the groups.
  shell.stdin?.on("error", () => undefined);
  shell.unref();
  // A child's pipe is a socket, whose handle must not keep this process alive either.
  (shell.stdin as unknown as { unref?(): void } | null)?.unref?.();
  return shell;
}
