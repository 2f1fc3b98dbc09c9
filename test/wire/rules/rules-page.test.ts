import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Revision, revisions } from "@parlance/mcp/protocol";
import { type Requirement, type Rule, rules, specOf } from "@parlance/wire";
import { expect, test } from "vitest";
import { leaving, probes } from "../../../packages/cli/src/commands/check/examination/examine.js";
import { levelWords } from "./level-words.js";
import { leadsSomewhere } from "./spec-links.js";

const oldest = revisions[0]?.version;
const newest = revisions.at(-1)?.version;

/** The revisions that have a rule, in few words. */
function where({ applies }: Rule): string {
  const having = revisions.filter((revision) => applies?.(revision) ?? true).map(({ version }) => version);
  const [first = "", last = ""] = [having[0], having.at(-1)];
  if (first === oldest && last === newest) return "all";
  if (first === last) return first;
  return last === newest ? `since ${first}` : `${first} … ${last}`;
}

function row(rule: Rule): string {
  const { id, party, demands } = rule;
  const having = revisions.filter((each) => rule.applies?.(each) ?? true);
  const revision = having.at(-1);
  const spec = revision === undefined ? "" : specOf(rule, revision);
  return `| [${id}](${spec}) | ${levelWords(rule, having)} | ${party} | ${where(rule)} | ${demands} |`;
}

test("the page on rules lists all of them as they are", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/reference/rules.md"), "utf8");
  const [, listed = ""] = page.split("## All rules\n\n");
  const table = [
    "| rule | level | who can break it | revisions | what is demanded |",
    "|---|---|---|---|---|",
    ...rules.map(row),
  ];
  expect(listed.trimEnd().split("\n")).toEqual(table);
});

type Linked = readonly [id: string, requirement: Requirement, having: readonly Revision[]];

const linked: readonly Linked[] = [
  ...rules.map((rule): Linked => [rule.id, rule, revisions.filter((each) => rule.applies?.(each) ?? true)]),
  ...[...probes, leaving].map((probe): Linked => {
    const { applies = () => true } = probe;
    return [probe.id, probe, revisions.filter((each) => applies(each, "channel") || applies(each, "http"))];
  }),
];

test.each(linked)("%s leads to a section that is there, in every revision", (_id, requirement, having) => {
  for (const revision of having) {
    const address = specOf(requirement, revision);
    expect(leadsSomewhere(address), address).toBe(true);
  }
});
