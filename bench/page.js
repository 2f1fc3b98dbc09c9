/**
 * Suite P: the page of `parlance run --ui` and `parlance open` in a real browser. How soon the first frame shows; and, for 100,000 frames
 * that arrive while the page is open: the longest task of its main thread, its memory, its elements, and how long a filter and a scroll take.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { median, quantile } from "./statistics.js";

/** @import { Browser, CDPSession, Page } from "playwright-core" */

const command = fileURLToPath(new URL("../packages/cli/dist/parlance.js", import.meta.url));
const writer = fileURLToPath(new URL("live-recording.js", import.meta.url));
const server = fileURLToPath(new URL("../examples/git-server/server.js", import.meta.url));
const assets = new URL("../packages/cli/dist/page/", import.meta.url);

/** writeLongRecording makes whole calls, so one fewer. */
const frames = 99_999;

/** The figures of a page: [name, unit, target]. */
const figures = /** @type {const} */ ([
  ["first", "command to the first frame, ms", 1_000],
  ["arrival", "100,000 frames to arrive, ms", undefined],
  ["task", "longest task while they arrive, ms", 100],
  ["filter", "filter by a method, ms", 100],
  ["search", "search in the text, ms", 100],
  ["filterTask", "longest task of the two, ms", 100],
  ["scroll", "frame while scrolling, p95, ms", 33],
  ["heap", "heap of the page, MB", 60],
  ["elements", "elements", 1_500],
  ["script", "script, KB gzip", 60],
  ["style", "style sheet, KB gzip", 12],
]);

/** @typedef {Record<(typeof figures)[number][0], number>} Round */

/** The browser of the system. */
function browserPath() {
  const path = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
    (each) => each !== undefined && existsSync(each),
  );
  if (path === undefined) throw new Error("Suite P needs Chromium: install it, or name it with CHROMIUM");
  return path;
}

/** @param {number} rounds */
export async function measurePage(rounds) {
  const browser = await chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox"] });
  try {
    /** @type {Round[]} */
    const measured = [];
    for (let round = 0; round < rounds; round += 1) {
      const first = await firstFrame(browser);
      measured.push({
        first,
        ...(await arrivingFrames(browser)),
        // What a page that acts on a server loads before its first frame.
        script: gzipped("page.js") + gzipped("act-panel.js"),
        style: gzipped("page.css"),
      });
    }
    return measured;
  } finally {
    await browser.close();
  }
}

/** @param {string} name */
function gzipped(name) {
  return gzipSync(readFileSync(new URL(name, assets))).length / 1_024;
}

/**
 * A command that serves the page, and its address.
 * @param {readonly string[]} words
 * @param {string} recordings
 */
async function serve(words, recordings) {
  const child = spawn(process.execPath, [command, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PARLANCE_RECORDINGS: recordings },
  });
  const url = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        const found = /http:\/\/[^\s"]+#token=[^\s"]+/.exec(line);
        if (found !== null) resolve(found[0]);
      });
    child.once("close", (code) => reject(new Error(`${words[0]} ended with ${code} before it served a page`)));
  });
  return {
    url: /** @type {string} */ (url),
    async close() {
      child.kill("SIGINT");
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    },
  };
}

/**
 * Milliseconds from the start of the command to the first row on the screen. The browser runs already.
 * @param {Browser} browser
 */
async function firstFrame(browser) {
  const recordings = mkdtempSync(join(tmpdir(), "bench-"));
  const page = await browser.newPage();
  const begun = performance.now();
  const served = await serve(["run", "--ui", "--", process.execPath, server, "."], recordings);
  try {
    await page.goto(served.url);
    await page.locator(".row:not(.head) .what").first().waitFor();
    return performance.now() - begun;
  } finally {
    await page.close();
    await served.close();
    rmSync(recordings, { recursive: true });
  }
}

/**
 * A page that shows a recording while another process writes it.
 * @param {Browser} browser
 */
