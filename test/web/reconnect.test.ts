import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { fixture, start } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedRun } from "./served-page.js";

const inBrowser = describe.skipIf(executablePath === undefined);

afterAll(closeBrowser);

const actingServer = ["--", process.execPath, fixture("acting-server.js")];

/** Has the page connect again in a revision, or in one of an era. */
async function reconnect({ page }: OpenedPage, choice: string): Promise<void> {
  const protocol = page.getByText(/^Protocol: /);
  await protocol.waitFor();
  const select = page.getByLabel("Connect again, and speak");
  if (!(await select.isVisible())) await protocol.click();
  await select.selectOption(choice);
  await page.getByRole("button", { name: "Reconnect" }).click();
}

inBrowser("a page that connects again", () => {
  test("speaks the chosen revision with a new process, and keeps the recording of the former one", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(actingServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    const rows = page.getByRole("grid");
    await rows.getByText(/^server\/discover: .*speaks/).waitFor();
    await page.getByText("Protocol: 2026-07-28", { exact: true }).waitFor();
    await reconnect(opened, "2025-06-18");
    await page.getByText("Protocol: 2025-06-18, as asked", { exact: true }).waitFor();
    await rows.getByText("initialize asks for 2025-06-18").waitFor();
    await opened.expectAccessible();
    await page.getByRole("button", { name: /^build/ }).click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("built").waitFor();
    await result.getByRole("button", { name: /^request/ }).click();
    await page.locator(".detail .json").getByText('"build"').first().waitFor();

    await reconnect(opened, "stateless");
    await page.getByText("Protocol: 2026-07-28, as asked", { exact: true }).waitFor();
    await rows.getByText(/^tools\/list: /).waitFor();
    await page.getByRole("button", { name: "all", exact: true }).click();
    await page.getByRole("button", { name: /^build/ }).waitFor();
    expect(await page.getByRole("heading", { name: "Calls" }).count()).toBe(0);

    // The former conversations are complete, each in its recording.
    const files = readdirSync(folder.path).sort();
    expect(files).toHaveLength(3);
    const texts = files.map((file) => readFileSync(join(folder.path, file), "utf8"));
    expect(texts.filter((text) => text.includes('"k":"end"'))).toHaveLength(2);
    expect(texts.filter((text) => /protocolVersion\\?":\\?"2025-06-18/.test(text))).toHaveLength(1);
    const names = await page.getByLabel("Recording", { exact: true }).locator("option").allTextContents();
    expect(names).toHaveLength(3);
    expect(faults).toEqual([]);
  });

  test("has both conversations in one recording over HTTP", async () => {
    using folder = new Scratch();
    const serving = start(["serve", fixture("tools-server.js"), "--http", "0"]);
    await serving.until("/mcp");
    const url = /http:\/\/\S+?\/mcp/.exec(await serving.firstLine)?.[0] ?? "";
    {
      await using run = await ServedRun.open(["--revision", "2025-11-25", url], folder);
      await using opened = await OpenedPage.open(run.url);
      const { page, faults } = opened;
      const rows = page.getByRole("grid");
      await page.getByText("Protocol: 2025-11-25", { exact: true }).waitFor();
      await page.getByRole("button", { name: /^hello/ }).click();
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByRole("region", { name: "Result" }).getByText("hello").waitFor();
      await reconnect(opened, "2026-07-28");
      await page.getByText("Protocol: 2026-07-28, as asked", { exact: true }).waitFor();
      await rows.getByText(/^server\/discover: .*speaks/).waitFor();
      await page.getByRole("button", { name: "all", exact: true }).click();
      await page.getByRole("heading", { name: "Calls" }).waitFor();
      const [file = "", ...others] = readdirSync(folder.path);
      expect(others).toEqual([]);
      const text = readFileSync(join(folder.path, file), "utf8");
      expect(text).toMatch(/protocolVersion\\?":\\?"2025-11-25/);
      expect(text).toContain("server/discover");
      expect(faults).toEqual([]);
    }
    serving.interrupt();
    await serving.ended;
  });

  test("says why a server does not speak a revision, and tries another one", async () => {
    using folder = new Scratch();
    const server = folder.at("server.mjs");
    writeFileSync(
      server,
      `import { createInterface } from "node:readline";
const opened = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "old", version: "1" } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const answer = method === "initialize" ? { result: opened } : { error: { code: -32601, message: "Method not found" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});`,
    );
    await using run = await ServedRun.open(["--", process.execPath, server], folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByText("Protocol: 2025-06-18", { exact: true }).waitFor();
    await reconnect(opened, "2026-07-28");
    await page.getByRole("alert").getByText("The conversation failed: ").waitFor();
    await page.getByText("Protocol: not negotiated; asked for: 2026-07-28", { exact: true }).waitFor();
    await page.getByText("Reconnect, or run the command again").waitFor();
    await opened.expectAccessible();
    await reconnect(opened, "handshake");
    await page.getByText("Protocol: 2025-06-18, as asked", { exact: true }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
