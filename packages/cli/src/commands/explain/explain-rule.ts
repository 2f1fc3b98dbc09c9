import { revisions } from "@parlance/mcp/protocol";
import { type Rule, rules } from "@parlance/wire";
import { type Explanation, facts } from "./explanation.js";
import { sentencesOf, strongestOf, titleOf } from "./quoted-sentences.js";
import { ruleExamples } from "./rule-examples.js";
import { spanText, versionsWhere } from "./spoken-in.js";

/** The ids of all rules. */
export const ruleIds: readonly string[] = rules.map(({ id }) => id);

/** What a rule demands, by which sentences, in which revisions, and of whom. */
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
