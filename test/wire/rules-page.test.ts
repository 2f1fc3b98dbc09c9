import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { revisions } from "@parlance/mcp";
import { type Rule, rules, specOf } from "@parlance/mcp/wire";
import { expect, test } from "vitest";
import pages from "../fixtures/spec-pages.json" with { type: "json" };

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
  const { id, level, party, demands } = rule;
  const revision = revisions.findLast((each) => rule.applies?.(each) ?? true);
  const spec = revision === undefined ? "" : specOf(rule, revision);
  return `| [${id}](${spec}) | ${level} | ${party} | ${where(rule)} | ${demands} |`;
}

test("the page on rules lists all of them as they are", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/rules.md"), "utf8");
  const [, listed = ""] = page.split("## All rules\n\n");
  const table = [
    "| rule | level | who can break it | revisions | what is demanded |",
    "|---|---|---|---|---|",
    ...rules.map(row),
  ];
  expect(listed.trimEnd().split("\n")).toEqual(table);
});

const sections: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = pages;

test.each(rules.map((rule) => [rule.id, rule] as const))(
  "%s leads to a section that is there, in every revision",
  (_id, rule) => {
    for (const revision of revisions.filter((each) => rule.applies?.(each) ?? true)) {
      const address = new URL(specOf(rule, revision));
      const { host, pathname, hash } = address;
      if (host !== "modelcontextprotocol.io") continue; // What JSON and JSON-RPC say has no revisions.
      const page = pathname.replace(`/specification/${revision.version}/`, "");
      const anchors = sections[revision.version]?.[page];
      expect(anchors, `${address}`).toBeDefined();
      if (hash !== "") expect(anchors, `${address}`).toContain(hash.slice(1));
    }
  },
);
