import { afterAll, describe, expect, test } from "vitest";
import { fixture, main } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { expectations } from "../fixtures/misbehaving/expected.js";
import type { Script } from "../fixtures/misbehaving/script.js";
import { driveStdio } from "../fixtures/misbehaving/stdio-client.js";
import { isLong } from "../testing/forms.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage } from "./served-page.js";

afterAll(closeBrowser);

/** A conversation of the misbehaving server with a raw client, which says the same whatever comes back. */
async function recorded(folder: Scratch, script: Script, ...flags: readonly string[]): Promise<string> {
  const path = folder.at("run.parlance.jsonl");
  const server = [process.execPath, fixture("misbehaving/server.js"), ...flags];
  await driveStdio([process.execPath, main, "tap", "--record", path, "--", ...server], script);
  return path;
}

describe.skipIf(executablePath === undefined || !isLong)("the page shows", () => {
  test.each(expectations)("$name", async ({ script, noise, stdio }) => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder, script, ...(noise ? ["--noise"] : [])));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page
      .getByRole("row", { name: /exited|ended|killed/ })
      .first()
      .waitFor();
    const marks = page.locator(".row:not(.head) .verdict > span");
    expect((await marks.allTextContents()).map((text) => text.trim())).toEqual(stdio.verdicts.map(({ rule }) => rule));
    for (const [index, { rule, party, pointer, level }] of stdio.verdicts.entries()) {
      await marks.nth(index).click();
      const card = page
        .locator(".card", { hasText: rule })
        .filter({ hasText: pointer ?? "" })
        .first();
      await card.waitFor();
      const text = (await card.textContent()) ?? "";
      expect(text).toContain(party);
      if (pointer !== undefined) expect(text).toContain(pointer);
      expect(await card.getAttribute("class")).toContain(level);
      await expect.poll(async () => (await page.locator(".hex mark").allTextContents()).join("")).not.toBe("");
      // A violation of the server leads to the change in its code.
      if (level === "must") expect(text).toContain("change the code:");
    }
    if (stdio.never !== undefined) await page.locator(".summary .pending").waitFor();
    expect(faults).toEqual([]);
  });
});

/** The message that would have been right, as the card of the rule shows it, and the part of it that differs. */
const right: readonly (readonly [tool: string, rule: string, message: string, changed: string])[] = [
  ["id-as-string", "R-5", '{"jsonrpc":"2.0","id":3,"result":', "3"],
  ["no-jsonrpc", "R-1", '{"jsonrpc":"2.0","id":3,"result":', '"jsonrpc":"2.0",'],
  ["stdout-noise", "S-2", "no message", ""],
  ["content-no-array", "M-6", `"content":[{"type":"text","text":"hello"}]`, `[{"type":"text","text":"hello"}]`],
];

describe.skipIf(executablePath === undefined)("the page", () => {
  test.each(right)("shows what would have been right in place of %s", async (tool, rule, message, changed) => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder, { tool }));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.locator(".row .verdict .must", { hasText: rule }).click();
    const mends = page.locator(".card", { hasText: rule }).locator(".mends");
    await mends.getByText("right would be:").waitFor();
    expect(await mends.textContent()).toContain(message);
    expect((await mends.locator("ins").allTextContents()).join("")).toBe(changed);
    expect(await mends.textContent()).toContain("change the code:");
    await opened.expectAccessible();
    expect(faults).toEqual([]);
  });

  test("shows each write of a frame, with its bytes and its time, and the bytes as text", async () => {
    using folder = new Scratch();
    await using served = await ServedPage.open(await recorded(folder, { tool: "three-writes", cues: 2 }));
    await using opened = await OpenedPage.open(served.url);
    const { page, faults } = opened;
    await page.getByRole("row", { name: /in three writes/ }).click();
    const writes = page.locator(".writes").getByRole("button");
    await expect.poll(() => writes.count()).toBe(3);
    const [, end = ""] = /^0–(\d+) at [\d.]+ s$/.exec((await writes.first().textContent()) ?? "") ?? [];
    expect(await writes.nth(1).textContent()).toMatch(new RegExp(`^${Number(end) + 1}–\\d+ \\+[\\d.]+ m?s$`));
    const marked = (): Promise<string> =>
      page
        .locator(".hex .glyphs mark, .text mark")
        .allTextContents()
        .then((all) => all.join(""));
    await writes.nth(2).click();
    await expect.poll(marked).toMatch(/\}$/);
    const last = await marked();
    await page.getByRole("button", { name: "as text" }).click();
    await expect.poll(marked).toBe(last);
    expect(await page.locator(".text").textContent()).toMatch(/^\{"jsonrpc":"2\.0","id":3,.*\}$/);
    await opened.expectAccessible();
    await page.locator(".json .value", { hasText: '"id"' }).click();
    await expect.poll(marked).toBe("3");
    expect(faults).toEqual([]);
  });
});
