import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { roundMicroseconds } from "./program.js";

/** @import { Readable, Writable } from "node:stream" */
/** @import { Cost, Round, Served } from "./types.d.ts" */

const program = fileURLToPath(new URL("server-process.js", import.meta.url));

/**
 * A contestant that serves in a process of its own.
 * @typedef {object} ServerHost
 * @property {{ input: Writable, output: Readable }} pipes
 * @property {Served} served
 * @property {(memory?: "process" | "heap") => Promise<Cost>} cost so far, with the memory of the process or what its heap holds
 */

/**
 * @param {string} folder in `servers/`
 * @param {string} contestant
 * @param {string} kind
 * @param {string} core that the server runs on; empty where it may run on any
 * @returns {Promise<ServerHost>}
 */
export async function startServer(folder, contestant, kind, core) {
  const [command = "", ...args] = [...(core === "" ? [] : ["taskset", "-c", core]), process.execPath, "--expose-gc"];
  const child = spawn(command, [...args, program, folder, contestant, kind], {
    stdio: ["pipe", "pipe", "inherit", "ipc"],
  });
  // A pipe that was asked for is there.
  const pipes = { input: /** @type {Writable} */ (child.stdin), output: /** @type {Readable} */ (child.stdout) };
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`its process ended with code ${code}`);
  });
  ended.catch(() => undefined); // It also ends when nobody listens any more.
  const hear = async () => (await Promise.race([once(child, "message"), ended]))[0];
  const served = await hear();
  return {
    pipes,
    served,
    cost(memory = "process") {
      child.send(memory);
      return hear();
    },
  };
}

/**
 * Rounds of messages that are long enough to be measured: the first ones find out how many messages that takes.
 * @param {ServerHost} host
 * @param {object} load
 * @param {() => Promise<void>} [load.ready] what is not measured
 * @param {(count: number) => Promise<void>} load.run resolves when so many messages are answered
 * @returns {() => Promise<Round>}
 */
export function roundsOf(host, { ready, run }) {
  let count = 1024;
  return async () => {
    await ready?.();
    for (; ; count *= 2) {
      const before = await host.cost();
      await awake(run(count));
      const { microseconds, bytes } = await host.cost();
      const spent = microseconds - before.microseconds;
      if (spent >= roundMicroseconds) return { microseconds: spent / count, bytes };
    }
  };
}

/**
 * Keeps this process from sleeping until the work is done. A kernel charges the waking of a process to the one that writes to it, here the server:
 * a server that is slower than its client would pay for nearly every response, and a faster one for few.
 * @param {Promise<void>} work
 */
async function awake(work) {
  let isDone = cpus().length === 1; // There it would take the time of the server.
  const turn = () => {
    if (!isDone) setImmediate(turn);
  };
  turn();
  await work.finally(() => {
    isDone = true;
  });
}
