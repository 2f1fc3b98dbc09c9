import type { ChildProcess } from "node:child_process";
import type { Clock } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { settlesWithin } from "../../base/settles-within.js";
import { ProcessGuardian } from "./process-watchdog.js";

const windows = process.platform === "win32";

/** Milliseconds between two checks of a group whose leader has exited; there is no event for the others. */
const pollInterval = 20;

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
    while (!this.#isEmpty() && this.#clock.now() < until) {
      await new Promise<void>((resolve) => this.#clock.setTimer(resolve, pollInterval));
    }
    return this.#isEmpty();
  }

  #isEmpty(): boolean {
    if (this.#phase === "leaderless" && (windows || !send(this.id, 0))) this.#phase = "empty";
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

const started = new Set<ProcessGroup>();
const guardian = new ProcessGuardian();

/**
 * `process.exit` and uncaught exceptions leave no time to wait. SIGTERM lets a child clean up, even if it ignores the
 * end of its input; the guardian ends children that ignore both.
 */
function endWithThisProcess(group: ProcessGroup): void {
  if (started.size === 0) process.on("exit", endAll);
  started.add(group);
  guardian.guard(group.id);
}

function forget(group: ProcessGroup): void {
  started.delete(group);
  guardian.dismiss(group.id);
  if (started.size === 0) process.off("exit", endAll);
}

function endAll(): void {
  for (const group of started) group.signal("SIGTERM");
}
