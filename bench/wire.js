/**
 * Suite W: what a tap costs between a host and its server. The same server twice, directly and behind the tap, in turns:
 * how long a call takes to be answered, and how long from the start of the process to the first answer.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { add } from "./samples.js";
import { median, quantile } from "./statistics.js";

const command = fileURLToPath(new URL("../packages/cli/dist/parlance.js", import.meta.url));
const server = [process.execPath, "-e", "process.stdin.pipe(process.stdout)"];

/** Milliseconds. */
const bars = { p50: 0.2, p99: 3, start: 80 };

const callsPerRound = 1_000;

/** Calls by which a new process comes to rest. */
const warmUp = 500;

/** A server that echoes, as its host sees it. */
class Line {
  #child;
  /** @type {() => void} */
  #answered = () => undefined;

  /**
   * @param {readonly string[]} words
   * @param {NodeJS.ProcessEnv} env
   */
  constructor([file = "", ...args], env) {
    this.#child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"], env });
    this.#child.stdout.on("data", (/** @type {Buffer} */ chunk) => {
      if (chunk.at(-1) === 10) this.#answered();
    });
  }

  /**
   * Sends one frame; resolves when it has come back, with the milliseconds that took.
   * @param {string} frame
   * @returns {Promise<number>}
   */
  call(frame) {
    return new Promise((resolve) => {
      const begun = performance.now();
      this.#answered = () => resolve(performance.now() - begun);
      this.#child.stdin.write(frame);
    });
  }

  async end() {
    this.#child.stdin.end();
    await once(this.#child, "close");
  }
}

/** @param {number} rounds */
export async function measureWire(rounds) {
  const recordings = mkdtempSync(join(tmpdir(), "bench-"));
  const env = { ...process.env, PARLANCE_RECORDINGS: recordings };
  const ways = { direct: server, tap: [process.execPath, command, "tap", "--", ...server] };
  try {
    const starts = await measureStarts(ways, env, rounds);
    const latencies = await measureLatencies(ways, env, rounds);
    return { rounds, starts, latencies };
  } finally {
    rmSync(recordings, { recursive: true });
  }
}

/**
 * @param {Readonly<Record<"direct" | "tap", readonly string[]>>} ways
 * @param {NodeJS.ProcessEnv} env
 * @param {number} rounds
 */
async function measureStarts(ways, env, rounds) {
  /** @type {Record<"direct" | "tap", number[]>} */
  const starts = { direct: [], tap: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const way of /** @type {const} */ (["direct", "tap"])) {
      const begun = performance.now();
      const line = new Line(ways[way], env);
      await line.call(frameOf(0));
      starts[way].push(performance.now() - begun);
      await line.end();
    }
  }
  return starts;
}

/**
 * @param {Readonly<Record<"direct" | "tap", readonly string[]>>} ways
 * @param {NodeJS.ProcessEnv} env
 * @param {number} rounds
 */
async function measureLatencies(ways, env, rounds) {
  const lines = { direct: new Line(ways.direct, env), tap: new Line(ways.tap, env) };
  for (const line of Object.values(lines)) {
    for (let id = 0; id < warmUp; id += 1) await line.call(frameOf(id));
  }
  /** @type {Record<"direct" | "tap", number[]>} */
  const latencies = { direct: [], tap: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const way of /** @type {const} */ (["direct", "tap"])) {
      for (let id = 0; id < callsPerRound; id += 1) latencies[way].push(await lines[way].call(frameOf(id)));
    }
  }
  for (const line of Object.values(lines)) await line.end();
  return latencies;
}

/** @param {number} id */
const frameOf = (id) => `${add(id).text}\n`;

/**
 * The figures as text for people.
 * @param {Awaited<ReturnType<typeof measureWire>>} measured
 */
export function printWire({ starts, latencies }) {
  const rows = [
    row("one call, p50", latencies, (values) => median(values), bars.p50, 3),
    row("one call, p99", latencies, (values) => quantile(values, 0.99), bars.p99, 3),
    row("start to first answer", starts, (values) => median(values), bars.start, 1),
  ];
  const cells = [["ms", "direct", "tap", "added", "bar"], ...rows];
  return cells
    .map(([name = "", ...others]) => name.padEnd(24) + others.map((each) => each.padStart(10)).join(""))
    .join("\n");
}

/**
 * @param {string} name
 * @param {Readonly<Record<"direct" | "tap", number[]>>} values
 * @param {(values: number[]) => number} figure
 * @param {number} bar
 * @param {number} digits
 */
function row(name, { direct, tap }, figure, bar, digits) {
  const [without, behind] = [figure(direct), figure(tap)];
  const added = behind - without;
  const verdict = `${added <= bar ? "✓" : "✗"} ${bar}`;
  return [name, without.toFixed(digits), behind.toFixed(digits), added.toFixed(digits), verdict];
}
