import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leaving, probes } from "../../packages/cli/src/examination/examine.js";

test("the page on checking lists every probe as it is, and no two have one id", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/check.md"), "utf8");
  const [, table = ""] = page.split("|---|---|---|\n").slice(-2);
  const all = [...probes, leaving];
  expect(table.trimEnd().split("\n")).toEqual(
    all.map(({ id, weight, demands }) => `| ${id} | ${weight} | ${demands} |`),
  );
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
});
