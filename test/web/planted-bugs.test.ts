import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { fixture } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage, tabTo } from "./browser.js";
import { ServedRun } from "./served-page.js";

const inBrowser = describe.skipIf(executablePath === undefined);

afterAll(closeBrowser);

const planted = fixture("planted-bugs.js");

/** The arguments of `parlance run` for a server with a bug. */
async function serverWith(bug: string): Promise<readonly string[]> {
  if (bug !== "sign-in") return ["--revision", "2025-11-25", "--", process.execPath, planted, bug];
  const server = spawn(process.execPath, [planted, bug], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill());
  const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  return [url];
}

/** How a person who has only the page finds a bug. Each way ends where the page names it. */
interface Journey {
  readonly bug: string;
  /** The row after which the page has everything. */
  readonly until: RegExp;
  readonly byMouse: (page: Page) => Promise<void>;
  readonly byKeyboard: (page: Page) => Promise<void>;
  /** The final text of the page, in one element. */
  readonly found: (page: Page) => Promise<string>;
  readonly names: readonly (string | RegExp)[];
}

const cards = async (page: Page): Promise<string> => {
  await page.locator(".verdicts .card").first().waitFor();
  return ((await page.locator(".verdicts").textContent()) ?? "").replaceAll(/\s+/g, " ");
};

const aboutFrame = async (page: Page): Promise<string> => {
  return (await page.locator(".detail .about").textContent()) ?? "";
};

const journeys: readonly Journey[] = [
  {
    bug: "lost-notification",
    until: /tools\/call: index/,
    async byMouse(page) {
      await page.getByRole("button", { name: "3 violations" }).click();
      await page.getByText(/^3 of \d+$/).waitFor();
      await page.getByRole("row", { name: /P-1/ }).first().click();
    },
    async byKeyboard(page) {
      await page.keyboard.press("n");
    },
    found: cards,
    names: ["P-1", "server broke it", "/params/progressToken", 'no request has the token "request-'],
  },
  {
    bug: "wrong-id",
    until: /R-5/,
    async byMouse(page) {
      await page.getByRole("button", { name: "1 without a response" }).click();
      const process = page.getByRole("region", { name: "Process" });
      await process.getByText(/unpaired reply arrived/).waitFor();
      await process.locator(".pending .link").click();
      await page.locator(".detail .pending", { hasText: 'id "4"' }).waitFor();
      await page.getByRole("button", { name: "1 violation" }).click();
      await page.getByText(/^1 of \d+$/).waitFor();
      await page.getByRole("row", { name: /R-5/ }).click();
    },
    async byKeyboard(page) {
      await page.keyboard.press("p");
      await page.locator(".panel:focus").waitFor();
      await page
        .getByRole("region", { name: "Process" })
        .getByText(/unpaired reply arrived/)
        .waitFor();
      await tabTo(page, /unpaired reply arrived.*BUTTON/);
      await page.keyboard.press("Enter");
      await page.locator(".detail .pending", { hasText: 'id "4"' }).waitFor();
      await page.keyboard.press("n");
    },
    found: cards,
    names: ["R-5", "server broke it", "/id", 'has the id 4, which is not "4"'],
  },
  {
    bug: "slow-tool",
    until: /tools\/call: search/,
    async byMouse(page) {
      await page.getByRole("button", { name: /^Cost/ }).click();
      const slowest = page.getByRole("table", { name: "The slowest requests" }).getByRole("row").nth(1);
      await slowest.getByText("tools/call search").waitFor();
      await slowest.getByRole("button").click();
      await page.getByRole("button", { name: /^response/ }).click();
    },
    async byKeyboard(page) {
      await page.keyboard.press("$");
      await page.locator(".panel:focus").waitFor();
      await page.getByRole("table", { name: "The slowest requests" }).waitFor();
      await tabTo(page, /tools\/call search.*BUTTON/);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: /^req/ }).waitFor();
      await page.keyboard.press("]");
    },
    async found(page) {
      await page.getByRole("heading", { name: /^res/ }).waitFor();
      return aboutFrame(page);
    },
    names: ["tool:search", /after (?:[6-9]\d\d\.\d ms|\d+\.\d\d s)/],
  },
  {
    bug: "refused-schema",
    until: /tools\/list: 3 tools/,
    async byMouse(page) {
      await page.getByRole("button", { name: /^Cost/ }).click();
      const row = page.getByRole("table", { name: "What model providers refuse" }).getByRole("row", { name: /K-2/ });
      await row.getByRole("button").click();
    },
    async byKeyboard(page) {
      await page.keyboard.press("$");
      await page.locator(".panel:focus").waitFor();
      await page.getByRole("table", { name: "What model providers refuse" }).waitFor();
      await tabTo(page, /^K-2.*BUTTON/);
      await page.keyboard.press("Enter");
    },
    async found(page) {
      await page.locator(".json .line.selected").first().waitFor();
      const pointer = (await page.locator(".pointer").textContent()) ?? "";
      return pointer;
    },
    names: ["/inputSchema/anyOf"],
  },
  {
    bug: "sign-in",
    until: /the exchange has ended \(exchange 3\)/,
    async byMouse(page) {
      await page
        .getByRole("row", { name: /server\/discover.*HTTP 401/ })
        .first()
        .waitFor();
      await page.getByRole("alert").getByRole("button", { name: /^why/ }).click();
      await page.getByRole("button", { name: "Examine the server" }).click();
    },
    async byKeyboard(page) {
      await page.getByRole("alert").waitFor();
      await page.keyboard.press("h");
      await page.locator(".panel:focus").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
    },
    async found(page) {
      await page.locator(".doctor[aria-busy=false] .checks > li").first().waitFor();
      return (await page.locator(".checks > li", { hasText: "metadata failed" }).textContent()) ?? "";
    },
    names: ['`resource` is "https://staging.example/mcp"', "what to do: it has to be http://127.0.0.1:"],
  },
];

inBrowser.each(journeys)("who has only the page finds $bug", ({ bug, until, names, found, ...ways }) => {
  test.each(["byMouse", "byKeyboard"] as const)("%s", async (way) => {
    using folder = new Scratch();
    await using run = await ServedRun.open(await serverWith(bug), folder);
    await using opened = await OpenedPage.open(run.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: until }).first().waitFor();
    await ways[way](page);
    const says = await found(page);
    for (const name of names) expect(says).toMatch(name);
    await opened.expectAccessible();
    expect(faults).toEqual([]);
  });
});
