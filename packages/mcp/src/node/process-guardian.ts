import { type ChildProcess, spawn } from "node:child_process";

/** Seconds from the end of this process to SIGTERM, and from there to SIGKILL. */
const grace = 2;

/** Keeps the groups that its input names; the end of its input is the end of this process, however it came. */
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
 * A shell that outlives this process by a few seconds, to end the process groups that it leaves behind. A process that is killed
 * (SIGKILL, no memory) or ended by a signal without a listener runs no code of its own at its end. Handlers of signals would
 * change what the program's own do; a pipe that breaks tells of every kind of end.
 *
 * One shell serves all groups, and ends with the last of them. There is none on Windows, and on systems without `/bin/sh`.
 */
export class ProcessGuardian {
  readonly #groups = new Set<number>();
  #shell: ChildProcess | undefined;

  /** Ends the group behind this process. */
  guard(group: number): void {
    if (process.platform === "win32") return;
    this.#shell ??= startShell();
    this.#groups.add(group);
    this.#shell.stdin?.write(`+ ${group}\n`);
  }

  /** The group is empty: its number may belong to a stranger from here on. */
  dismiss(group: number): void {
    if (!this.#groups.delete(group)) return;
    this.#shell?.stdin?.write(`- ${group}\n`);
    if (this.#groups.size > 0) return;
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }
}

function startShell(): ChildProcess {
  // A group of its own: what ends this process from the terminal must not end the shell.
  const shell = spawn("/bin/sh", ["-c", script], { cwd: "/", stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.on("error", () => undefined); // There is no shell: the groups are ended as far as this process can.
  shell.stdin?.on("error", () => undefined);
  shell.unref();
  // A pipe to a child is a socket, whose handle must not keep this process either.
  (shell.stdin as unknown as { unref?(): void } | null)?.unref?.();
  return shell;
}
