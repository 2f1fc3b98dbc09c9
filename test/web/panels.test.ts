import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { parlance } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage } from "./served-page.js";

const inBrowser = describe.skipIf(executablePath === undefined);

afterAll(closeBrowser);

/** A server that declares more than it does, notifies without a declaration, and exits during a call. */
const crashing = `import { createInterface } from "node:readline";
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const capabilities = { tools: {}, completions: {}, experimental: { tracing: {} } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: "<b>crashing", version: "2" } } });
  if (method === "tools/list") {
    say({ id, result: { tools: [{ name: "work", inputSchema: { type: "object", additionalProperties: false } }] } });
    say({ method: "notifications/tools/list_changed" });
  }
  if (method === "tools/call") process.stderr.write("the disk is full\\nat line 7\\n", () => process.exit(3));
});
`;

async function crashedRecording(folder: Scratch): Promise<string> {
  const [server, path] = [folder.at("server.mjs"), folder.at("run.parlance.jsonl")];
  writeFileSync(server, crashing);
  const run = ["run", "--once", "--revision", "2025-11-25", "--call", "work", "--record", path];
  await parlance([...run, "--", process.execPath, server]);
  return path;
}

inBrowser("the panels of the page", () => {
  test("show the contract of a session: what was declared, what is used, and what is used without a declaration", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await crashedRecording(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("c");
    const server = page.getByRole("table", { name: /server <b>crashing 2/ });
    const row = (path: string): Promise<readonly string[]> =>
      server
        .getByRole("row")
        .filter({ has: page.getByRole("rowheader", { name: path, exact: true }) })
        .getByRole("cell")
        .allInnerTexts()
        .then((texts) => texts.map((text) => text.trim()));
    await server.waitFor();
    expect((await row("tools")).slice(0, 2)).toEqual(["yes", "3 times"]);
    expect((await row("completions")).slice(0, 2)).toEqual(["yes", "never"]);
    expect((await row("experimental.tracing"))[1]).toContain("no message");
    expect((await row("tools.listChanged")).slice(0, 2)).toEqual(["no", "used, not declared"]);
    expect(await page.getByText("initialize asked for 2025-11-25").textContent()).toContain("1 tool, 76 B");

    // The link shows the frame, with its verdict.
    await server.getByRole("row", { name: "tools.listChanged" }).getByRole("button").click();
    await page.locator(".card", { hasText: "C-3" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("show what the tools cost, and what model providers refuse of them", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await crashedRecording(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("$");
    const panel = page.getByRole("region", { name: "Cost" });
    await panel.getByText("tokenx").waitFor();
    expect(await panel.locator("p").first().textContent()).toMatch(/1 tool: 76 B of definitions, about \d+ tokens/);
    const refused = panel.getByRole("row", { name: /Gemini refuses "additionalProperties", in the tool "work"/ });
    expect(await refused.getByRole("link", { name: "K-3" }).getAttribute("href")).toContain("ai.google.dev");
    await refused.getByRole("button").click();
    await expect.poll(async () => (await page.locator(".hex mark").allInnerTexts()).join("")).toContain("false");
    expect(faults).toEqual([]);
  });

  test("show the process of the server, its exit code, its last words on stderr, and what it left unanswered", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await crashedRecording(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("p");
    const panel = page.getByRole("region", { name: "Process" });
    await panel.getByText("exited with code 3", { exact: true }).waitFor();
    const text = (await panel.allInnerTexts()).join("").replaceAll(/\s+/g, " ");
    expect(text).toMatch(/pid \d+/);
    expect(text).toContain("server.mjs");
    expect(text).toContain("the disk is full at line 7");
    expect(text).toMatch(/tools\/call frame \d+ no response: the server exited/);
    await page.keyboard.press("d");
    await page.getByRole("heading", { level: 2 }).first().waitFor();
    expect(faults).toEqual([]);
  });

  test.each([
    ["Contract", "tools.listChanged"],
    ["Cost", "What model providers refuse"],
    ["Process", "exited with code 3"],
  ])("have no finding of axe: %s in light, dark, forced colours, narrow", async (name, shown) => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await crashedRecording(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.getByRole("button", { name: new RegExp(`^${name}`) }).click();
    await page.getByRole("region", { name }).getByText(shown, { exact: true }).waitFor();
    await opened.expectAccessible();
  });
});
