/**
 * Suite H: the latency of a well-behaved client while others attack. One server process with 512 MB of heap; a victim with an
 * address of its own calls a tool on one persistent connection, alone and beside each attack in turns, and finally beside all
 * attacks at once.
 *
 * Attackers run on the machine of the server and the victim, which over a network they would not. So the server has a core of its
 * own and, where the system allows it (root on Linux), server and victim have real-time priority: a latency then is time that the
 * server took, not time that the scheduler gave to an attacker.
 */

import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { attacks, post } from "./hostile/attacks.js";
import { stateless } from "./mcp.js";
import { median, quantile } from "./statistics.js";

const serverFile = fileURLToPath(new URL("hostile/server.js", import.meta.url));
const attackerFile = fileURLToPath(new URL("hostile/attacker.js", import.meta.url));
const heapMegabytes = 512;

/** The victim's p95 beside an attack, as a ratio to its p95 alone. */
const bar = 2;

/** Milliseconds. */
const times = { measured: 4_000, between: 5, settle: 2_000, patience: 20_000 };

/** A client that calls `add` again and again, on one connection of HTTP. */
class Victim {
  #port;
  #id = 0;

  /** @param {number} port */
  constructor(port) {
    this.#port = port;
  }

  /** The latencies of the calls of one measurement, in milliseconds; a call that is not answered counts as the patience. */
  async measure() {
    const latencies = [];
    const end = performance.now() + times.measured;
    let socket = await this.#connect();
    while (performance.now() < end) {
      const latency = await this.#call(socket);
      latencies.push(latency ?? times.patience);
      if (latency === undefined) socket = await this.#connect();
      await new Promise((resolve) => setTimeout(resolve, times.between));
    }
    socket.destroy();
    return latencies;
  }

  async #connect() {
    const socket = connect({ port: this.#port, host: "127.0.0.1", localAddress: "127.0.0.2" }).setNoDelay(true);
    socket.on("error", () => undefined);
    await Promise.race([once(socket, "connect"), once(socket, "close")]);
    return socket;
  }

  /** @param {import("node:net").Socket} socket */
  #call(socket) {
    this.#id += 1;
    const params = { name: "add", arguments: { a: this.#id, b: 1 }, _meta: stateless.requestMeta };
    const text = post(JSON.stringify({ jsonrpc: "2.0", id: this.#id, method: "tools/call", params }));
    const begun = performance.now();
    return new Promise((/** @type {(latency: number | undefined) => void} */ resolve) => {
      let answer = "";
      const finish = (/** @type {number | undefined} */ latency) => {
        clearTimeout(timer);
        socket.off("data", read).off("close", gone);
        resolve(latency);
      };
      const read = (/** @type {Buffer} */ chunk) => {
        answer += chunk.toString("latin1");
        if (answer.includes(`"text":"${this.#id + 1}"`)) finish(performance.now() - begun);
      };
      const gone = () => finish(undefined);
      const timer = setTimeout(() => socket.destroy(), times.patience);
      socket.on("data", read).on("close", gone);
      if (socket.destroyed) gone();
      else socket.write(text);
    });
  }
}

/** @param {string} message */
const progress = (message) => console.error(message);

/** Read before this process gives up a core, which changes the answer. */
const cores = availableParallelism();

/**
 * Gives the main thread of a process a core and real-time priority. Only the main thread: it may spin until a thread of the
 * garbage collector is done, for ever if that one is kept from the same core.
 * @param {number} pid
 * @param {number} core
 */
function reserve(pid, core) {
  if (cores > 1) spawnSync("taskset", ["-pc", String(core), String(pid)], { stdio: "ignore" });
  return spawnSync("chrt", ["--fifo", "--pid", "10", String(pid)], { stdio: "ignore" }).status === 0;
}

/**
 * Takes back what a child inherited of this process. It is started at the lowest priority.
 * @param {number} pid
 */
function release(pid) {
  spawnSync("chrt", ["--all-tasks", "--other", "--pid", "0", String(pid)], { stdio: "ignore" });
}

async function startServer() {
  const child = fork(serverFile, { execArgv: [`--max-old-space-size=${heapMegabytes}`] });
  release(child.pid ?? 0);
  const reserved = reserve(child.pid ?? 0, cores - 1) && reserve(process.pid, 0);
  if (!reserved) progress("no real-time priority (chrt, as root): latencies include waiting for the scheduler");
  const [ports] = await once(child, "message");
  return { child, ports: /** @type {{ http: number, tcp: number }} */ (ports) };
}

/** @param {import("node:child_process").ChildProcess} child */
async function residentOf(child) {
  if (child.exitCode !== null || child.signalCode !== null) return undefined;
  child.send("resident");
  const [{ resident }] = await once(child, "message");
  return /** @type {number} */ (resident);
}

/**
 * The victim alone and beside attacks, in turns on one server.
 * @param {readonly string[]} names
 * @param {number} rounds
 */
async function measureBeside(names, rounds) {
  const { child, ports } = await startServer();
  const victim = new Victim(ports.http);
  await victim.measure(); // Warms up.
  /** @type {number[]} */
  const alone = [];
  /** @type {number[]} */
  const beside = [];
  for (let round = 0; round < rounds && child.exitCode === null; round += 1) {
    alone.push(quantile(await victim.measure(), 0.95));
    const attacker = spawn(process.execPath, [attackerFile, String(ports.http), String(ports.tcp), ...names]);
    release(attacker.pid ?? 0);
    await new Promise((resolve) => setTimeout(resolve, times.settle));
    beside.push(quantile(await victim.measure(), 0.95));
    attacker.kill("SIGKILL");
    await once(attacker, "exit");
    await new Promise((resolve) => setTimeout(resolve, times.settle));
  }
  const resident = await residentOf(child);
  child.kill("SIGKILL");
  return {
    alone: median(alone),
    beside: median(beside),
    ratio: median(beside.map((each, at) => each / (alone[at] ?? 1))),
    resident,
  };
}

/**
 * @param {number} rounds
 * @param {readonly string[] | undefined} only
 */
export async function measureHostile(rounds, only) {
  const single = Object.entries(attacks).map(([name, { says }]) => ({ name, says, names: [name] }));
  const together = { name: "all at once", says: "every attack above", names: Object.keys(attacks) };
  const rows = [];
  for (const { name, says, names } of [...single, together]) {
    if (only !== undefined && !only.some((each) => name.startsWith(each))) continue;
    progress(`measuring ${name}`);
    rows.push({ name, says, ...(await measureBeside(names, rounds)) });
  }
  return rows;
}

/** @param {Awaited<ReturnType<typeof measureHostile>>} rows */
export function printHostile(rows) {
  const cells = rows.map(({ name, alone, beside, ratio, resident }) => [
    name,
    `${alone.toFixed(2)} ms`,
    `${beside.toFixed(2)} ms`,
    `${ratio.toFixed(2)}${ratio <= bar ? "" : " !"}`,
    resident === undefined ? "the server died" : `${Math.round(resident / 1024 / 1024)} MB`,
  ]);
  const head = ["attack", "p95 alone", "p95 beside it", `ratio (bar ${bar})`, "resident"];
  const widths = head.map((title, at) => Math.max(title.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (/** @type {readonly string[]} */ row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  return [line(head), ...cells.map(line)].join("\n");
}
