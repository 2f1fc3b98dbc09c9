import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** The file of the built command. */
export const main: string = fileURLToPath(new URL("../../packages/cli/dist/parlance.js", import.meta.url));
const fixtures = new URL("../fixtures/", import.meta.url);

/** The path of a server among the fixtures. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(name, fixtures));
}

/** The words behind a command line that start the well-behaved server. */
export const toolsServer: readonly string[] = ["--", process.execPath, fixture("tools-server.js")];

/** The words behind a command line that start a server which does what it must not. */
export function misbehaving(name: string): readonly string[] {
  return ["--", process.execPath, fixture("misbehaving-server.js"), name];
}

/** What a run of the command has left behind. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command to its end. It has no terminal, and no variable that would change how it prints. */
export function parlance(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input?: Uint8Array,
): Promise<Ran> {
  return start(args, env, input).ended;
}

/** A run of the command that can be watched and interrupted. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  /** Resolves as soon as the output holds the text. */
  until(text: string): Promise<void>;
  /** Resolves as soon as stderr holds the text. */
  untilError(text: string): Promise<void>;
  /** The first line of the output. Rejects for a run that ends without one. */
  readonly firstLine: Promise<string>;
}

/** Starts the built command. What is given as `input` is its stdin; without it, it has none. */
export function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input?: Uint8Array | string,
): Running {
  const { FORCE_COLOR: forced, NO_COLOR: none, COLUMNS: columns, ...inherited } = process.env;
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...inherited, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ran>((resolve) => {
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", () => {
      if (stdout.includes("\n")) resolve(stdout.slice(0, stdout.indexOf("\n")));
    });
    child.on("close", () => reject(new Error(`it ended without a line: ${stderr}`)));
  });
  firstLine.catch(() => undefined); // Not everybody waits for it.
  return {
    child,
    ended,
    firstLine,
    until: (text) => seen(child.stdout, () => stdout.includes(text)),
    untilError: (text) => seen(child.stderr, () => stderr.includes(text)),
  };
}

/** Resolves when something holds of what a stream has brought. */
function seen(stream: Readable | null, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!holds()) return;
      stream?.off("data", look);
      resolve();
    };
    stream?.on("data", look);
    look();
  });
}

/** The objects of an output of one JSON object per line. */
export function jsonLines(stdout: string): readonly Readonly<Record<string, unknown>>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

/** Fails if one of the processes that told their `pid` in a text is still there. */
export function expectGone(text: string): void {
  const pids = [...text.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));
  expect(pids).not.toEqual([]);
  for (const pid of pids) expect(() => process.kill(pid, 0), `process ${pid}`).toThrow("ESRCH");
}
