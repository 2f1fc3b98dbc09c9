import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { fixture, main } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";

afterAll(closeBrowser);

const clientInfo = { name: "host", version: "1" };
const initialize = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};

describe.skipIf(executablePath === undefined)("parlance tap --ui", () => {
  test.each(["mouse", "keyboard"] as const)("shows a conversation while a host has it, by the %s", async (way) => {
    using folder = new Scratch();
    const server = [process.execPath, fixture("tools-server.js")];
    const host = spawn(process.execPath, [main, "tap", "--ui", "--record", folder.at("tap.jsonl"), "--", ...server]);
    onTestFinished(() => void host.kill());
    const send = (message: object): void =>
      void host.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    let output = "";
    host.stdout.on("data", (text) => {
      output += text;
    });
    const [said] = (await once(createInterface({ input: host.stderr }), "line")) as [string];
    expect(said).toMatch(/^parlance: open http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+$/);
    await using opened = await OpenedPage.open(said.replace("parlance: open ", ""));
    const { page, faults } = opened;
    send(initialize);
    await page.getByRole("row", { name: /initialize: tools-server/ }).waitFor();
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/list" });
    const answer = page.getByRole("row", { name: /tools\/list: \d+ tools/ });
    await answer.waitFor();
    if (way === "mouse") await answer.click();
    else await page.keyboard.press("G");
    await page.getByRole("heading", { level: 2, name: /^res/ }).waitFor();
    await opened.expectAccessible();
    host.stdin.end();
    const [code] = await once(host, "close");
    expect(code).toBe(0);
    // The host gets what the server has written, and nothing else.
    expect(
      output
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toEqual([1, 2]);
    await page.getByRole("alert").getByText("has ended").waitFor();
    expect(await answer.isVisible()).toBe(true);
    // The connection that the page tries again is refused.
    expect(faults.filter((fault) => !fault.includes("ERR_CONNECTION_REFUSED"))).toEqual([]);
  });
});
