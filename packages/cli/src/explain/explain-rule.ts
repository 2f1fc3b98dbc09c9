import { revisions } from "@parlance/mcp";
import { type Level, levelOf, type Rule, rules, sentenceOf, specOf } from "@parlance/mcp/wire";
import { type Explanation, facts, type QuotedSentence } from "./explanation.js";
import { ruleExamples } from "./rule-examples.js";
import { spanText, versionsWhere } from "./spoken-in.js";

/** The ids of all rules. */
export const ruleIds: readonly string[] = rules.map(({ id }) => id);

/** What a rule demands, by which sentences, in which revisions, and of whom. */
export function explainRule(word: string): Explanation | undefined {
  const rule = rules.find(({ id }) => id === word.toUpperCase());
  if (rule === undefined) return undefined;
  const { id, demands, doubt, on, applies = () => true } = rule;
  const sentences = sentencesOf(rule);
  const level = doubt === undefined ? strongest(sentences) : "may";
  return {
    topic: "rule",
    name: id,
    title: titles[level],
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

function strongest(sentences: readonly QuotedSentence[]): Level {
  const found = new Set(sentences.map(({ level }) => level));
  return found.has("must") ? "must" : found.has("should") ? "should" : "may";
}

/** The sentences of a rule, newest first. The address is that in the newest revision that has the sentence. */
function sentencesOf(rule: Rule): readonly QuotedSentence[] {
  const quoted: QuotedSentence[] = [];
  for (const revision of revisions.toReversed()) {
    if (rule.applies?.(revision) === false) continue;
    const [level, text] = [levelOf(rule, revision), sentenceOf(rule, revision)];
    const last = quoted.at(-1);
    if (last !== undefined && last.level === level && last.text === text)
      quoted[quoted.length - 1] = { ...last, versions: [revision.version, ...last.versions] };
    else quoted.push({ versions: [revision.version], level, text, spec: specOf(rule, revision) });
  }
  return quoted;
}

const titles: Readonly<Record<Level, string>> = {
  must: "a requirement of the protocol",
  should: "a recommendation of the protocol, and a note where it is not followed",
  may: "worth knowing: a note, and no violation",
};

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
