import { type Revision, revisions } from "@parlance/mcp/protocol";
import { type Level, levelOf, type Requirement, type Rule, rules, sentenceOf, specOf } from "@parlance/wire";
import { leaving, probes } from "../check/examination/examine.js";
import type { Probe } from "../check/examination/probe.js";
import { type Explanation, facts, type QuotedSentence } from "./explanation.js";
import { ruleExamples } from "./rule-examples.js";
import { spanText, versionsWhere } from "./spoken-in.js";

/** The ids of all rules. */
export const ruleIds: readonly string[] = rules.map(({ id }) => id);

/** Explains a rule: its requirement, the sentences of the specification, the revisions, and the party that it binds. */
export function explainRule(word: string): Explanation | undefined {
  const rule = rules.find(({ id }) => id === word.toUpperCase());
  if (rule === undefined) return undefined;
  const { id, demands, doubt, on, applies = () => true } = rule;
  const sentences = sentencesOf(rule, revisions.filter(applies));
  const level = strongestOf(rule, sentences);
  return {
    topic: "rule",
    name: id,
    title: titleOf[level],
    says: demands,
    facts: facts({
      in: spanText(versionsWhere(applies)),
      "looks at": subjects[on],
      "at fault": level === "must" ? faults[on] : undefined,
      "a note": doubt === undefined ? undefined : `because ${doubt}`,
    }),
    sentences,
    wire: ruleExamples[id] ?? [],
    spec: [...new Set(sentences.map(({ spec }) => spec))],
  };
}

const subjects: Readonly<Record<Rule["on"], string>> = {
  frame: "the bytes of a frame",
  message: "a message, and what was said before it",
  exchange: "an HTTP request and its response",
};

const faults: Readonly<Record<Rule["on"], string>> = {
  frame: "its sender",
  message: "its sender",
  exchange: "the side that the verdict names",
};

const all: readonly Probe[] = [...probes, leaving];

/** The ids of all probes. */
export const probeIds: readonly string[] = all.map(({ id }) => id);

/** Explains a probe: its requirement, the sentences of the specification, the revisions and the transports. */
export function explainProbe(word: string): Explanation | undefined {
  const probe = all.find(({ id }) => id === word.toUpperCase());
  if (probe === undefined) return undefined;
  const { id, demands, doubt, applies = () => true } = probe;
  const [overChannel, overHttp] = [havingOf("channel"), havingOf("http")];
  const having = revisions.filter((each) => overChannel.includes(each) || overHttp.includes(each));
  const sentences = sentencesOf(probe, having);
  return {
    topic: "probe",
    name: id,
    title: titleOf[strongestOf(probe, sentences)],
    says: demands,
    facts: facts({
      in: spanText(having.map(({ version }) => version)),
      over:
        overChannel.length === 0 ? "HTTP" : overHttp.length === 0 || probe === leaving ? "stdio" : "every transport",
      "a note": doubt === undefined ? undefined : `because ${doubt}`,
    }),
    sentences,
    wire: [],
    spec: [...new Set(sentences.map(({ spec }) => spec))],
  };

  function havingOf(transport: "channel" | "http"): readonly Revision[] {
    return revisions.filter((revision) => applies(revision, transport));
  }
}

/** The sentences of a rule or probe, newest first. The address is that in the newest revision that has the sentence. */
function sentencesOf(requirement: Requirement, having: readonly Revision[]): readonly QuotedSentence[] {
  const quoted: QuotedSentence[] = [];
  for (const revision of having.toReversed()) {
    const [level, text] = [levelOf(requirement, revision), sentenceOf(requirement, revision)];
    const last = quoted.at(-1);
    if (last !== undefined && last.level === level && last.text === text)
      quoted[quoted.length - 1] = { ...last, versions: [revision.version, ...last.versions] };
    else quoted.push({ versions: [revision.version], level, text, spec: specOf(requirement, revision) });
  }
  return quoted;
}

/** The strongest level that a finding can have. */
function strongestOf({ doubt }: Requirement, sentences: readonly QuotedSentence[]): Level {
  if (doubt !== undefined) return "may";
  const found = new Set(sentences.map(({ level }) => level));
  return found.has("must") ? "must" : found.has("should") ? "should" : "may";
}

/** The titles of rules and probes, by their strongest requirement level. */
const titleOf: Readonly<Record<Level, string>> = {
  must: "a requirement of the protocol",
  should: "a recommendation of the protocol, and a note where it is not followed",
  may: "worth knowing: a note, and no violation",
};
