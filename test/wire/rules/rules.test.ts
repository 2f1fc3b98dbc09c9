import { versions } from "@parlance/mcp";
import { revisions } from "@parlance/mcp/protocol";
import { type Rule, rules } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { cases } from "./cases/all-cases.js";
import { crossingsOf, type RuleCase, testRules } from "./rule-case.js";
import { talkOf } from "./talk.js";

testRules(cases);

function appliesTo(rule: Rule): readonly string[] {
  return revisions.filter((revision) => rule.applies?.(revision) ?? true).map(({ version }) => version);
}

/** Whether a transcript of a case crosses HTTP in a revision, as it is written or carried. */
function crossesHttp(each: RuleCase, version: string, side: "breaks" | "legal"): boolean {
  return crossingsOf(each).some(
    ({ talk, carry }) => talk.version === version && carry(each[side](talk))?.some(({ k }) => k === "h") === true,
  );
}

/** The rules that cannot cross HTTP, and in which revisions. */
const stdioOnly: ReadonlyMap<string, readonly string[]> = new Map([
  ["S-1", versions.toReversed()],
  ["S-2", versions.toReversed()],
  ["S-3", versions.toReversed()],
  // Over HTTP, a status refuses the body, and some servers send this error with each.
  ["R-15", versions.toReversed()],
  ["I-5", versions.toReversed()],
  // Over HTTP a notification has a stream of its own, which need not be open.
  ...["C-6", "C-7", "C-8"].map(
    (id) => [id, versions.toReversed().filter((version) => version !== "2026-07-28")] as const,
  ),
  // It is about transports that are neither.
  ["E-2", versions.toReversed()],
  // Over HTTP every request of the stateless era may be of another client.
  ["R-4", ["2026-07-28"]],
  ["P-2", ["2026-07-28"]],
  ["N-5", ["2026-07-28"]],
]);

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

  test("has transcripts over HTTP in every revision that it applies to, or cannot cross it", () => {
    const own = cases.filter((each) => each.rule === id);
    const crossing = (side: "breaks" | "legal"): readonly string[] =>
      appliesTo(rule).filter((version) => !own.some((each) => crossesHttp(each, version, side)));
    expect({ breaks: crossing("breaks"), legal: crossing("legal") }).toEqual(
      stdioOnly.has(id) ? { breaks: stdioOnly.get(id), legal: stdioOnly.get(id) } : { breaks: [], legal: [] },
    );
  });

  test("demands one sentence, without its period", () => {
    expect(rule.demands).toMatch(/^[A-Z](?!.*\. [A-Z]).*[^.]$/);
  });
});
