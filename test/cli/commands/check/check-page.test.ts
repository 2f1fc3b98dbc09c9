import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Revision, revisions } from "@parlance/mcp/protocol";
import { expect, test } from "vitest";
import { leaving, probes } from "../../../../packages/cli/src/commands/check/examination/examine.js";
import type { Probe } from "../../../../packages/cli/src/commands/check/examination/probe.js";
import { levelWords } from "../../../wire/rules/level-words.js";

/** The revisions that have a probe, over one transport or the other. */
function havingOf({ applies = () => true }: Probe): readonly Revision[] {
  return revisions.filter((each) => applies(each, "channel") || applies(each, "http"));
}

test("the page on checking lists every probe as it is, and no two have one id", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../../docs/reference/check.md"), "utf8");
  const [, table = ""] = page.split("|---|---|---|\n").slice(-2);
  const all = [...probes, leaving];
  expect(table.trimEnd().split("\n")).toEqual(
    all.map((probe) => `| ${probe.id} | ${levelWords(probe, havingOf(probe))} | ${probe.demands} |`),
  );
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
});
