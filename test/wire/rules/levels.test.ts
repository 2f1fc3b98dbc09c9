import { type Revision, revisions } from "@parlance/mcp/protocol";
import {
  Conversation,
  type Level,
  levelOf,
  levelOfFinding,
  type Requirement,
  rules,
  sentenceOf,
  specOf,
  violations,
} from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { leaving, probes } from "../../../packages/cli/src/commands/check/examination/examine.js";
import { cases } from "./cases/all-cases.js";
import { crossingsOf, entriesOf, readAll, tried } from "./rule-case.js";
import { leadsSomewhere } from "./spec-links.js";
import { talkOf } from "./talk.js";

/** The requirement, and the revisions that have it. */
type Judged = readonly [id: string, requirement: Requirement, having: readonly Revision[]];

const judged: readonly Judged[] = [
  ...rules.map((rule): Judged => [rule.id, rule, revisions.filter((each) => rule.applies?.(each) ?? true)]),
  ...[...probes, leaving].map((probe): Judged => {
    const { applies = () => true } = probe;
    return [probe.id, probe, revisions.filter((each) => applies(each, "channel") || applies(each, "http"))];
  }),
];

/** The level that the words of BCP 14 give to a sentence; undefined where it has none of them. */
function levelOfWords(sentence: string): Level | undefined {
  if (/\b(?:MUST|REQUIRED|SHALL)\b/.test(sentence)) return "must";
  if (/\b(?:SHOULD|RECOMMENDED)\b/.test(sentence)) return "should";
  return /\b(?:MAY|OPTIONAL)\b/.test(sentence) ? "may" : undefined;
}

/** Whether the sentence is the schema's own: what it declares has no words, and binds as a MUST does. */
function isOfSchema(requirement: Requirement, revision: Revision): boolean {
  return /\/(?:schema(?:#.+)?|basic#schema)$/.test(specOf(requirement, revision));
}

describe.each(judged)("%s", (_id, requirement, having) => {
  test.each(having.map((revision) => [revision.version, revision] as const))(
    "has the level of the words of its sentence in %s",
    (_version, revision) => {
      const level = levelOf(requirement, revision);
      const sentence = sentenceOf(requirement, revision);
      const byWords = sentence === undefined ? "may" : levelOfWords(sentence);
      if (byWords !== undefined) expect(level, sentence).toBe(byWords);
      else expect(isOfSchema(requirement, revision) ? ["must", "may"] : ["may"], sentence).toContain(level);
    },
  );

  test("quotes one line as plain text", () => {
    for (const revision of having) {
      const sentence = sentenceOf(requirement, revision);
      if (sentence !== undefined) expect(sentence).toMatch(/^(?! )(?!.*(?:\*\*[A-Za-z]|\]\(|\n| {2})).{10,}$/);
    }
  });
});

describe.each(cases.map((each) => [`${each.rule}${each.why === undefined ? "" : `, ${each.why}`}`, each] as const))(
  "%s",
  (_name, each) => {
    test("gives verdicts that have the level of the words of their own sentence, and its address", () => {
      for (const { talk, carry } of tried(crossingsOf(each))) {
        const transcript = carry(each.breaks(talk));
        for (const verdict of transcript === undefined ? [] : readAll(transcript).verdicts) {
          const { level, sentence, doubt, spec } = verdict;
          const byWords = sentence === undefined ? "may" : levelOfWords(sentence);
          const isSchema = /\/(?:schema(?:#.+)?|basic#schema)$/.test(spec);
          if (doubt !== undefined || (byWords === undefined && !isSchema)) expect(level, sentence).toBe("may");
          else if (byWords !== undefined) expect(level, sentence).toBe(byWords);
          expect(leadsSomewhere(spec), spec).toBe(true);
        }
      }
    });
  },
);

test("a finding that proves nothing is a note, whatever its sentence says", () => {
  const doubted = judged.filter(([, { doubt }]) => doubt !== undefined);
  expect(doubted.map(([id]) => id)).toEqual(["R-13", "C-6", "C-7", "C-8", "X-1", "X-2", "H-1", "I-4", "XM-7"]);
  for (const [, requirement, having] of doubted)
    for (const revision of having) expect(levelOfFinding(requirement, revision)).toBe("may");
});

test.each([
  ["C-1", "should", "should", "must", "must", "may"],
  ["C-2", "should", "should", "must", "must", "must"],
  ["C-5", "must", "must", "must", "must", "must"],
  ["L-1", "must", "must", "must", "must", undefined],
  ["L-2", "should", "should", "should", "should", undefined],
  ["L-3", "should", "should", "should", "should", undefined],
  ["M-4", "should", "should", "must", "must", "must"],
  ["T-3", "may", "may", "may", "must", "must"],
  ["T-5", "may", "may", "may", "should", "should"],
  ["XF-10", "should", "should", "should", "should", "must"],
  ["XM-10", "should", "should", "should", "should", "should"],
])("%s is %s, %s, %s, %s and %s, from the first revision to the newest", (id, ...levels) => {
  const [, requirement, having = []] = judged.find(([each]) => each === id) ?? [];
  const found = revisions.map((revision) =>
    requirement !== undefined && having.includes(revision) ? levelOf(requirement, revision) : undefined,
  );
  expect(found).toEqual(levels);
});

test.each([
  ["2024-11-05", "should", 0],
  ["2025-03-26", "should", 0],
  ["2025-06-18", "must", 1],
] as const)("in %s asking for what was not declared is a %s, which makes %d violations", (version, level, broken) => {
  const talk = talkOf(version);
  const entries = entriesOf([...talk.opening({ server: {} }), talk.list(1)]);
  const conversation = new Conversation();
  for (const entry of entries) conversation.push(entry);
  expect(conversation.verdicts).toMatchObject([
    {
      level,
      sentence: `Both parties ${level.toUpperCase()}: … Only use capabilities that were successfully negotiated`,
    },
  ]);
  expect(violations(entries)).toHaveLength(broken);
});
