import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { fixture } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedRun } from "./served-page.js";

const inBrowser = describe.skipIf(executablePath === undefined);

afterAll(closeBrowser);

const server = ["--revision", "2025-11-25", "--", process.execPath, fixture("acting-server.js")];

/** The last page in the search for a slow call: a report about the call that was made again. */
async function expectReport(page: Page, exporting: Promise<unknown>): Promise<void> {
  const [download] = await Promise.all([page.waitForEvent("download"), exporting]);
  expect(download.suggestedFilename()).toMatch(/\.md$/);
  const report = readFileSync(await download.path(), "utf8");
  expect(report).toContain("tools/call");
  expect(report).toContain("a newer text");
  expect(report).not.toContain("initialize");
}

const edited = JSON.stringify({
  method: "tools/call",
  params: { name: "everything", arguments: { text: "a newer text", shelf: { room: "A" } } },
});

inBrowser("from a slow call to its bytes, to a call of another tool, to a report", () => {
  test("by the mouse", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(server, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /tools\/call: slow/ }).waitFor();
    await page.locator("#filter").fill("method:tools/call lat>500ms");
    await page.getByText(/^1 of \d+$/).waitFor();
    await page.getByRole("row", { name: /tools\/call: slow/ }).click();
    await page.getByRole("button", { name: /^call\(/ }).waitFor();
    expect(await page.locator(".hex").textContent()).toContain("73 6c 6f 77"); // slow
    await page.getByRole("button", { name: /^request \d+/ }).click();
    await page.getByRole("button", { name: /^edit & resend/ }).click();
    await page.getByRole("textbox", { name: "Message" }).fill(edited);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("a newer text").waitFor();
    await page.getByRole("button", { name: "clear" }).click();
    await result.getByRole("button", { name: "only this call" }).click();
    await page.getByText(/^2 of \d+$/).waitFor();
    await result.getByRole("button", { name: /^request/ }).click();
    await page.getByRole("heading", { name: /^req/ }).waitFor();
    await page.getByRole("button", { name: "clear" }).click();
    await page
      .locator(".detail")
      .getByRole("button", { name: /^call\(/ })
      .click();
    await page.getByText(/^2 of \d+$/).waitFor();
    await expectReport(page, page.getByRole("button", { name: /^export/ }).click());
    expect(faults).toEqual([]);
  });

  test("by the keyboard alone", async () => {
    using folder = new Scratch();
    await using run = await ServedRun.open(server, folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    const { keyboard } = page;
    await page.getByRole("row", { name: /tools\/call: slow/ }).waitFor();
    await keyboard.press("/");
    await keyboard.type("method:tools/call lat>500ms");
    await page.getByText(/^1 of \d+$/).waitFor();
    await keyboard.press("Enter");
    await keyboard.press("g");
    await page.getByRole("heading", { name: /^res/ }).waitFor();
    expect(await page.locator(".hex").textContent()).toContain("73 6c 6f 77");
    await keyboard.press("]");
    await page.getByRole("heading", { name: /^req/ }).waitFor();
    await keyboard.press("e");
    await page.locator("#edited:focus").waitFor();
    await keyboard.press("Control+A");
    await keyboard.insertText(edited);
    await keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Result" }).getByText("a newer text").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("/");
    await keyboard.press("Control+A");
    await keyboard.type("tool:everything");
    await page.getByText(/^2 of \d+$/).waitFor();
    await keyboard.press("Enter");
    await keyboard.press("x");
    await keyboard.press("Tab");
    await expectReport(page, keyboard.press("Enter"));
    expect(faults).toEqual([]);
  });
});
