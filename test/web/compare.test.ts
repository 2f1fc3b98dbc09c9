import { writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { parlance, toolsServer } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage, tabTo } from "./browser.js";
import { ServedPage } from "./served-page.js";

afterAll(closeBrowser);

/** Two calls of one tool with other arguments, with a call of another tool between them. */
async function recorded(folder: Scratch): Promise<string> {
  const path = folder.at("run.parlance.jsonl");
  const calls = ["add a:=2 b:=3", "hello", "add a:=2 b:=4"].flatMap((call) => ["--call", call]);
  await parlance(["run", "--once", "--revision", "2025-11-25", ...calls, "--record", path, ...toolsServer]);
  return path;
}

/** The text of each pane of the selected frame, and the title of each. */
async function panes(page: Page): Promise<readonly string[]> {
  const texts = await page.locator(".panes > .pane").allTextContents();
  return texts.map((text) => text.replaceAll(/\s+/g, " "));
}

const lastCall = /tools\/call add/;

describe.skipIf(executablePath === undefined)("the page compares", () => {
  test("a request with its response, side by side, and leads from a value to the frame of it, by the mouse", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: lastCall }).last().click();
    await page.getByRole("button", { name: /^Pair side by side/ }).click();
    await page.getByRole("heading", { name: /^res \d+/ }).waitFor();
    const [request = "", response = ""] = await panes(page);
    expect(request).toMatch(/^req \d+.*"b": 4/);
    expect(response).toMatch(/^res \d+.*"sum": 6/);
    await page.locator(".pane").nth(1).locator(".value", { hasText: '"sum": 6' }).click();
    await page.getByRole("heading", { level: 2, name: /^res/ }).waitFor();
    // The request stays on the left.
    await expect.poll(async () => (await panes(page))[0]).toMatch(/^req \d+.*"b": 4/);
    await page.getByRole("button", { name: /^Bytes and JSON/ }).click();
    expect((await page.locator(".hex mark").allTextContents()).join("")).toContain("36"); // 6
    await opened.expectAccessible();
    expect(faults).toEqual([]);
  });

  test("a request with the one before of the same tool, by the keyboard alone", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    const { keyboard } = page;
    await page.getByRole("row", { name: lastCall }).last().waitFor();
    await keyboard.press("/");
    await keyboard.type("method:tools/call kind:req");
    await page.getByText(/^\d of \d+$/).waitFor();
    await keyboard.press("Enter");
    await keyboard.press("G");
    await keyboard.press("u");
    const changes = page.locator(".changes tbody tr");
    await changes.first().waitFor();
    expect(await changes.allTextContents()).toEqual(["/params/arguments/b34"]);
    await opened.expectAccessible();
    await tabTo(page, /arguments\/b.* BUTTON 3$/);
    await keyboard.press("Enter");
    await expect.poll(async () => (await panes(page))[0]).toContain('"b": 3');
    await page.getByText("No message before this one has the same method.").or(changes.first()).waitFor();
    await keyboard.press("s");
    await expect.poll(async () => (await panes(page))[1]).toContain('"sum": 5');
    await opened.expectAccessible();
    await keyboard.press("b");
    await page.locator(".hex mark", { hasText: "33" }).first().waitFor(); // 3
    expect(faults).toEqual([]);
  });

  test("responses too, and says where there is nothing to compare", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page } = opened;
    await page
      .getByRole("row", { name: /tools\/call: add/ })
      .last()
      .click();
    await page.getByRole("button", { name: /^Changes/ }).click();
    await page.locator(".changes tbody tr").first().waitFor();
    expect(await page.locator(".changes tbody th").allTextContents()).toContain("/result/structuredContent/sum");
    await page.getByRole("row", { name: /initialize asks for/ }).click();
    await page.getByText("No message before this one has the same method.").waitFor();
    await page.getByRole("button", { name: /^Pair side by side/ }).click();
    await page.getByRole("row", { name: /notifications\/initialized/ }).click();
    await page.getByText("No other frame belongs to this one.").waitFor();
  });
});

/** Two versions of a server: the second bounds an argument, has another tool, and answers with a text that is no JSON. */
async function twoVersions(folder: Scratch): Promise<readonly [before: string, after: string]> {
  const record = async (version: number): Promise<string> => {
    const [server, path] = [folder.at(`server-${version}.mjs`), folder.at(`v${version}.parlance.jsonl`)];
    writeFileSync(server, `const version = ${version};\n${versioned}`);
    const run = ["run", "--once", "--revision", "2025-11-25", "--call", "search q=x", "--record", path];
    await parlance([...run, "--", process.execPath, server]);
    return path;
  };
  return [await record(1), await record(2)];
}

const versioned = `import { createInterface } from "node:readline";
const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const limit = version === 1 ? { type: "integer" } : { type: "integer", maximum: 50 };
const search = { name: "search", inputSchema: { type: "object", properties: { q: { type: "string" }, limit } } };
const tools = version === 1 ? [search] : [search, { name: "count", inputSchema: { type: "object" } }];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "search", version: String(version) } } });
  if (method === "tools/list") say({ id, result: { tools } });
  if (method === "tools/call") say({ id, result: { content: [{ type: "text", text: "found " + version }], isError: version === 2 } });
});
`;

describe.skipIf(executablePath === undefined)("two recordings in the page", () => {
  test("show the difference of two versions of a server, by meaning, and lead to the frames of both", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await twoVersions(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    const panel = page.getByRole("region", { name: "Compare" });
    await panel.getByRole("heading", { name: "Conversation" }).waitFor();
    const cells = async (name: string): Promise<readonly string[]> =>
      panel
        .getByRole("row")
        .filter({ has: page.getByRole("rowheader", { name, exact: true }) })
        .getByRole("cell")
        .allTextContents();
    expect(await cells("/inputSchema/properties/limit/maximum")).toEqual(["absent", "50"]);
    expect(await cells("/result/content/0/text")).toEqual(['"found 1"', '"found 2"']);
    expect(await panel.getByRole("heading", { level: 3 }).allTextContents()).toEqual([
      "changed search",
      "added count",
      expect.stringMatching(/^changed\s+tools\/call search \{"q":"x"\}ok → isErrorbefore: frame \d+frame \d+$/),
    ]);
    await opened.expectAccessible();

    await panel
      .getByRole("button", { name: /^frame/ })
      .last()
      .click();
    await page.getByRole("heading", { level: 2, name: /^req/ }).waitFor();
    await page.keyboard.press("v");
    await panel.getByRole("button", { name: /^before: frame/ }).click();
    await expect.poll(() => page.title()).toBe("v1 · parlance");
    expect(faults).toEqual([]);
  });

  test("says that a recording does not differ from itself, and which are there to choose", async () => {
    using folder = new Scratch();
    const [before, after] = await twoVersions(folder);
    await using served = await ServedPage.open(before, { PARLANCE_RECORDINGS: folder.path });
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("v");
    const panel = page.getByRole("region", { name: "Compare" });
    await panel.getByText("Choose the recording that this one is compared with.").waitFor();
    await panel.getByRole("combobox", { name: "Before" }).selectOption({ value: "v2" });
    await panel.getByText(/^\d+ differ, \d+ messages? alike$/).waitFor();
    expect(faults).toEqual([]);

    await using same = await ServedPage.open([after, after]);
    await using again = await OpenedPage.open(same.url);
    await again.page.getByText(/^no difference: \d+ messages alike$/).waitFor();
    expect(again.faults).toEqual([]);
  });
});
