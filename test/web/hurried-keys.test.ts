import { spawn } from "node:child_process";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { started } from "../cli/commands/tap/tapped.js";
import { fixture, main, parlance, toolsServer } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage, ServedRun } from "./served-page.js";

afterAll(closeBrowser);

/** A conversation in which a server writes a line that is no message, and answers a call twice. */
async function recorded(folder: Scratch, name = "run", tools = ["stdout-noise", "duplicate-reply"]): Promise<string> {
  const path = folder.at(`${name}.parlance.jsonl`);
  const calls = tools.flatMap((tool) => ["--call", tool]);
  const server = [process.execPath, fixture("misbehaving/server.js")];
  await parlance(["run", "--once", "--revision", "2025-11-25", ...calls, "--record", path, "--", ...server]);
  return path;
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** The number of the selected row. */
function selected(page: Page): Promise<string | null> {
  return page.locator('[aria-selected="true"] .n').textContent();
}

describe.skipIf(executablePath === undefined)("keys that come before the answers to the keys before", () => {
  test("move from where those lead: to a violation, from it, to the other half of a pair", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    const held = await opened.holdable();
    const rows = page.locator(".row:not(.head)");
    await rows.filter({ hasText: /exited/ }).waitFor();
    const numbers = await rows.locator(".n").allTextContents();
    const violations = await rows
      .filter({ has: page.locator(".verdict .must") })
      .locator(".n")
      .allTextContents();
    expect(violations.length).toBeGreaterThan(1);
    const after = numbers[numbers.indexOf(violations[1] ?? "") + 1];
    await page.keyboard.press("g");
    await expect.poll(() => selected(page)).toBe(numbers[0]);
    await held.while(() => press(page, "n", "n", "j"));
    await expect.poll(() => selected(page)).toBe(after);

    const request = rows.filter({ hasText: "initialize asks for" });
    const pair = await request.locator(".pair").textContent();
    await request.click();
    await page.getByRole("heading", { level: 2, name: /^req/ }).waitFor();
    await press(page, "g");
    await expect.poll(() => selected(page)).toBe(numbers[0]);
    const steps = numbers.indexOf((await request.locator(".n").textContent()) ?? "");
    await held.while(() => press(page, ...Array.from({ length: steps }, () => "j"), "]"));
    await expect.poll(async () => ` ↔ ${await selected(page)}`).toBe(pair);
    const other = (await selected(page)) ?? "";
    await held.while(() => press(page, "]", "]", "j"));
    await expect.poll(() => selected(page)).toBe(numbers[numbers.indexOf(other) + 1]);
    expect(faults).toEqual([]);
  });

  test("select a row that is not read yet; a click after it selects another one", async () => {
    using folder = new Scratch();
    const calls = Array.from({ length: 120 }, () => "duplicate-reply");
    await using served = await ServedPage.open(await recorded(folder, "run", calls));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    const held = await opened.holdable();
    await page.getByRole("row", { name: /initialize asks for/ }).click();
    const pair = page.getByRole("button", { name: /^response \d+/ });
    const [response] = /\d+/.exec((await pair.textContent()) ?? "") ?? [];
    await held.while(async () => {
      // The rows that show at first, and the last ones, are read.
      await press(page, ...Array.from({ length: 8 }, () => "PageDown"));
      await pair.click();
    });
    await page.getByRole("heading", { level: 2, name: new RegExp(`^res ${response} `) }).waitFor();
    expect(faults).toEqual([]);
  });

  test("copy the frame that was selected last", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url, { permissions: ["clipboard-read", "clipboard-write"] });
    const { page, faults } = opened;
    const held = await opened.holdable();
    await page.getByRole("row", { name: /initialize asks for/ }).click();
    await page.getByRole("heading", { level: 2, name: /^req/ }).waitFor();
    await held.while(() => press(page, "]", "y", "Tab", "Enter"));
    await page.getByRole("button", { name: /^copied/ }).waitFor();
    expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toHaveProperty("result");
    expect(faults).toEqual([]);
  });

  test("begin a playback and end it again; its slider has the focus at once", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    const held = await opened.holdable();
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    const grid = page.getByRole("grid", { name: "Frames" });
    const all = await grid.getAttribute("aria-rowcount");
    await page.keyboard.press("G");
    await page.locator('[aria-selected="true"]', { hasText: "exited" }).waitFor();
    const slider = page.getByRole("slider", { name: "Time of the recording" });
    await held.while(() => press(page, "r", "Home"));
    await expect.poll(() => slider.inputValue()).toBe("0");
    await expect.poll(async () => Number(await grid.getAttribute("aria-rowcount"))).toBeLessThan(4);
    await page.getByRole("button", { name: "close", exact: true }).click();
    await slider.waitFor({ state: "detached" });
    await held.while(async () => {
      await page.getByRole("button", { name: /^Play/ }).click();
      await page.getByRole("button", { name: /^Play/ }).click();
    });
    // The answers are there with that of a later request.
    await page.keyboard.press("g");
    await page.getByRole("heading", { level: 2 }).first().waitFor();
    expect(await slider.count()).toBe(0);
    expect(await grid.getAttribute("aria-rowcount")).toBe(all);
    expect(faults).toEqual([]);
  });

  test("lead from span to span of the timeline", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    const held = await opened.holdable();
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("l");
    const panel = page.getByRole("region", { name: "Timeline" });
    await panel.getByRole("option").nth(2).waitFor();
    await held.while(() => press(page, "ArrowRight", "ArrowRight", "ArrowRight"));
    await panel.getByRole("heading", { name: /^tools\/call/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test("follow a live recording through the filter that was typed before", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(["--revision", "2025-11-25", ...toolsServer], folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    const held = await opened.holdable();
    const follows = page.getByRole("button", { name: /^live, following/ });
    // A reload goes on following.
    await follows.waitFor();
    await page.getByRole("row", { name: /initialize asks for/ }).click();
    await page.getByRole("button", { name: /^live(?!,)/ }).waitFor();
    await page.keyboard.press("/");
    await held.while(async () => {
      await page.keyboard.type("kind:res");
      await press(page, "Enter", "f");
    });
    await follows.waitFor();
    await expect.poll(() => page.locator('[aria-selected="true"] .kind').allTextContents()).toEqual(["res"]);
    expect(faults).toEqual([]);
  });

  test("let one held message go after the other, and set one breakpoint after the other", async () => {
    using folder = new Scratch();
    const tap = [main, "tap", "--ui", "--break", "kind:req -method:initialize", "--record", folder.at("tap.jsonl")];
    const child = spawn(process.execPath, [...tap, "--", process.execPath, fixture("tools-server.js")]);
    onTestFinished(() => void child.kill());
    const host = started(child);
    const url = await new Promise<string>((resolve) => {
      child.stderr.on("data", (text: string) => {
        const [found] = /http:\S+/.exec(text) ?? [];
        if (found !== undefined) resolve(found);
      });
    });
    await using opened = await OpenedPage.open(url);
    const { page, faults } = opened;
    const held = await opened.holdable();
    const send = (message: object): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "host", version: "1" };
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    });
    await host.until('"id":1');
    for (const id of [2, 3, 4]) send({ id, method: "ping" });
    await page.getByRole("button", { name: "3 held" }).waitFor();
    await page.keyboard.press("i");
    const panel = page.getByRole("region", { name: "Intercept" });
    await panel.getByRole("heading", { name: /id 2/ }).waitFor();
    await held.while(() => press(page, "r", "r", "r"));
    for (const id of [2, 3, 4]) await host.until(`"id":${id}`);

    await panel.getByLabel("Filter").fill("kind:ntf");
    await held.while(async () => {
      await panel.getByRole("button", { name: "Add" }).click();
      await panel.getByLabel("Filter").fill("kind:err");
      await panel.getByRole("button", { name: "Add" }).click();
      await panel.getByLabel("breakpoint kind:req").uncheck();
    });
    await panel.getByLabel("breakpoint kind:ntf").waitFor();
    await panel.getByLabel("breakpoint kind:err").waitFor();
    await expect.poll(() => panel.getByLabel("breakpoint kind:req").isChecked()).toBe(false);
    // The text that was entered while the breakpoint before was set is not lost.
    await held.while(async () => {
      await panel.getByLabel("Filter").fill("kind:res");
      await panel.getByRole("button", { name: "Add" }).click();
      await panel.getByLabel("Filter").fill("kind:not");
    });
    await panel.getByLabel("breakpoint kind:res").waitFor();
    expect(await panel.getByLabel("Filter").inputValue()).toBe("kind:not");
    expect(faults).toEqual([]);
  });

  test("show the result of a call in the form of its tool alone", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(toolsServer, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    const held = await opened.holdable();
    await page.getByRole("button", { name: /^hello/ }).click();
    await held.while(async () => {
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByRole("button", { name: "all", exact: true }).click();
      await page.getByRole("button", { name: /^fail/ }).click();
    });
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("the disk is full").waitFor();
    expect(await result.textContent()).not.toContain("hello");
    expect(faults).toEqual([]);
  });

  test("show the recording that was chosen last", async () => {
    using folder = new Scratch();
    for (const name of ["one", "two", "three"]) await recorded(folder, name);
    await using served = await ServedPage.open("one", { PARLANCE_RECORDINGS: folder.path });
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    const held = await opened.holdable();
    const menu = page.getByRole("combobox", { name: "Recording" });
    await menu.waitFor();
    await held.while(async () => {
      await menu.selectOption("two");
      await menu.selectOption("three");
    });
    await expect.poll(() => page.title()).toBe("three · parlance");
    await expect.poll(() => menu.inputValue()).toBe("three");
    expect(faults).toEqual([]);
  });
});
