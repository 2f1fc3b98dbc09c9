import { latest, revisions } from "@parlance/mcp";
import { type Rule, rules, specOf } from "@parlance/mcp/wire";
import { type Explanation, facts } from "./explanation.js";
import { ruleExamples } from "./rule-examples.js";
import { spanText, versionsWhere } from "./spoken-in.js";

/** The ids of all rules. */
export const ruleIds: readonly string[] = rules.map(({ id }) => id);

/** What a rule demands, in which revisions, and of whom. */
export function explainRule(word: string): Explanation | undefined {
  const rule = rules.find(({ id }) => id === word.toUpperCase());
  if (rule === undefined) return undefined;
  const { id, level, demands, on, applies = () => true } = rule;
  const newest = revisions.findLast(applies) ?? latest;
  return {
    topic: "rule",
    name: id,
    title: titles[level],
    says: demands,
    facts: facts({
      in: spanText(versionsWhere(applies)),
      "looks at": subjects[on],
      "at fault": level === "bad" ? faults[on] : undefined,
    }),
    wire: ruleExamples[id] ?? [],
    spec: [specOf(rule, newest)],
  };
}

const titles: Readonly<Record<Rule["level"], string>> = {
  bad: "a rule of the protocol",
  info: "worth knowing, and no rule: nobody is at fault",
};

const subjects: Readonly<Record<Rule["on"], string>> = {
  frame: "the bytes of a frame",
  message: "a message, and what was said before it",
  exchange: "an HTTP request and its response",
};

const faults: Readonly<Record<Rule["on"], string>> = {
  frame: "whoever has sent it",
  message: "whoever has sent it",
  exchange: "the side that the verdict names",
};
