import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { main, parlance, runTests, toolsServer } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage } from "./served-page.js";

afterAll(closeBrowser);

const run = promisify(execFile);

async function recorded(folder: Scratch): Promise<string> {
  const path = folder.at("run.parlance.jsonl");
  await parlance([
    "run",
    "--once",
    "--revision",
    "2025-11-25",
    "--call",
    "add a:=2 b:=4",
    "--record",
    path,
    ...toolsServer,
  ]);
  return path;
}

/** A page that may read the clipboard. */
function openPage(url: string): Promise<OpenedPage> {
  return OpenedPage.open(url, { permissions: ["clipboard-read", "clipboard-write"] });
}

async function copied(page: Page, form: string): Promise<string> {
  await page.getByLabel("Form of the copy").selectOption(form);
  await page.getByRole("button", { name: /^copy/ }).click();
  await page.getByRole("button", { name: /^copied/ }).waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

/** The output of a shell. `parlance` is the command of this repository. */
async function shell(text: string): Promise<string> {
  const parlanceHere = `parlance() { ${JSON.stringify(process.execPath)} ${JSON.stringify(main)} "$@"; }`;
  return (await run("/bin/sh", ["-c", `${parlanceHere}\n${text}`])).stdout;
}

describe.skipIf(executablePath === undefined)("the page copies a frame", () => {
  test("raw, as a shell command and as a command line that make the same call, by the mouse", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await openPage(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /tools\/call: add/ }).click();
    const raw = JSON.parse(await copied(page, "raw"));
    expect(raw).toMatchObject({ jsonrpc: "2.0", result: { structuredContent: { sum: 6 } } });
    // Of a response, those of its request.
    const command = await copied(page, "command line");
    expect(command).toMatch(/^parlance call add a=2 b=4 -- /);
    expect(await shell(command)).toContain("6");
    expect(await shell(await copied(page, "cURL"))).toContain('"sum":6');
    await opened.expectAccessible();
    await page.locator(".row.req", { hasText: "tools/list" }).click();
    const sent = await copied(page, "command line");
    expect(sent).toMatch(/^parlance send --open --line /);
    expect(await shell(sent)).toContain("tools/list");
    expect(faults).toEqual([]);
  });

  test("as a test that passes, by the keyboard alone", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await openPage(served.url);
    const { page, faults } = opened;
    const { keyboard } = page;
    await page.getByRole("row", { name: /tools\/call: add/ }).waitFor();
    await keyboard.press("/");
    await keyboard.type("tool:add kind:req");
    await page.getByText(/^1 of \d+$/).waitFor();
    await keyboard.press("Enter");
    await keyboard.press("g");
    await page.getByRole("heading", { name: /^req/ }).waitFor();
    await keyboard.press("y");
    await page.locator("#copy:focus").waitFor();
    await keyboard.press("End");
    await keyboard.press("ArrowUp");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await page.getByRole("button", { name: /^copied/ }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text).toContain('connection.call("initialize"');
    expect(text).not.toContain("tools/list");
    expect(await runTests(text)).toMatch(/1 passed/);
    expect(faults).toEqual([]);
  });

  test("of HTTP as a cURL command that makes the same request; others not at all", async () => {
    const server = createServer({ name: "adder", version: "1.0.0" });
    server.tool("add", { inputSchema: { type: "object" } }, ({ a, b }) => String(Number(a) + Number(b)));
    const http = await serveHttp(server);
    onTestFinished(() => http.close());
    using folder = new Scratch();
    const path = folder.at("run.parlance.jsonl");
    await parlance(["run", "--once", "--call", "add a:=2 b:=4", "--record", path, http.url]);
    await using served = await ServedPage.open(path);
    await using opened = await openPage(served.url);
    const { page } = opened;
    await page.getByRole("row", { name: /tools\/call add/ }).click();
    const command = await copied(page, "cURL");
    expect(command).toMatch(/^curl /);
    expect(command.match(/^curl /gm)).toHaveLength(1);
    expect(await shell(command)).toContain('"text":"6"');
    expect(await copied(page, "command line")).toBe(`parlance call ${http.url} add a:=2 b:=4`);
    await page.getByLabel("Form of the copy").selectOption("test");
    await page.getByRole("button", { name: /^copy/ }).click();
    await page.getByRole("alert").getByText("is not a recording of a command").waitFor();
  });
});
