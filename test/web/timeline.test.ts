import { execFileSync } from "node:child_process";
import { afterAll, describe, expect, test } from "vitest";
import { fixture, main } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage, ServedRun } from "./served-page.js";

const inBrowser = describe.skipIf(executablePath === undefined);

afterAll(closeBrowser);

/** A journey that a host plans with a server behind a tap: two searches at once, a question, and from a task the tickets. */
function journey(folder: Scratch, revision: string): string {
  const path = folder.at("journey.parlance.jsonl");
  const tap = [main, "tap", "--record", path, "--", process.execPath, fixture("travel/server.js")];
  execFileSync(process.execPath, [fixture("travel/host.js"), revision, process.execPath, ...tap]);
  return path;
}

inBrowser("the timeline of the page", () => {
  test("shows an operation as one span, beside those that ran at the same time, and says which side waited", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(journey(folder, "2025-11-25"));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("l");
    const spans = page.getByRole("listbox", { name: /Operations/ }).getByRole("option");
    await expect
      .poll(async () => (await spans.allInnerTexts()).sort())
      .toEqual([
        "initialize",
        "tools/call book",
        "tools/call print",
        "tools/call search",
        "tools/call search",
        "tools/call search",
        "tools/list",
      ]);
    const tops = await spans
      .filter({ hasText: "search" })
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
    expect(new Set(tops.slice(0, 2)).size).toBe(2);

    await spans.filter({ hasText: "book" }).click();
    const panel = page.getByRole("region", { name: "Timeline" });
    await panel.getByRole("heading", { name: "tools/call book" }).waitFor();
    expect(await panel.locator("header p").textContent()).toMatch(
      /the server waited for the client for [\d.]+ m?s · 4 rows/,
    );
    await expect.poll(() => panel.getByRole("cell", { name: "question" }).count()).toBe(1);
    await expect.poll(() => page.locator(".row.of-span").count()).toBe(4);

    await panel.getByRole("button", { name: /only these rows/ }).click();
    await page.locator("#filter-state", { hasText: /^4 of/ }).waitFor();
    // The number of rows is there before the rows.
    await expect
      .poll(() => page.locator(".row:not(.head) .what").allInnerTexts())
      .toEqual([
        'tools/call book {"to":"Porto"}',
        "elicitation/create",
        'elicitation/create: accept {"seats":2,"class":"second","name":"Ada Lovelace"}',
        "tools/call: book A seat to Porto for Ada Lovelace",
      ]);
    await page.getByRole("button", { name: /only the operation of frame/ }).click();
    await expect.poll(() => page.locator(".row:not(.head)").count()).toBeGreaterThan(10);
    expect(faults).toEqual([]);
  });

  test("is used by keys alone: from span to span and lane to lane, into one, closer and back", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(journey(folder, "2026-07-28"));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /server\/discover in/ }).waitFor();
    await page.keyboard.press("l");
    const lanes = page.getByRole("listbox", { name: /Operations/ });
    const chosen = lanes.getByRole("option", { selected: true });
    await lanes.getByRole("option").first().waitFor();
    expect(await lanes.evaluate((element) => element === document.activeElement)).toBe(true);
    const goTo = async (key: string, name: string): Promise<void> => {
      await page.keyboard.press(key);
      await page.getByRole("region", { name: "Timeline" }).getByRole("heading", { name }).waitFor();
    };
    await goTo("ArrowRight", "server/discover");
    await goTo("ArrowRight", "tools/list");
    await goTo("ArrowRight", "tools/call search");
    const first = await chosen.getAttribute("id");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => chosen.getAttribute("id")).not.toBe(first);
    expect(await chosen.textContent()).toBe("tools/call search");
    await goTo("ArrowRight", "tools/call book");
    expect(await page.getByRole("cell", { name: "round" }).count()).toBe(1);

    const width = async (): Promise<number> => (await chosen.boundingBox())?.width ?? 0;
    const before = await width();
    await page.keyboard.press("+");
    await expect.poll(width).toBeGreaterThan(before * 1.5);
    await page.keyboard.press("0");
    await expect.poll(width).toBe(before);
    await page.keyboard.press("Enter");
    await page.locator("#filter-state", { hasText: /^4 of/ }).waitFor();
    await page.reload();
    await page.locator("#filter-state", { hasText: /^4 of/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test("shows the part of the recording over which the mouse is drawn", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(journey(folder, "2025-11-25"));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("l");
    const book = page.getByRole("option", { name: /tools\/call book/ });
    await book.waitFor();
    const { x = 0, y = 0, width = 0 } = (await book.boundingBox()) ?? {};
    await page.mouse.move(x, y + 4);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + 4, { steps: 4 });
    await page.mouse.up();
    await expect.poll(async () => ((await book.boundingBox())?.width ?? 0) > 1_000).toBe(true);
    await page.getByRole("button", { name: "all", exact: true }).click();
    await expect.poll(async () => Math.round((await book.boundingBox())?.width ?? 0)).toBe(Math.round(width));
    expect(faults).toEqual([]);
  });

  test("has no finding of axe: light, dark, forced colours, narrow", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(journey(folder, "2025-11-25"));
    await using opened = await OpenedPage.open(served.url);
    const { page } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("l");
    await page.getByRole("option", { name: /tools\/call book/ }).click();
    await page.getByRole("heading", { name: "tools/call book" }).waitFor();
    await opened.expectAccessible();
  });
});

inBrowser("the header of a frame", () => {
  test("takes two lines at 1440 pixels beside the panel of the server, with nothing cut", async () => {
    using folder = new Scratch();
    await using served = await ServedRun.open(["--", process.execPath, fixture("travel/server.js")], folder);
    await using opened = await OpenedPage.open(served.url);
    const { page } = opened;
    await page
      .getByRole("row", { name: /tools\/list/ })
      .first()
      .click();
    await page.locator(".act").waitFor();
    const header = page.locator(".detail .about");
    await header.getByRole("button", { name: /^edit & resend/ }).waitFor();
    const { height, cut } = await header.evaluate((element) => ({
      height: element.getBoundingClientRect().height,
      cut: [...element.querySelectorAll("p")].filter((each) => each.scrollWidth > each.clientWidth).length,
    }));
    expect(height).toBeLessThan(72);
    expect(cut).toBe(0);
  });
});
