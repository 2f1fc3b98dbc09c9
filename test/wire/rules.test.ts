import { revisions } from "@parlance/mcp";
import { type Rule, rules } from "@parlance/mcp/wire";
import { describe, expect, test } from "vitest";
import { cases } from "./rules/all-cases.js";
import { testRules } from "./rules/rule-case.js";
import { talkOf } from "./rules/talk.js";

testRules(cases);

function appliesTo(rule: Rule): readonly string[] {
  return revisions.filter((revision) => rule.applies?.(revision) ?? true).map(({ version }) => version);
}

test("ids are taken once", () => {
  const ids = rules.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
});

describe.each(rules.map((rule) => [rule.id, rule] as const))("%s", (id, rule) => {
  test("has transcripts in every revision that it applies to", () => {
    const covered = new Set(
      cases
        .filter((each) => each.rule === id)
        .flatMap(({ where }) => appliesTo(rule).filter((version) => where?.(talkOf(version)) ?? true)),
    );
    expect([...covered].toSorted()).toEqual(appliesTo(rule).toSorted());
  });

  test("demands one sentence, without its period", () => {
    expect(rule.demands).toMatch(/^[A-Z](?!.*\. [A-Z]).*[^.]$/);
  });
});
