import { type ChildProcess, spawn } from "node:child_process";

/** Seconds from the end of this process to SIGTERM, and from there to SIGKILL. */
const grace = 2;

/** Waits for the end of its stdin, which closes with this process however it ends. */
const script = `read -r word; [ "$word" = dismissed ] && exit
sleep ${grace}; kill -s TERM -- "-$1"; sleep ${grace}; kill -s KILL -- "-$1"`;

/**
 * A small process that outlives this one, to end the server's group if this process is killed and cannot. A server that
 * heeds the end of its input is gone by then; one that does not would stay for ever.
 */
export class Watchdog {
  readonly #process: ChildProcess | undefined;

  /** Starts it for a process group. Does nothing on Windows. */
  constructor(group: number) {
    if (process.platform === "win32") return;
    const guardian = spawn("/bin/sh", ["-c", script, "sh", String(group)], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    guardian.on("error", () => undefined); // A system without a shell: go on without the watchdog.
    guardian.stdin?.on("error", () => undefined);
    guardian.unref();
    this.#process = guardian;
  }

  /** Stops it: the group has ended. */
  dismiss(): void {
    this.#process?.stdin?.end("dismissed\n");
  }
}