async function arrivingFrames(browser) {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const path = join(folder, "live.parlance.jsonl");
  // It lives as long as the page: a recording whose process has ended is not live.
  const writing = spawn(process.execPath, [writer, path, String(frames + 1)], { stdio: ["pipe", "pipe", "inherit"] });
  await once(writing.stdout, "data");
  const served = await serve(["open", path], folder);
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  try {
    await page.addInitScript(watchTasks);
    await page.goto(served.url);
    await page.locator(".row:not(.head)").first().waitFor();
    const session = await page.context().newCDPSession(page);
    await longestTask(page);

    const begun = performance.now();
    writing.stdin.write("go\n");
    await page.locator(`[role="grid"][aria-rowcount="${frames + 1}"]`).waitFor({ timeout: 120_000 });
    const arrival = performance.now() - begun;
    const task = await longestTask(page);

    const filter = await filtered(page, "method:tools/list", undefined);
    const search = await filtered(page, '"city 976:"', undefined);
    const filterTask = await longestTask(page);
    await filtered(page, "", frames);
    const scroll = await scrolled(page);
    const elements = await page.locator("*").count();
    const heap = await heapOf(session);
    return { arrival, task, filter, search, filterTask, scroll, heap, elements };
  } finally {
    await page.close();
    await served.close();
    writing.kill();
    await once(writing, "close");
    rmSync(folder, { recursive: true });
  }
}

/** Runs in the page: keeps the durations of tasks that take longer than 50 ms. */
function watchTasks() {
  /** @type {number[]} */
  const tasks = [];
  Object.assign(globalThis, { tasks });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks.push(duration);
  }).observe({ entryTypes: ["longtask"] });
}

/**
 * Milliseconds of the longest task since the last question; 0 if none took more than 50.
 * @param {Page} page
 * @returns {Promise<number>}
 */
function longestTask(page) {
  return page.evaluate(() => {
    const { tasks } = /** @type {{ tasks: number[] }} */ (/** @type {unknown} */ (globalThis));
    return Math.max(0, ...tasks.splice(0));
  });
}

/**
 * Milliseconds from the last key of a filter to the rows that it leaves, in the page.
 * @param {Page} page
 * @param {string} text
 * @param {number | undefined} left rows; undefined for fewer than before
 */
async function filtered(page, text, left) {
  const field = page.locator("#filter");
  await field.focus();
  return page.evaluate(
    ([value, count]) => {
      const input = /** @type {HTMLInputElement} */ (document.querySelector("#filter"));
      const grid = /** @type {Element} */ (document.querySelector('[role="grid"]'));
      const shown = () => Number(grid.getAttribute("aria-rowcount")) - 1;
      const before = shown();
      return new Promise((resolve) => {
        const begun = performance.now();
        const observer = new MutationObserver(() => {
          if (count === null ? shown() === before : shown() !== count) return;
          observer.disconnect();
          requestAnimationFrame(() => resolve(performance.now() - begun));
        });
        observer.observe(grid, { attributes: true, attributeFilter: ["aria-rowcount"] });
        input.value = /** @type {string} */ (value);
        input.dispatchEvent(new Event("input", { bubbles: true }));
      });
    },
    /** @type {const} */ ([text, left ?? null]),
  );
}

/**
 * The 95th percentile of the milliseconds between two frames of the screen, while the list is scrolled by its wheel.
 * @param {Page} page
 */
async function scrolled(page) {
  await page.locator('[role="grid"]').hover();
  const measuring = page.evaluate(
    () =>
      new Promise((resolve) => {
        /** @type {number[]} */
        const gaps = [];
        let last = performance.now();
        const each = () => {
          const now = performance.now();
          gaps.push(now - last);
          last = now;
          if (gaps.length < 120) requestAnimationFrame(each);
          else resolve(gaps);
        };
        requestAnimationFrame(each);
      }),
  );
  for (let turn = 0; turn < 40; turn += 1) await page.mouse.wheel(0, turn % 2 === 0 ? 6_000 : -2_000);
  return quantile(/** @type {number[]} */ (await measuring), 0.95);
}

/**
 * Megabytes of the JavaScript heap after a garbage collection.
 * @param {CDPSession} session
 */
async function heapOf(session) {
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1e6;
}

/**
 * The figures as text for people: the median of the rounds, and the worst of them.
 * @param {readonly Round[]} rounds
 */
export function printPage(rounds) {
  const rows = figures.map(([key, title, bar]) => {
    const values = rounds.map((round) => round[key]);
    const middle = median(values);
    const verdict = bar === undefined ? "" : `${middle <= bar ? "✓" : "✗"} ${bar}`;
    return [title, middle.toFixed(0), Math.max(...values).toFixed(0), verdict];
  });
  return [["", "median", "worst", "target"], ...rows]
    .map(([name = "", ...others]) => name.padEnd(38) + others.map((each) => each.padStart(10)).join(""))
    .join("\n");
}
