/**
 * The second half of suite W: what the commands take that read a long recording, and how soon they end when they are interrupted.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeLongRecording } from "./long-recording.js";

const command = fileURLToPath(new URL("../packages/cli/dist/parlance.js", import.meta.url));

const frames = 200_000;

/** Tells its parent how much memory it has held at most. */
const watch =
  "data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>writeSync(3,String(process.resourceUsage().maxRSS)))";

/**
 * Seconds and megabytes at most; milliseconds after which an interrupt is sent, and in which it must be obeyed.
 * @type {readonly { name: string, words: (path: string, out: string) => string[], seconds?: number, megabytes?: number }[]}
 */
const cases = [
  { name: "show one frame", words: (path) => ["show", path, "150001"], seconds: 0.5 },
  { name: "check", words: (path) => ["check", path] },
  { name: "export html", words: (path, out) => ["export", path, "-T", "html", "-o", out], seconds: 10, megabytes: 300 },
  { name: "diff", words: (path) => ["diff", path, path], seconds: 10 },
  { name: "redact", words: (path, out) => ["redact", path, "-o", out] },
];

const interruptAfter = [300, 1_500, 3_000];
const interruptBar = 500;

/** Measures every command on a recording of its own making. */
export async function measureScale() {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    const path = join(folder, "long.parlance.jsonl");
    const recording = writeLongRecording(path, frames);
    const results = [];
    for (const { name, words, seconds, megabytes } of cases) {
      const whole = await run(words(path, join(folder, "out")));
      rmSync(join(folder, "out"), { force: true });
      const interrupts = [];
      for (const after of interruptAfter) {
        interrupts.push((await run(words(path, join(folder, "out")), after)).ended);
        rmSync(join(folder, "out"), { force: true });
      }
      results.push({
        name,
        ...whole,
        bars: { seconds, megabytes },
        interrupts: interrupts.filter((each) => each !== undefined),
      });
    }
    return { recording, results };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {readonly string[]} words
 * @param {number} [interruptedAfter] milliseconds
 */
async function run(words, interruptedAfter) {
  const begun = performance.now();
  const child = spawn(process.execPath, ["--import", watch, command, ...words], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  let told = "";
  child.stdio[3]?.on("data", (text) => {
    told += text;
  });
  /** @type {number | undefined} */
  let sent;
  const timer =
    interruptedAfter === undefined
      ? undefined
      : setTimeout(() => {
          sent = performance.now();
          child.kill("SIGINT");
        }, interruptedAfter);
  await once(child, "close");
  clearTimeout(timer);
  const ended = sent === undefined ? undefined : performance.now() - sent;
  return { seconds: (performance.now() - begun) / 1_000, megabytes: Number(told) / 1_024, ended };
}

/**
 * The figures as text for people.
 * @param {Awaited<ReturnType<typeof measureScale>>} measured
 */
export function printScale({ recording, results }) {
  const head = `${recording.frames} frames, ${(recording.bytes / 1e6).toFixed(0)} MB`;
  const cells = [[head, "s", "bar", "MB", "bar", "SIGINT ms", "bar"]];
  for (const { name, seconds, megabytes, bars, interrupts } of results) {
    const slowest = Math.max(0, ...interrupts);
    cells.push([
      name,
      seconds.toFixed(2),
      verdict(seconds, bars.seconds),
      megabytes.toFixed(0),
      verdict(megabytes, bars.megabytes),
      slowest.toFixed(0),
      verdict(slowest, interruptBar),
    ]);
  }
  return cells
    .map(([name = "", ...others]) => name.padEnd(24) + others.map((each) => each.padStart(10)).join(""))
    .join("\n");
}

/**
 * @param {number} value
 * @param {number | undefined} bar
 */
function verdict(value, bar) {
  return bar === undefined ? "" : `${value <= bar ? "✓" : "✗"} ${bar}`;
}
