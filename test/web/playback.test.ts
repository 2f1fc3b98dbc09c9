import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { main, parlance, start, toolsServer } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { opening, recorded as recordedLines } from "../wire/recording/recorded.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage, ServedRun } from "./served-page.js";

afterAll(closeBrowser);

async function recorded(folder: Scratch): Promise<string> {
  const path = folder.at("run.parlance.jsonl");
  const calls = ["add a:=2 b:=3", "hello"].flatMap((call) => ["--call", call]);
  await parlance(["run", "--once", "--revision", "2025-11-25", ...calls, "--record", path, ...toolsServer]);
  return path;
}

/** The rows of the list. */
async function rows(page: Page): Promise<number> {
  return Number(await page.getByRole("grid", { name: "Frames" }).getAttribute("aria-rowcount")) - 1;
}

/** The command lines that the page shows for a live peer. */
async function shownCommands(path: string): Promise<readonly string[]> {
  await using served = await ServedPage.open(path);
  await using opened = await OpenedPage.open(served.url);
  const { page, faults } = opened;
  await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
  await page.getByRole("button", { name: /^Play/ }).click();
  await page.getByRole("button", { name: "to a live peer" }).click();
  const commands = page.locator("#peers pre");
  await commands.first().waitFor();
  await opened.expectAccessible();
  expect(faults).toEqual([]);
  return await commands.allTextContents();
}

const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}';

/** A client that waits for an hour before its only call. */
const slowClient = recordedLines(
  ...opening("2025-11-25"),
  `→ ${call}`,
  '← {"jsonrpc":"2.0","id":1,"result":{"content":[]}}',
).map((entry, index) => (entry.k === "f" && index > 2 ? { ...entry, t: 3_600_000 + index } : entry));

describe.skipIf(executablePath === undefined)("a playback", () => {
  test("shows the rows until the time of its slider, and the selected one is the last", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    const all = await rows(page);
    await page.keyboard.press("r");
    const slider = page.getByRole("slider", { name: "Time of the recording" });
    await slider.press("Home");
    await expect.poll(() => rows(page)).toBeLessThan(3);
    await opened.expectAccessible();
    const middle = Number(await slider.getAttribute("max")) / 2;
    await slider.evaluate((element, value) => {
      (element as unknown as { value: number }).value = value;
      element.dispatchEvent(new Event("input", { bubbles: true }));
    }, middle);
    await expect.poll(() => rows(page)).toBeGreaterThan(1);
    const shown = await rows(page);
    expect(shown).toBeLessThan(all);
    await page.locator(`#row-${shown - 1}[aria-selected="true"]`).waitFor();
    await slider.press("End");
    await expect.poll(() => rows(page)).toBe(all);
    await page.getByRole("button", { name: "close", exact: true }).click();
    await slider.waitFor({ state: "detached" });
    expect(await rows(page)).toBe(all);
    expect(faults).toEqual([]);
  });

  test("lets the rows appear by their times, and stops at the end", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.clock.install();
    await page.reload();
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    const all = await rows(page);
    await page.getByRole("button", { name: /^Play/ }).click();
    const play = page.getByRole("button", { name: "play", exact: true });
    await play.waitFor();
    const counts = await page.evaluateHandle(() => {
      const seen: number[] = [];
      const grid = document.querySelector('[role="grid"]');
      const see = () => seen.push(Number(grid?.getAttribute("aria-rowcount")) - 1);
      if (grid !== null) new MutationObserver(see).observe(grid, { attributeFilter: ["aria-rowcount"] });
      return seen;
    });
    await page.clock.pauseAt(new Date((await page.evaluate(() => Date.now())) + 1_000));
    await play.click();
    const frameOfScreen = async (): Promise<readonly number[]> => {
      await page.clock.runFor(16);
      return counts.jsonValue();
    };
    await expect.poll(async () => (await frameOfScreen()).at(-1)).toBe(all);
    await page.clock.resume();
    await play.waitFor();
    const seen = await counts.jsonValue();
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(faults).toEqual([]);
  });

  test("to a live peer: the shown command is a client of the recorded server", async () => {
    using folder = new Scratch();
    const [asServer = ""] = await shownCommands(await recorded(folder));
    expect(asServer).toBe("parlance run --ui -- parlance replay run --as server --speed 1");
    const [, , , , , ...server] = asServer.split(" ");
    // The command line as it is shown, with the paths of this checkout.
    const words = ["--revision", "2025-11-25", "--", process.execPath, main, ...server];
    await using run = await ServedRun.open(words, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByRole("button", { name: /^add/ }).click();
    await page.getByLabel("a", { exact: true }).fill("2");
    await page.getByLabel("b", { exact: true }).fill("3");
    await page.getByRole("button", { name: /^Call/ }).click();
    await page.getByRole("region", { name: "Result" }).getByText('"sum": 5').waitFor();
    expect(faults).toEqual([]);
  });

  test("to a live peer: the shown command is the recorded client, with a slider for what it sends", async () => {
    using folder = new Scratch();
    const path = folder.write("run.parlance.jsonl", slowClient);
    const [, asClient = ""] = await shownCommands(path);
    expect(asClient).toBe("parlance replay run --as client --ui -- node server.js");
    const [, ...words] = asClient.split(" -- node server.js")[0]?.split(" ") ?? [];
    const replaying = start([...words, ...toolsServer], { PARLANCE_RECORDINGS: folder.path });
    let errors = "";
    replaying.child.stderr?.on("data", (text: string) => {
      errors += text;
    });
    await replaying.untilError("#token=");
    {
      await using opened = await OpenedPage.open(/http:\/\/\S+/.exec(errors)?.[0] ?? "");
      const { page, faults } = opened;
      const controls = page.getByRole("region", { name: "Replayed client" });
      await page.getByRole("row", { name: /initialize: .* speaks/ }).waitFor();
      await controls.getByRole("button", { name: "pause", exact: true }).click();
      // The recorded client sends the next request after an hour.
      expect(await page.getByRole("row", { name: /tools\/call/ }).count()).toBe(0);
      await opened.expectAccessible();
      const slider = controls.getByRole("slider", { name: "Time of the recorded client" });
      await slider.press("End");
      await page.getByRole("row", { name: /tools\/call: add/ }).waitFor();
      await controls.getByText("everything is sent").waitFor();
      // The panel compares it with the recording meanwhile: the live server has answered in its own way.
      await page.getByText("/result/structuredContent").first().waitFor();
      expect(faults).toEqual([]);
    }
    replaying.interrupt();
    expect((await replaying.ended).code).toBe(0);
  });
});
