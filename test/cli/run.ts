import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";
import { isLong } from "../testing/forms.js";
import { runInProcess } from "./in-process.js";

/** The file of the built command. */
export const main: string = fileURLToPath(new URL("../../packages/cli/dist/parlance.js", import.meta.url));

/** The variables of this process, without those that change how the command prints; read before a run in this process changes them. */
const { FORCE_COLOR: _forced, NO_COLOR: _none, COLUMNS: _columns, ...inherited } = process.env;

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

/** The outcome of a run of the command. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run of the command that can be watched and interrupted. */
export interface Running {
  readonly ended: Promise<Ran>;
  /** Resolves as soon as the output holds the text. */
  until(text: string): Promise<void>;
  /** Resolves as soon as stderr holds the text. */
  untilError(text: string): Promise<void>;
  /** The first line of the output. Rejects for a run that ends without one. */
  readonly firstLine: Promise<string>;
  /** As Ctrl-C does. */
  interrupt(): void;
}

/** A run in a process of its own. */
export interface RunningProcess extends Running {
  readonly child: ChildProcess;
}

/** Runs a file of tests with vitest, as somebody else's project would; resolves to its output. */
export async function runTests(text: string): Promise<string> {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), "parlance-"));
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "server.test.ts"), text);
    const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder, "--no-color"];
    const ran = await promisify(execFile)(process.execPath, args, { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    return ran.stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Variables = Readonly<Record<string, string>>;

/** Commands that use the stdin or stdout of their process. */
const onStdio: ReadonlySet<string | undefined> = new Set(["tap", "bridge", "serve"]);

/**
 * Runs the built command to its end. It has no terminal, and no variable that would change how it prints. In the short form it runs in
 * this process, which is several times faster, unless it uses stdin.
 */
export function parlance(args: readonly string[], env: Variables = {}, input?: Uint8Array): Promise<Ran> {
  const usesStdin = input !== undefined || args.includes("-") || onStdio.has(args[0]);
  return (isLong || usesStdin ? start(args, env, input) : startHere(args, { ...inherited, ...env })).ended;
}

/** Starts the built command: a process in the long form, and else in this process, without stdin. */
export function startInForm(args: readonly string[], env: Variables = {}): Running {
  return isLong ? start(args, env) : startHere(args, { ...inherited, ...env });
}

/** Runs the built command in a folder, and with these variables alone. */
export function parlanceIn(folder: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  return (isLong ? startWith({ cwd: folder, env }, args) : startHere(args, env, folder)).ended;
}

/** Starts the built command in a process. What is given as `input` is its stdin; without it, it has none. */
export function start(args: readonly string[], env: Variables = {}, input?: Uint8Array | string): RunningProcess {
  return startWith({ env: { ...inherited, ...env } }, args, input);
}

function startWith(
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string },
  args: readonly string[],
  input?: Uint8Array | string,
): RunningProcess {
  const child = spawn(process.execPath, [main, ...args], {
    ...options,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the process has no pipes");
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  return { ...watch(stdout, stderr, closed), child, interrupt: () => child.kill("SIGINT") };
}

function startHere(args: readonly string[], env: NodeJS.ProcessEnv, folder = process.cwd()): Running {
  const [stdout, stderr, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const ended = runInProcess(args, { env, folder }, { stdout, stderr, stop: stop.signal });
  const read = Promise.all([finished(stdout), finished(stderr)]);
  return {
    ...watch(
      stdout,
      stderr,
      ended.then((code) => read.then(() => code)),
    ),
    interrupt: () => stop.abort(),
  };
}

function watch(out: Readable, err: Readable, code: Promise<number | null>): Omit<Running, "interrupt"> {
  let stdout = "";
  let stderr = "";
  out.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  err.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = code.then((each) => ({ code: each, stdout, stderr }));
  const firstLine = new Promise<string>((resolve, reject) => {
    out.on("data", () => {
      if (stdout.includes("\n")) resolve(stdout.slice(0, stdout.indexOf("\n")));
    });
    ended.then(() => reject(new Error(`it ended without a line: ${stderr}`)), reject);
  });
  firstLine.catch(() => undefined); // Not everybody waits for it.
  return {
    ended,
    firstLine,
    until: (text) => seen(out, () => stdout.includes(text)),
    untilError: (text) => seen(err, () => stderr.includes(text)),
  };
}

/** Resolves when something holds of what a stream has brought. */
function seen(stream: Readable, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!holds()) return;
      stream.off("data", look);
      resolve();
    };
    stream.on("data", look);
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
