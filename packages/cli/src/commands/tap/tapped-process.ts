import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { constants } from "node:os";

const windows = process.platform === "win32";

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server and its exit; an error if it could not be started. */
export interface StartedServer {
  readonly server: ChildProcess;
  readonly exited: Promise<Ended | Error>;
  /** Lets its output flow, once it is listened to. */
  readonly release: () => void;
}

/**
 * Starts the server of a tap as its host would: with all variables, in this folder, without a shell. It leads a group
 * of its own, so that whatever it starts can be ended with it, and a Ctrl-C arrives once.
 */
export async function startServer(command: string, args: readonly string[]): Promise<StartedServer> {
  const options: SpawnOptions = { stdio: "pipe", windowsHide: true, detached: !windows };
  // Only there does a command need to be looked for by other rules than those of the system: npx is npx.cmd.
  const start = windows ? (await import("cross-spawn")).default : spawn;
  const server = start(command, [...args], options);
  return { server, exited: exitOf(server), release: holdOutput(server) };
}

/** When a child exits, Node discards output that nothing has listened to. A listener keeps it; returns a function that removes it. */
function holdOutput({ stdout, stderr }: ChildProcess): () => void {
  const hold = (): void => undefined;
  for (const output of [stdout, stderr]) output?.on("readable", hold);
  return () => {
    for (const output of [stdout, stderr]) output?.off("readable", hold);
  };
}

function exitOf(server: ChildProcess): Promise<Ended | Error> {
  return new Promise((resolve) => {
    server.on("exit", (code, signal) => resolve({ code, signal }));
    server.on("error", (error) => {
      if (server.pid === undefined) resolve(error); // With a number, it is a signal that could not be sent.
    });
  });
}

/** Signals of a host that would end the tap instead of the server. */
const passedOn: readonly NodeJS.Signals[] = windows
  ? ["SIGINT", "SIGTERM", "SIGHUP"]
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

/** Forwards signals to the server; returns a function that stops it. */
export function passSignals(server: ChildProcess, passed: (signal: NodeJS.Signals) => void): () => void {
  const pass = (signal: NodeJS.Signals): void => {
    server.kill(signal);
    passed(signal);
  };
  for (const signal of passedOn) process.on(signal, pass);
  return () => {
    for (const signal of passedOn) process.off(signal, pass);
  };
}

/** Signals the remaining processes in the group of the server. */
export function sweep(group: number, signal: NodeJS.Signals): void {
  if (windows) return;
  try {
    process.kill(-group, signal);
  } catch {
    // ESRCH: the process group has no process any more.
  }
}

/** Exits with the code or the signal of the server. */
export async function leaveLike({ code, signal }: Ended): Promise<never> {
  if (signal === null || windows) process.exit(code ?? 1);
  process.kill(process.pid, signal);
  // Some signals do not end this process, for instance those that its parent ignores.
  await new Promise((resolve) => setTimeout(resolve, 100));
  process.exit(128 + constants.signals[signal]);
}

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
