import { type ChildProcess, spawn } from "node:child_process";

/** Seconds after the end of this process until the group is told to end, and from there until it is ended. */
const grace = 2;

/** Waits for the end of its input, which is the end of this process however it came. */
const script = `read -r word; [ "$word" = dismissed ] && exit
sleep ${grace}; kill -s TERM -- "-$1"; sleep ${grace}; kill -s KILL -- "-$1"`;

/**
 * A small process that outlives this one, to end the server's group if this process is killed and cannot. A server that
 * heeds the end of its input is gone by then; one that does not would stay for ever.
 */
export class Guardian {
  readonly #process: ChildProcess | undefined;

  /** Sets it up for the group. There is none on Windows. */
  constructor(group: number) {
    if (process.platform === "win32") return;
    const guardian = spawn("/bin/sh", ["-c", script, "sh", String(group)], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    guardian.on("error", () => undefined); // A system without a shell: a server that stays is no reason to end here.
    guardian.stdin?.on("error", () => undefined);
    guardian.unref();
    this.#process = guardian;
  }

  /** The group has ended: there is nothing to guard. */
  dismiss(): void {
    this.#process?.stdin?.end("dismissed\n");
  }
}
