import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { parlance, start, toolsServer } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage } from "./served-page.js";

const inBrowser = describe.skipIf(executablePath === undefined);

afterAll(closeBrowser);

/** A server that breaks two rules, slowly answers one call, and has a hostile name and result. */
const faulty = `import { createInterface } from "node:readline";
const hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>";
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const inputSchema = { type: "object" };
const outputSchema = { type: "object", properties: { temp: { type: "number" } } };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: hostile, version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "weather", inputSchema, outputSchema, icons: [{ src: "https://example.com/x.png" }] }] }),
  "tools/call": () => ({ content: [{ type: "text", text: hostile }], structuredContent: { temp: "hot", big: 1 } }),
};
console.log("[debug] " + hostile);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params);
  if (result === undefined) say({ id, error: { code: -32601, message: hostile } });
  else setTimeout(() => say({ id, result }), method === "tools/call" ? 150 : 0);
});
`;

async function faultyRecording(folder: Scratch): Promise<string> {
  const [server, path] = [folder.at("server.mjs"), folder.at("run.parlance.jsonl")];
  writeFileSync(server, faulty);
  const args = [
    "run",
    "--once",
    "--revision",
    "2025-11-25",
    "--call",
    "weather",
    "--record",
    path,
    "--",
    process.execPath,
    server,
  ];
  expect(await parlance(args)).toMatchObject({ code: 2 });
  return path;
}

inBrowser("the page", () => {
  test("shows each frame, its verdict, and the bytes of it beside its JSON, by the keyboard alone", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await faultyRecording(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    expect(await page.title()).toBe("run · parlance");
    expect(await page.getByRole("button", { name: "2 violations" }).isVisible()).toBe(true);

    // The token leaves the address; the selected row comes into it.
    await page.keyboard.press("n");
    await page.locator(".card", { hasText: "S-2" }).waitFor();
    expect(page.url()).toMatch(/\/#\/\d+$/);
    await page.keyboard.press("n");
    const verdict = page.locator(".card", { hasText: "T-1" });
    await verdict.waitFor();
    expect(await verdict.textContent()).toContain("server broke it");
    expect(await verdict.textContent()).toContain(
      "Servers MUST provide structured results that conform to this schema.",
    );
    expect(await page.locator(".hex mark").allInnerTexts()).toContain('"hot"');
    expect(await page.locator(".json .line.selected").textContent()).toContain('"temp": "hot"');

    // From the response to its request, and back.
    await page.keyboard.press("]");
    await page.getByRole("heading", { name: /^req/ }).waitFor();
    await page.keyboard.press("]");
    await page.getByRole("heading", { name: /^res/ }).waitFor();

    await page.keyboard.press("/");
    await page.keyboard.type("lat>100ms method:tools/call");
    await page.getByText(/^1 of \d+$/).waitFor();
    await page.keyboard.type(" (");
    await page.locator("#filter[aria-invalid=true]").waitFor();
    expect(await page.locator("#filter-state").textContent()).toMatch(/, at \d+$/);
    await opened.expectAccessible();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await page.getByText(/^(\d+) of \1$/).waitFor();
    expect(faults).toEqual([]);
  });

  test("links bytes and values both ways by the mouse, and makes a filter of a value", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await faultyRecording(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page } = opened;
    await page.getByRole("row", { name: /tools\/call: weather/ }).click();
    await page.locator(".json .value", { hasText: '"big": 1' }).click();
    expect(await page.locator(".hex mark").allInnerTexts()).toContain("1");
    await page
      .locator(".hex .digits")
      .first()
      .click({ position: { x: 2, y: 5 } });
    expect(await page.locator(".json .line.selected").first().textContent()).toContain("{");
    await page.locator(".json .value", { hasText: '"temp": "hot"' }).click();
    await page.getByTitle("apply as filter").click();
    await page.getByText(/^1 of \d+$/).waitFor();
    expect(await page.locator("#filter").inputValue()).toBe('/result/structuredContent/temp="hot"');
  });

  test("executes nothing that a server says, and asks no other origin", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await faultyRecording(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    page.on("dialog", (dialog) => faults.push(`dialog ${dialog.message()}`));
    const rows = page.locator(".row:not(.head)");
    await rows.first().waitFor();
    for (let place = 0; place < (await rows.count()); place += 1) await rows.nth(place).click();
    expect(await page.locator(".detail img, .grid img, .detail script").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("has no finding of axe: light, dark, forced colours, narrow; with the list of keys; without a token", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await faultyRecording(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await page.keyboard.press("n");
    await page.locator(".card").waitFor();
    await opened.expectAccessible();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await opened.expectAccessible();
    await using stranger = await OpenedPage.open(served.origin);
    await stranger.page.getByText("needs the address").waitFor();
    await stranger.expectAccessible();
  });

  test("goes on with a live recording, through a reload and the end of its server", async () => {
    using folder = new Scratch();
    const path = folder.at("run.parlance.jsonl");
    const tap = start(["tap", "--record", path, ...toolsServer], {}, "");
    await tap.ended;
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const live = folder.at("live.parlance.jsonl");
    // As a recorder that runs writes it: line by line, and the last one is the end.
    writeFileSync(live, `${lines[0]?.replace(/"pid":\d+/, `"pid":${process.pid}`)}\n`);
    await using served = await ServedPage.open(live);
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByText("There are no messages yet.").waitFor();
    for (const line of lines.slice(1)) appendFileSync(live, `${line}\n`);
    await page.getByRole("row", { name: /started, pid/ }).waitFor();
    await page.reload();
    await page.getByRole("row", { name: /started, pid/ }).waitFor();
    await page.getByRole("row", { name: /exited with code 0/ }).waitFor();
    expect(await page.getByRole("button", { name: /live/ }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("stays when the command ends, and says so", async () => {
    using folder = new Scratch();
    const served = await ServedPage.open(await faultyRecording(folder));
    await using opened = await OpenedPage.open(served.url);
    const { page } = opened;
    await page.getByRole("row", { name: /initialize asks for/ }).waitFor();
    await served[Symbol.asyncDispose]();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("row", { name: /initialize asks for/ }).isVisible()).toBe(true);
    await opened.expectAccessible();
  });

  test("opens with a run, shows it while it goes on, and stays after it", async () => {
    using folder = new Scratch();
    const run = start(["run", "--once", "--ui", "--json", ...toolsServer], { PARLANCE_RECORDINGS: folder.path });
    let errors = "";
    run.child.stderr?.on("data", (text: string) => {
      errors += text;
    });
    await run.untilError("the page stays");
    await using opened = await OpenedPage.open(/http:\/\/\S+/.exec(errors)?.[0] ?? "");
    await opened.page.getByRole("row", { name: /exited with code 0/ }).waitFor();
    expect(await opened.page.getByText("no violation").isVisible()).toBe(true);
    expect(opened.faults).toEqual([]);
    run.interrupt();
    expect(await run.ended).toMatchObject({ code: 0 });
  });
});
