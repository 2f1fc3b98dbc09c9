import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

test("npm start prints the messages and serves them as a page, until Ctrl-C", async () => {
  const child = spawn("npm", ["start", "--silent"], { cwd: root, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const interrupt = (): void => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGINT");
  };
  onTestFinished(interrupt);
  const ended = once(child, "close");
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  }
  while (!text.includes("#token=") || !text.includes("tools/call: git_blame")) {
    await Promise.race([once(child.stdout, "data"), once(child.stderr, "data")]);
  }
  const [, address = ""] = /^open (http:.*)#token=/m.exec(text) ?? [];
  const page = await fetch(address);
  expect({ status: page.status, html: await page.text() }).toMatchObject({
    status: 200,
    html: expect.stringContaining("<title>"),
  });
  interrupt();
  await ended;
});
