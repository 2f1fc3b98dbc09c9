import type { Writable } from "node:stream";
import type { runProgram } from "../../packages/cli/src/commands/program.js";
import { exitCodes } from "../../packages/cli/src/shared/exit-codes.js";
import { outputOf } from "../../packages/cli/src/shared/output/terminal.js";

/** State that a process has once. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
}

/** The output of a run, and its interrupt. */
export interface Ends {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly stop: AbortSignal;
}

const own: Surroundings = { env: { ...process.env }, folder: process.cwd() };

/** The runs that share the current surroundings. */
const runs = new Set<Promise<unknown>>();
let current = "";
let turn: Promise<unknown> = Promise.resolve();

/**
 * Runs the built command in this process, and returns its exit code. Runs in the same surroundings overlap; a run in others starts when
 * all of them have ended, so none of them may wait for it.
 */
export function runInProcess(args: readonly string[], surroundings: Surroundings, ends: Ends): Promise<number> {
  return new Promise((resolve, reject) => {
    turn = turn.then(async () => {
      const key = JSON.stringify(surroundings);
      if (key !== current) await Promise.allSettled(runs);
      enter(surroundings);
      current = key;
      const run = runHere(args, surroundings.env, ends).finally(() => leave(run));
      runs.add(run);
      run.then(resolve, reject);
    });
  });
}

async function runHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { stdout, stderr, stop }: Ends,
): Promise<number> {
  const { runProgram: run } = await program;
  const interrupt = {
    stop,
    force: new AbortController().signal,
    lostOutput: undefined,
    get exitCode() {
      return stop.aborted ? exitCodes.interrupted : exitCodes.clean;
    },
  };
  const code = await run(args, { out: outputOf(stdout, env), err: outputOf(stderr, env), interrupt });
  stdout.end();
  stderr.end();
  return code;
}

function leave(run: Promise<unknown>): void {
  runs.delete(run);
  if (runs.size > 0) return;
  current = "";
  enter(own);
}

function enter({ env, folder }: Surroundings): void {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (process.env[name] !== value) process.env[name] = value;
  if (process.cwd() !== folder) process.chdir(folder);
}

/** The built command, as Node loads it: a bundle needs no transformation. */
const program: Promise<{ readonly runProgram: typeof runProgram }> = import("../../packages/cli/dist/program.js");
