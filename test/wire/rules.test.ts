import { revisions } from "@parlance/mcp";
import { type Rule, rules } from "@parlance/mcp/wire";
import { describe, expect, test } from "vitest";
import { capabilitiesCases } from "./rules/capabilities-cases.js";
import { flowsCases } from "./rules/flows-cases.js";
import { framingCases } from "./rules/framing-cases.js";
import { httpCases } from "./rules/http-cases.js";
import { informationCases } from "./rules/information-cases.js";
import { jsonRpcCases } from "./rules/json-rpc-cases.js";
import { lifecycleCases } from "./rules/lifecycle-cases.js";
import { methodsCases } from "./rules/methods-cases.js";
import { testRules } from "./rules/rule-case.js";
import { statelessCases } from "./rules/stateless-cases.js";
import { talkOf } from "./rules/talk.js";
import { toolsCases } from "./rules/tools-cases.js";

const cases = [
  ...framingCases,
  ...jsonRpcCases,
  ...lifecycleCases,
  ...statelessCases,
  ...methodsCases,
  ...capabilitiesCases,
  ...toolsCases,
  ...flowsCases,
  ...httpCases,
  ...informationCases,
];

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
