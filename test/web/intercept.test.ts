import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readRecording } from "@parlance/wire";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { started, type Tapped } from "../cli/commands/tap/tapped.js";
import { fixture, main, toolsServer } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedRun } from "./served-page.js";

afterAll(closeBrowser);

const clientInfo = { name: "host", version: "1" };
const initialize = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};
const call = (id: number): object => ({ id, method: "tools/call", params: { name: "add", arguments: { a: 2, b: 3 } } });

interface Host extends Tapped {
  readonly url: string;
  readonly path: string;
  send(message: object): void;
}

/** A host, its server, and the tap between them. */
async function host(folder: Scratch, ...own: readonly string[]): Promise<Host> {
  const path = folder.at("tap.jsonl");
  const words = [main, "tap", "--ui", ...own, "--record", path, "--", process.execPath, fixture("tools-server.js")];
  const child = spawn(process.execPath, words);
  onTestFinished(() => void child.kill());
  const tapped = started(child);
  const url = await new Promise<string>((resolve) => {
    child.stderr.on("data", (text: string) => {
      const [found] = /http:\S+/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return { ...tapped, url, path, send };
}

describe.skipIf(executablePath === undefined)("a breakpoint in the page", () => {
  test("holds a request, which is changed with the mouse and sent on", async () => {
    using folder = new Scratch();
    const { child, send, until, url, path, ended } = await host(folder);
    await using opened = await OpenedPage.open(url);
    const { page, faults } = opened;
    send(initialize);
    await until('"id":1');
    await page.getByRole("row", { name: /initialize: tools-server/ }).waitFor();
    await page.getByRole("button", { name: /^Intercept/ }).click();
    const panel = page.getByRole("region", { name: "Intercept" });
    await panel.getByText("No message is held").waitFor();
    await panel.getByLabel("Messages").selectOption("of the client");
    await panel.getByLabel("Filter").fill("tool:add");
    await panel.getByRole("button", { name: "Add" }).click();
    await panel.getByLabel("breakpoint dir:c2s tool:add").waitFor();
    send(call(2));
    await panel.getByRole("heading", { name: /request tools\/call id 2 of the client/ }).waitFor();
    await panel.getByText(/sent in [45]:\d\d/).waitFor();
    await opened.expectAccessible();
    const text = panel.getByLabel("Message", { exact: true });
    await expect.poll(() => text.inputValue()).toContain('"arguments": {\n      "a": 2,');
    const held = await text.inputValue();
    await text.fill("{");
    const fault = panel.locator("#held-fault");
    const colour = await fault.evaluate((element) => getComputedStyle(element).color);
    await expect.poll(() => text.evaluate((element) => getComputedStyle(element).borderColor)).toBe(colour);
    await text.fill(held.replace('"a": 2', '"a": 40'));
    await panel.getByRole("button", { name: /Send changed/ }).click();
    await until('"sum":43');
    await panel.getByText("No message is held").waitFor();
    await panel.getByRole("button", { name: /^frame \d+/ }).waitFor();
    expect(faults).toEqual([]);
    child.stdin?.end();
    await ended;
    const { entries } = readRecording(readFileSync(path));
    const changed = entries.flatMap((entry) => (entry.k === "f" && entry.by === "mutate" ? [entry.raw] : []));
    expect(changed).toEqual([JSON.stringify({ jsonrpc: "2.0", ...call(2) }).replace('"a":2', '"a":40')]);
  });

  test("holds a message while the page is loaded again", async () => {
    using folder = new Scratch();
    const { send, until, url } = await host(folder, "--break", "kind:req -method:initialize");
    await using opened = await OpenedPage.open(url);
    const { page, faults } = opened;
    send(initialize);
    await until('"id":1');
    send(call(2));
    await page.getByRole("button", { name: "1 held" }).waitFor();
    // Longer than a page may be away that is not loaded again.
    await page.route("**/page.js", async (route) => {
      await sleep(2_500);
      await route.continue();
    });
    await page.reload();
    await page.getByRole("button", { name: "1 held" }).waitFor();
    send(call(3));
    await page.getByRole("button", { name: "2 held" }).waitFor();
    await page.keyboard.press("i");
    await page.getByRole("region", { name: "Intercept" }).getByRole("heading", { name: /id 2/ }).waitFor();
    await page.keyboard.press("r");
    await until('"id":2');
    expect(faults).toEqual([]);
  });

  test("works with the keyboard: send, answer, drop", async () => {
    using folder = new Scratch();
    const { send, until, url } = await host(folder, "--break", "kind:req -method:initialize");
    await using opened = await OpenedPage.open(url);
    const { page, faults } = opened;
    send(initialize);
    await until('"id":1');
    await page.getByRole("row", { name: /initialize: tools-server/ }).waitFor();
    for (const id of [2, 3, 4]) send(call(id));
    await page.getByRole("button", { name: "3 held" }).waitFor();
    await page.keyboard.press("i");
    const panel = page.getByRole("region", { name: "Intercept" });
    await panel.getByRole("heading", { name: /id 2/ }).waitFor();
    await opened.expectAccessible();
    await page.keyboard.press("r");
    await until('"id":2');
    await panel.getByRole("heading", { name: /id 3/ }).waitFor();
    await panel.getByLabel("answer with an error").check();
    await panel.getByLabel("Message", { exact: true }).fill('{"jsonrpc":"2.0","id":3,');
    await panel.getByText(/^not JSON/).waitFor();
    await opened.expectAccessible();
    await panel
      .getByLabel("Message", { exact: true })
      .fill('{"jsonrpc":"2.0","id":3,"error":{"code":1,\n"message":"by hand"}}');
    await page.keyboard.press("Control+Enter");
    await until('{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"by hand"}}\n');
    await panel.getByRole("heading", { name: /id 4/ }).waitFor();
    await panel.focus();
    await page.keyboard.press("Delete");
    await panel.getByText("No message is held").waitFor();
    expect(faults).toEqual([]);
  });

  test("holds a response to the client of parlance run, whose call gets the changed one", async () => {
    using folder = new Scratch();
    await using served = await ServedRun.open(toolsServer, folder);
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /tools\/list: \d+ tools/ }).waitFor();
    await page.keyboard.press("i");
    const panel = page.getByRole("region", { name: "Intercept" });
    await panel.getByLabel("Filter").fill("tool:echo kind:res");
    await panel.getByRole("button", { name: "Add" }).click();
    await panel.getByLabel("breakpoint tool:echo kind:res").waitFor();
    await page.getByRole("button", { name: /^echo/ }).click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await panel.getByRole("heading", { name: /response tools\/call id \d+ of the server/ }).waitFor();
    const text = panel.getByLabel("Message", { exact: true });
    await expect.poll(() => text.inputValue()).toContain("content");
    await text.fill((await text.inputValue()).replace(/"text": ".*"/, '"text": "changed on its way"'));
    await page.keyboard.press("Control+Enter");
    await page.locator(".result").getByText("changed on its way").waitFor();
    expect(faults).toEqual([]);
  });

  test("and a fault, which is switched on and off", async () => {
    using folder = new Scratch();
    const { send, until, url } = await host(folder);
    await using opened = await OpenedPage.open(url);
    const { page, faults } = opened;
    send(initialize);
    await until('"id":1');
    await page.getByRole("row", { name: /initialize: tools-server/ }).waitFor();
    await page.keyboard.press("i");
    const panel = page.getByRole("region", { name: "Intercept" });
    await panel.getByLabel("Filter").fill("kind:res");
    await panel.getByLabel("What happens").fill("explode");
    await page.keyboard.press("Enter");
    await panel.getByRole("alert").getByText("it must be a filter, => and a fault").waitFor();
    await panel.getByLabel("What happens").fill("string-id");
    await page.keyboard.press("Enter");
    const rule = panel.getByLabel("fault kind:res => string-id");
    await rule.waitFor();
    send({ id: 7, method: "ping" });
    await until('"id":"7"');
    await panel.getByRole("button", { name: /^frame \d+/ }).waitFor();
    await opened.expectAccessible();
    await rule.uncheck();
    await panel.locator('ul[aria-busy="false"]').waitFor();
    send({ id: 8, method: "ping" });
    await until('"id":8');
    await panel.getByRole("button", { name: "remove kind:res => string-id" }).click();
    await rule.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });
});
