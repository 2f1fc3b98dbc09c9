// Takes the pictures of the documentation: `node scripts/screenshots.js`, after a build. It needs Chromium.

import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { latestHandshake } from "@parlance/mcp";
import { chromium } from "playwright-core";
import sharp from "sharp";

/** @import { Page } from "playwright-core" */

const root = fileURLToPath(new URL("../", import.meta.url));
const images = join(root, "docs/images");
const command = join(root, "packages/cli/dist/parlance.js");
const viewport = { width: 1440, height: 900 };

/** The folder of the servers. No picture shows its name, nor that of any other folder of this machine. */
const folder = mkdtempSync(join(tmpdir(), "screenshots-"));
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
mkdirSync(join(folder, "recordings"));
const env = { PATH: process.env.PATH ?? "", HOME: folder, PARLANCE_RECORDINGS: join(folder, "recordings") };

/** The server with bugs of the page on troubleshooting, and two versions of a travel agency. */
const weather =
  /```js\n(\/\/ weather\.js\n.*?)```/s.exec(readFileSync(join(root, "docs/guides/debug.md"), "utf8"))?.[1] ?? "";
writeFileSync(join(folder, "weather.mjs"), weather);
cpSync(join(root, "test/fixtures/travel"), folder, { recursive: true });
const travel = readFileSync(join(folder, "server.js"), "utf8");
writeFileSync(join(folder, "travel.mjs"), travel);
const next = travel
  .replace('version: "2.1.0"', 'version: "3.0.0"')
  .replace('describe("The name of a city")', 'max(40).describe("The name or the code of a city")')
  .replace("3 trains to", "4 direct trains to");
writeFileSync(join(folder, "travel-next.mjs"), next);

/**
 * Runs a command in the folder; one that finds violations exits with 2.
 * @param {readonly string[]} words
 */
function run(...words) {
  try {
    execFileSync(process.execPath, words, { cwd: folder, env, stdio: "ignore" });
  } catch {
    // The recording is what counts.
  }
}

const once = ["run", "--once", "--timeout", "10s", "--revision", latestHandshake.version];
run(command, ...once, "--call", "weather city=Oslo", "--record", "weather.parlance.jsonl", "--", "node", "weather.mjs");
for (const name of ["travel", "travel-next"]) {
  const tap = [command, "tap", "--record", `${name}.parlance.jsonl`, "--", "node", `${name}.mjs`];
  run("host.js", latestHandshake.version, process.execPath, ...tap);
}

/**
 * A page of the command, as long as it runs.
 * @param {readonly string[]} words
 */
async function serve(...words) {
  const child = spawn(process.execPath, [command, ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const url = await new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        const [found] = /http:\/\/[^\s"]+#token=[^\s"]+/.exec(line) ?? [];
        if (found !== undefined) resolve(found);
      });
  });
  return { url: /** @type {string} */ (url), child };
}

/** @param {Page} page */
async function rowsAreThere(page) {
  await page.locator(".row:not(.head) .what").first().waitFor();
}

/**
 * Presses keys one after the other, with a pause in which the page settles.
 * @param {Page} page
 * @param {readonly string[]} keys
 */
async function press(page, ...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await page.waitForTimeout(250);
  }
}

/**
 * Selects the first row with these words.
 * @param {Page} page
 * @param {RegExp} words
 */
async function choose(page, words) {
  await page.getByRole("row", { name: words }).first().click();
  await page.waitForTimeout(250);
}

/**
 * Opens the panel of the server with one of its tools.
 * @param {Page} page
 * @param {string} tool
 */
async function chooseTool(page, tool) {
  await press(page, "t");
  await page
    .getByRole("button", { name: new RegExp(`^${tool}\\b`) })
    .first()
    .click();
  await page.waitForTimeout(300);
}

