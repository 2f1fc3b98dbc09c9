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
  /** Starts the flow of its output. Call it after adding listeners. */
  readonly release: () => void;
}

/**
 * Starts the server of a tap as its host would: with all variables, in this folder, without a shell. It leads its own process
 * group, so that its children can be ended with it, and Ctrl-C arrives only once.
 */
export async function startServer(command: string, args: readonly string[]): Promise<StartedServer> {
  const options: SpawnOptions = { stdio: "pipe", windowsHide: true, detached: !windows };
  // Only Windows needs our own lookup of commands: npx is npx.cmd.
  const start = windows ? (await import("cross-spawn")).default : spawn;
  const server = start(command, [...args], options);
  return { server, exited: exitOf(server), release: holdOutput(server) };
}

/**
 * Keeps the output of a child that exits before anything reads it, which Node would discard. Returns a function that stops this.
 */
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
      if (server.pid === undefined) resolve(error); // With a pid, the error is about a signal that could not be sent.
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
    // ESRCH: the process group is empty.
  }
}

/** Exits with the code or the signal of the server. */
export async function leaveLike({ code, signal }: Ended): Promise<never> {
  if (signal === null || windows) process.exit(code ?? 1);
  process.kill(process.pid, signal);
  // A signal may not end this process, for instance if its parent ignores it.
  await new Promise((resolve) => setTimeout(resolve, 100));
  process.exit(128 + constants.signals[signal]);
}

/** Seconds from the end of this process to SIGTERM, and from SIGTERM to SIGKILL. */
const grace = 2;

/** The script of the watchdog. It waits for the end of its stdin, which closes whenever this process ends. */
const script = `read -r word; [ "$word" = dismissed ] && exit
sleep ${grace}; kill -s TERM -- "-$1"; sleep ${grace}; kill -s KILL -- "-$1"`;

/**
 * A small process that outlives this one, to end the server's group if this process is killed. A server that exits at the end of
 * its input has exited by then; another one would run for ever.
 */
export class Watchdog {
  readonly #process: ChildProcess | undefined;

  /** Starts it for a process group. Does nothing on Windows. */
  constructor(group: number) {
    if (process.platform === "win32") return;
    const watchdog = spawn("/bin/sh", ["-c", script, "sh", String(group)], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    watchdog.on("error", () => undefined); // A system without a shell: go on without the watchdog.
    watchdog.stdin?.on("error", () => undefined);
    watchdog.unref();
    this.#process = watchdog;
  }

  /** Stops the watchdog, because the group has ended. */
  dismiss(): void {
    this.#process?.stdin?.end("dismissed\n");
  }
}
