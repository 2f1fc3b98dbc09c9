import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { constants } from "node:os";

const windows = process.platform === "win32";

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server, and how it ends: an error for one that could not be started. */
export interface StartedServer {
  readonly server: ChildProcess;
  readonly exited: Promise<Ended | Error>;
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
  return { server, exited: exitOf(server) };
}

function exitOf(server: ChildProcess): Promise<Ended | Error> {
  return new Promise((resolve) => {
    server.on("exit", (code, signal) => resolve({ code, signal }));
    server.on("error", (error) => {
      if (server.pid === undefined) resolve(error); // With a number, it is a signal that could not be sent.
    });
  });
}

/** Signals that a host sends to a server, and that would otherwise end the tap and not the server. */
const passedOn: readonly NodeJS.Signals[] = windows
  ? ["SIGINT", "SIGTERM", "SIGHUP"]
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

/** Passes signals on to the server; gives back what ends that. */
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

/** Ends what the server has left in its group. */
export function sweep(group: number, signal: NodeJS.Signals): void {
  if (windows) return;
  try {
    process.kill(-group, signal);
  } catch {
    // ESRCH: nobody is left.
  }
}

/** Ends this process in the way in which the server ended. */
export async function leaveLike({ code, signal }: Ended): Promise<never> {
  if (signal === null || windows) process.exit(code ?? 1);
  process.kill(process.pid, signal);
  // There are signals that this process is not ended by, such as those that its parent has it ignore.
  await new Promise((resolve) => setTimeout(resolve, 100));
  process.exit(128 + constants.signals[signal]);
}