/** The pictures: the words of the command line, and the way to the view. @type {Record<string, { words: readonly string[], show: (page: Page) => Promise<void> }>} */
const pictures = {
  inspector: { words: ["open", "weather.parlance.jsonl"], show: (page) => press(page, "n", "n") },
  timeline: {
    words: ["open", "travel.parlance.jsonl"],
    async show(page) {
      await press(page, "l");
      await page.locator(".span", { hasText: "book" }).click();
      await page.waitForTimeout(300);
    },
  },
  pair: {
    words: ["open", "travel.parlance.jsonl"],
    async show(page) {
      await choose(page, /tools\/call book \{/);
      await press(page, "s");
    },
  },
  changes: {
    words: ["open", "travel.parlance.jsonl"],
    async show(page) {
      await choose(page, /tools\/call search \{"to":"Faro"/);
      await press(page, "u");
    },
  },
  contract: { words: ["open", "travel.parlance.jsonl"], show: (page) => press(page, "c") },
  cost: { words: ["open", "travel.parlance.jsonl"], show: (page) => press(page, "$") },
  process: { words: ["open", "weather.parlance.jsonl"], show: (page) => press(page, "p") },
  compare: {
    words: ["open", "travel.parlance.jsonl", "travel-next.parlance.jsonl"],
    async show(page) {
      await page.locator(".compare article").first().waitFor();
    },
  },
  playback: {
    words: ["open", "travel.parlance.jsonl"],
    async show(page) {
      await press(page, "r");
      await page.getByRole("button", { name: "pause" }).click();
      await page.locator("#playback").press("End");
      for (let pressed = 0; pressed < 50; pressed += 1) await page.locator("#playback").press("ArrowLeft");
      await page.waitForTimeout(300);
    },
  },
  server: {
    words: ["run", "--ui", "--record", "live.parlance.jsonl", "--", "node", "travel.mjs"],
    async show(page) {
      await chooseTool(page, "search");
      await page.locator(".act form input").first().fill("Porto");
      await page.locator(".act form input").first().press("Enter");
      await page.locator(".act .result").waitFor();
      await page.waitForTimeout(500);
    },
  },
  elicitation: {
    words: ["run", "--ui", "--record", "live.parlance.jsonl", "--", "node", "travel.mjs"],
    async show(page) {
      await chooseTool(page, "book");
      await page.locator(".act form input").first().fill("Porto");
      await page.locator(".act form input").first().press("Enter");
      await page.locator(".input-request").waitFor();
      await page.waitForTimeout(500);
    },
  },
  intercept: {
    words: [
      "run",
      "--ui",
      "--break",
      "tool:search kind:req",
      "--record",
      "live.parlance.jsonl",
      "--",
      "node",
      "travel.mjs",
    ],
    async show(page) {
      await chooseTool(page, "search");
      await page.locator(".act form input").first().fill("Porto");
      await page.locator(".act form input").first().press("Enter");
      await page.getByRole("button", { name: "1 held" }).click();
      await page.waitForTimeout(500);
    },
  },
  replayed: {
    words: ["replay", "travel.parlance.jsonl", "--as", "client", "--ui", "--", "node", "travel.mjs"],
    show: (page) => page.waitForTimeout(1_500),
  },
  doctor: {
    words: ["run", "--ui", "--record", "failed.parlance.jsonl", "--", "node", "missing.mjs"],
    async show(page) {
      await page.getByRole("button", { name: /^why/ }).click();
      await page.getByRole("button", { name: /^Examine/ }).click();
      await page.locator(".checks > .card").first().waitFor();
      await page.locator(".checks").evaluate((checks) => checks.scrollIntoView());
      await page.waitForTimeout(1_000);
    },
  },
  keys: { words: ["open", "travel.parlance.jsonl"], show: (page) => press(page, "?") },
};

/** Names of this machine that stand in the page, and those that the pictures show. */
const names = /** @type {const} */ ([
  [folder, "/srv/travel"],
  [process.execPath, "node"],
]);

/** @param {Page} page */
async function hideNames(page) {
  await page.evaluate((all) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
      for (const [own, shown] of all) text.nodeValue = (text.nodeValue ?? "").replaceAll(own, shown);
  }, names);
  const shown = await page.evaluate(() => document.body.textContent ?? "");
  const own = [root.replace(/\/$/, ""), tmpdir(), "/home/"].find((each) => shown.includes(each));
  if (own !== undefined) throw new Error(`the picture shows ${own}`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});

/**
 * @param {string} name
 * @param {"light" | "dark"} colorScheme
 */
async function take(name, colorScheme) {
  const { words, show } = pictures[name] ?? { words: [], show: async () => undefined };
  const { url, child } = await serve(...words);
  const context = await browser.newContext({ colorScheme, viewport });
  const page = await context.newPage();
  await page.goto(url);
  if (name !== "doctor") await rowsAreThere(page);
  await show(page);
  await hideNames(page);
  // A palette takes a third of the bytes, and the pages have few colours.
  await sharp(await page.screenshot())
    .png({ palette: true, effort: 10 })
    .toFile(join(images, `${name}-${colorScheme}.png`));
  await context.close();
  child.kill("SIGINT");
}

/** The steps of the animation, and how long each shows, in milliseconds. @type {readonly (readonly [step: (page: Page) => Promise<void>, milliseconds: number])[]} */
const session = [
  [async () => undefined, 1_200],
  [(page) => press(page, "n"), 2_200],
  [(page) => press(page, "n"), 2_600],
  [(page) => press(page, "s"), 2_000],
  [(page) => press(page, "l"), 2_200],
  [(page) => press(page, "/"), 300],
  ...[..."verdict:must"].map(
    (character) => /** @type {const} */ ([(/** @type {Page} */ page) => page.keyboard.type(character), 80]),
  ),
  [(page) => press(page, "Enter"), 1_800],
  [(page) => press(page, "Escape", "c"), 2_200],
];

/** One session of debugging, as an animated WebP. */
async function animate() {
  const { url, child } = await serve("open", "weather.parlance.jsonl");
  const context = await browser.newContext({ colorScheme: "light", viewport });
  const page = await context.newPage();
  await page.goto(url);
  await rowsAreThere(page);
  const frames = [];
  for (const [step] of session) {
    await step(page);
    await hideNames(page);
    frames.push(await page.screenshot());
  }
  await sharp(frames, { join: { animated: true } })
    .webp({ quality: 70, effort: 6, loop: 0, delay: session.map(([, milliseconds]) => milliseconds) })
    .toFile(join(images, "inspector.webp"));
  await context.close();
  child.kill("SIGINT");
}

const chosen = process.argv.slice(2);
for (const name of Object.keys(pictures)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) await take(name, colorScheme);
}
if (chosen.length === 0 || chosen.includes("animation")) await animate();
await browser.close();
rmSync(folder, { recursive: true, force: true });
