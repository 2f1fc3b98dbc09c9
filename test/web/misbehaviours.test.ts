import { afterAll, describe, expect, test } from "vitest";
import { fixture, parlance } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";
import { expectations } from "../fixtures/misbehaving/expected.js";
import { isLong } from "../testing/forms.js";
import { closeBrowser, executablePath, OpenedPage } from "./browser.js";
import { ServedPage } from "./served-page.js";

afterAll(closeBrowser);

/** Misbehaviours that need a client of their own are in the tests of recordings. */
const shown = expectations.filter(
  ({ script }) => script.capabilities?.sampling === undefined && script.cues === undefined,
);

describe.skipIf(executablePath === undefined || !isLong)("the page shows", () => {
  test.each(shown)("$name", async ({ script, noise, stdio }) => {
    const { tool, revision = "2025-11-25" } = script;
    using folder = new Scratch();
    const path = folder.at("run.parlance.jsonl");
    const server = [process.execPath, fixture("misbehaving/server.js"), ...(noise ? ["--noise"] : [])];
    const how = ["--once", "--revision", revision, "--timeout", "3s", "--call", tool, "--record", path];
    await parlance(["run", ...how, "--", ...server]);
    await using served = await ServedPage.open(path);
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
    }
    if (stdio.waiting !== undefined) await page.locator(".summary .pending").waitFor();
    expect(faults).toEqual([]);
  });
});
