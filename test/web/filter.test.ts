import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { started } from "../cli/commands/tap/tapped.js";
import { main, parlance, toolsServer } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage } from "./served-page.js";

const inBrowser = describe.skipIf(executablePath === undefined);

afterAll(closeBrowser);

async function recorded(folder: Scratch): Promise<string> {
  const path = folder.at("run.parlance.jsonl");
  const run = ["run", "--once", "--revision", "2025-11-25", "--record", path];
  expect(await parlance([...run, ...toolsServer])).toMatchObject({ code: 0 });
  return path;
}

inBrowser("the filter of the page", () => {
  test("completes the word at the caret with fields, and with values of the recording, by the keyboard", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder), { XDG_STATE_HOME: folder.path });
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("kind:re");
    const options = page.locator("#suggestions").getByRole("option");
    await expect.poll(() => options.allTextContents()).toEqual(["kind:req", "kind:res"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.type("-method:tools/l");
    await expect.poll(() => options.allTextContents()).toEqual(["method:tools/list"]);
    await opened.expectAccessible();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Tab");
    expect(await page.locator("#filter").inputValue()).toBe("kind:req -method:tools/list ");
    await page.getByRole("row", { name: /tools\/list/ }).waitFor({ state: "detached" });
    await page.keyboard.type("kind:x");
    await page.locator("#filter-state").getByText("it is one of req res").waitFor();
    expect(faults).toEqual([]);
  });

  test("is applied before a key moves in the list that it finds", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    const held = await opened.holdable();
    await page.getByRole("row", { name: /initialize asks for/ }).click();
    await page.getByRole("heading", { level: 2, name: /^req/ }).waitFor();
    await page.keyboard.press("/");
    await held.while(async () => {
      await page.keyboard.type("method:tools/list kind:req");
      await page.keyboard.press("Enter");
      await page.keyboard.press("G");
    });
    await page.getByText(/^1 of \d+$/).waitFor();
    await expect.poll(() => page.locator('[aria-selected="true"] .what').allTextContents()).toEqual(["tools/list"]);
    await page.getByRole("button", { name: "method:tools/list" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("is saved for the next page, and forgotten", async () => {
    using folder = new Scratch();
    const path = await recorded(folder);
    const env = { XDG_STATE_HOME: folder.path };
    {
      await using served = await ServedPage.open(path, env);
      await using opened = await OpenedPage.open(served.url);
      await opened.page.locator("#filter").fill("kind:req dir:c2s");
      await opened.page.getByRole("button", { name: "save", exact: true }).click();
      await opened.page.getByRole("button", { name: "saved", exact: true }).waitFor();
    }
    const file = join(folder.path, "parlance", "filters.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(["kind:req dir:c2s"]);
    await using served = await ServedPage.open(path, env);
    await using opened = await OpenedPage.open(served.url);
    const { page } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.locator("#filter").focus();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("option", { name: "kind:req dir:c2s" }).click();
    await page.getByRole("button", { name: "saved", exact: true }).click();
    await page.getByRole("button", { name: "save", exact: true }).waitFor();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual([]);
  });

  test("takes the value of a cell by a double click, and those of the selected row by a button", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page } = opened;
    const row = page.getByRole("row", { name: /initialize asks for/ });
    await row.locator(".kind").dblclick();
    expect(await page.locator("#filter").inputValue()).toBe("kind:req");
    await row.locator(".what").click();
    await page.getByRole("button", { name: "method:initialize" }).click();
    expect(await page.locator("#filter").inputValue()).toBe("kind:req method:initialize");
    await page.getByText(/^1 of \d+$/).waitFor();
  });
});

async function withCalls(folder: Scratch): Promise<string> {
  const path = folder.at("run.parlance.jsonl");
  const calls = ["add a:=2 b:=3", "hello"].flatMap((call) => ["--call", call]);
  await parlance(["run", "--once", "--revision", "2025-11-25", ...calls, "--record", path, ...toolsServer]);
  return path;
}

async function numbers(page: Page): Promise<readonly number[]> {
  return (await page.locator(".row:not(.head) .n").allTextContents()).map(Number);
}

inBrowser("the columns of the list", () => {
  test("are chosen with the keyboard, and are the same in the next page", async () => {
    using folder = new Scratch();
    const path = await withCalls(folder);
    const env = { XDG_STATE_HOME: folder.path };
    const heads = (page: Page): Promise<readonly string[]> => page.getByRole("columnheader").allTextContents();
    const all = ["n", "time (s)", "from", "kind", "id ↔ pair", "method, or what it says"];
    {
      await using served = await ServedPage.open(path, env);
      await using opened = await OpenedPage.open(served.url);
      const { page, faults } = opened;
      await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
      expect(await heads(page)).toEqual([...all, "latency", "size", "verdict", "waterfall"]);
      await page.keyboard.press("o");
      await page.getByRole("checkbox", { name: "n", exact: true }).and(page.locator(":focus")).waitFor();
      await opened.expectAccessible();
      for (const key of ["Tab", "Space", "Tab", "Space"]) await page.keyboard.press(key);
      await expect
        .poll(() => heads(page))
        .toEqual(["n", "since the row before", ...all.slice(2), "latency", "size", "verdict", "waterfall"]);
      expect(await page.locator("#row-1 .since").textContent()).toMatch(/^\+[\d.]+ m?s$/);
      await page.keyboard.press("Escape");
      await page.getByRole("checkbox", { name: "n", exact: true }).waitFor({ state: "hidden" });
      const kept = (): unknown => JSON.parse(readFileSync(join(folder.path, "parlance", "columns.json"), "utf8"));
      await expect.poll(kept).toEqual(["time"]);
      await opened.expectAccessible();
      expect(faults).toEqual([]);
    }
    await using served = await ServedPage.open(path, env);
    await using opened = await OpenedPage.open(served.url);
    await expect.poll(() => heads(opened.page)).toContain("since the row before");
    expect(await heads(opened.page)).not.toContain("time (s)");
  });
});

inBrowser("a range of time", () => {
  test("is drawn over the overview, and another one takes its place", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await withCalls(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.locator("#filter").fill("kind:req");
    await page.getByText(/^\d of \d+$/).waitFor();
    const { x = 0, y = 0, width = 0 } = (await page.locator(".overview").boundingBox()) ?? {};
    const draw = async (from: number, to: number): Promise<void> => {
      await page.mouse.move(x + width * from, y + 10);
      await page.mouse.down();
      await page.mouse.move(x + width * to, y + 10, { steps: 3 });
      await page.mouse.up();
    };
    const times = async (): Promise<readonly number[]> => {
      const [, from, to] = /^kind:req t:([\d.]+)\.\.([\d.]+)$/.exec(await page.locator("#filter").inputValue()) ?? [];
      return [Number(from), Number(to)];
    };
    await draw(0.9, 0.1);
    const [from = 0, to = 0] = await times();
    expect(to).toBeGreaterThan(from);
    expect(from).toBeGreaterThan(0);
    await page.locator(".overview .brush").waitFor();
    await opened.expectAccessible();
    await draw(0, 0.5);
    const [first = 1] = await times();
    expect(first).toBeLessThan(from);
    await page.getByText(/^\d of \d+$/).waitFor();
    expect(faults).toEqual([]);
  });

  test("is chosen from one row to another one, by the keyboard alone", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await withCalls(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    const all = await numbers(page);
    const times = await page.locator(".row:not(.head) .time").allTextContents();
    for (const key of ["g", "j", "j", "m", "j", "j", "m"]) await page.keyboard.press(key);
    await expect.poll(() => page.locator("#filter").inputValue()).toMatch(/^t:/);
    const inside = all.filter((_, place) => {
      const [at, from, to] = [times[place], times[2], times[4]].map(Number);
      return at !== undefined && from !== undefined && to !== undefined && at >= from && at <= to;
    });
    await expect.poll(() => numbers(page)).toEqual(inside);
    await page.keyboard.press("Escape");
    await expect.poll(() => numbers(page)).toEqual(all);
    expect(faults).toEqual([]);
  });
});

inBrowser("a link to a frame", () => {
  test("shows the same frame and filter in the redacted copy of a colleague", async () => {
    using folder = new Scratch();
    await withCalls(folder);
    let command = "";
    {
      await using served = await ServedPage.open("run", { PARLANCE_RECORDINGS: folder.path });
      await using opened = await OpenedPage.open(served.url, { permissions: ["clipboard-read", "clipboard-write"] });
      const { page } = opened;
      await page.locator("#filter").fill("kind:res dir:s2c");
      await page.getByText(/^\d of \d+$/).waitFor();
      await page.getByRole("row", { name: /tools\/call: add/ }).click();
      await page.getByRole("heading", { level: 2, name: /^res/ }).waitFor();
      await page.getByLabel("Form of the copy").selectOption("link");
      await page.getByRole("button", { name: /^copy/ }).click();
      await page.getByRole("button", { name: /^copied/ }).waitFor();
      command = await page.evaluate(() => navigator.clipboard.readText());
    }
    const [, n = "", filter = ""] = /^parlance open run --frame (\d+) --filter '(.*)'$/.exec(command) ?? [];
    expect(filter).toBe("kind:res dir:s2c");
    const copy = folder.at("copy.parlance.jsonl");
    expect(await parlance(["redact", folder.at("run.parlance.jsonl"), "-o", copy])).toMatchObject({ code: 0 });
    await using served = await ServedPage.open([copy, "--frame", n, "--filter", filter]);
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("heading", { level: 2, name: new RegExp(`^res ${n}`) }).waitFor();
    await page.locator('[aria-selected="true"]', { hasText: "tools/call: add" }).waitFor();
    expect(await page.locator("#filter").inputValue()).toBe(filter);
    expect(page.url()).not.toContain("token");

    // An address that is pasted into an open page has the same effect.
    await page.evaluate(() => {
      location.hash = "#/2?q=kind%3Areq";
    });
    await expect.poll(() => page.locator("#filter").inputValue()).toBe("kind:req");
    await page.getByRole("heading", { level: 2, name: /^req 2/ }).waitFor();
    expect(faults).toEqual([]);
  });
});

inBrowser("the menu of recordings", () => {
  test("finds sessions that run and those that begin later, and shows what they have said before", async () => {
    using folder = new Scratch();
    await withCalls(folder);
    const env = { PARLANCE_RECORDINGS: folder.path };
    await using served = await ServedPage.open("run", env);
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    const tap = spawn(process.execPath, [main, "tap", ...toolsServer], { env: { ...process.env, ...env } });
    onTestFinished(() => void tap.kill());
    const host = started(tap);
    const send = (message: object): void => void tap.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "late host", version: "1" };
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    });
    await host.until('"id":1');
    await page.getByText("1 more running").waitFor();
    const running = page.locator('optgroup[label="Running"] option');
    const name = (await running.textContent()) ?? "";
    await page.getByRole("combobox", { name: "Recording" }).selectOption(name);
    await page.getByRole("row", { name: /initialize asks for 2025-11-25/ }).waitFor();
    await page.getByRole("button", { name: /^live/ }).waitFor();
    await opened.expectAccessible();
    send({ id: 2, method: "ping" });
    await page
      .getByRole("row", { name: /^\d+ .* ping/ })
      .first()
      .waitFor();
    tap.stdin.end();
    await host.ended;
    await page.getByRole("row", { name: /exited with code 0/ }).waitFor();
    expect(faults).toEqual([]);
  });
});
