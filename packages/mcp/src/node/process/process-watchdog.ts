import { type ChildProcess, spawn } from "node:child_process";

/** Seconds between the exit of this process and SIGTERM, and between SIGTERM and SIGKILL. */
const grace = 2;

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
  sleep ${grace}
  for id in $left; do kill -s $signal -- "-$id"; done
done`;

/**
 * A shell that outlives this process by a few seconds and ends its remaining process groups. A process that is killed
 * (by SIGKILL or for lack of memory), or ended by a signal without a listener, cannot run any cleanup code. Signal handlers of
 * our own would interfere with those of the program; the closing of a pipe covers every case.
 *
 * One shell serves all groups and exits with the last of them. There is none on Windows, or without `/bin/sh`.
 */
export class ProcessWatchdog {
  readonly #groups = new Set<number>();
  #shell: ChildProcess | undefined;

  /** Ends the group after this process has exited. */
  watch(group: number): void {
    if (process.platform === "win32") return;
    this.#shell ??= startShell();
    this.#groups.add(group);
    this.#shell.stdin?.write(`+ ${group}\n`);
  }

  /** Removes an empty group: the system may reuse its id. */
  dismiss(group: number): void {
    if (!this.#groups.delete(group)) return;
    this.#shell?.stdin?.write(`- ${group}\n`);
    if (this.#groups.size > 0) return;
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }
}

function startShell(): ChildProcess {
  // A group of its own, so that Ctrl+C in the terminal does not end the shell.
  const shell = spawn("/bin/sh", ["-c", script], { cwd: "/", stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.on("error", () => undefined); // Without a shell, only normal exits end the groups.
  shell.stdin?.on("error", () => undefined);
  shell.unref();
  // A child's pipe is a socket, whose handle must not keep this process alive either.
  (shell.stdin as unknown as { unref?(): void } | null)?.unref?.();
  return shell;
}
