import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parlance, toolsServer } from "../cli/run.js";
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
