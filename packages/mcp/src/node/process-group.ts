import type { ChildProcess } from "node:child_process";
import type { Clock } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import { settlesWithin } from "../base/settles-within.js";
import { ProcessGuardian } from "./process-guardian.js";

const windows = process.platform === "win32";

/** Milliseconds between two looks at a group without its leader: nobody is told when the others go. */
const pollInterval = 20;

/** Milliseconds from SIGKILL until a process counts as gone, whatever the system says. */
const reapGrace = 1_000;

/**
 * A process and what it starts in its group; on Windows, which has no such groups, the process alone.
 *
 * The group's number is its own only while somebody is in it; after that the system may give it to a stranger. So what
 * a leader leaves behind is ended without waiting to be asked, and a group found empty is never signalled again.
 */
export class ProcessGroup {
  readonly id: number;
  readonly #leader: ChildProcess;
  readonly #grace: number;
  readonly #clock: Clock;
  readonly #leaderGone = deferred<void>();
  #phase: "led" | "leaderless" | "empty" = "led";
  #stopping: Promise<void> | undefined;

  /** `grace`: the milliseconds that `stop` waits before each signal. */
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

  /** Waits until everybody is gone: for a time of their own accord, for a time after SIGTERM, then it sends SIGKILL. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Signals everybody in the group. */
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
    this.#leader.unref(); // Who hangs in the kernel and does not even heed SIGKILL keeps nobody here.
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

/** False when there is nobody in the group who could be signalled. */
function send(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    // ESRCH: everybody is gone. EPERM: who is left runs as another user, out of reach.
    return false;
  }
}

const started = new Set<ProcessGroup>();
const guardian = new ProcessGuardian();

/**
 * `process.exit` and an uncaught exception leave no time to wait for anybody. SIGTERM lets a process clean up, and ends one that
 * does not heed the end of its input; the guardian ends one that heeds neither.
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
