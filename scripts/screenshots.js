// Takes the pictures of the documentation: `node scripts/screenshots.js`, after a build. It needs Chromium.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { latestHandshake } from "@parlance/mcp";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../", import.meta.url));
const command = join(root, "packages/cli/dist/parlance.js");
const folder = mkdtempSync(join(tmpdir(), "screenshots-"));

/** The server with bugs of the page on troubleshooting. */
const server =
  /```js\n(\/\/ weather\.js\n.*?)```/s.exec(readFileSync(join(root, "docs/guides/debug.md"), "utf8"))?.[1] ?? "";
writeFileSync(join(folder, "weather.mjs"), server);
const call = ["--call", "weather city=Oslo", "--timeout", "1s", "--revision", latestHandshake.version];
const record = ["run", "--once", ...call, "--record", "weather.parlance.jsonl", "--", "node", "weather.mjs"];
try {
  execFileSync(process.execPath, [command, ...record], { cwd: folder, stdio: "ignore" });
} catch {
  // It exits with 2: the server breaks rules.
}

const page = spawn(process.execPath, [command, "open", "--json", "weather.parlance.jsonl"], {
  cwd: folder,
  env: { ...process.env, PARLANCE_RECORDINGS: folder },
  stdio: ["ignore", "pipe", "inherit"],
});
const [line] = await new Promise((resolve) =>
  createInterface({ input: page.stdout }).once("line", (...all) => resolve(all)),
);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 800 } });
  const shown = await context.newPage();
  await shown.goto(JSON.parse(line).url);
  await shown.locator(".row:not(.head)").first().waitFor();
  for (const key of ["n", "n"]) {
    await shown.keyboard.press(key);
    await shown.locator(".card").first().waitFor();
    await shown.waitForTimeout(200);
  }
  await shown.screenshot({ path: join(root, `docs/images/inspector-${colorScheme}.png`) });
  await context.close();
}
await browser.close();
page.kill("SIGINT");
rmSync(folder, { recursive: true, force: true });
