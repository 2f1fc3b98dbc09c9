import type { Revision } from "@parlance/mcp/protocol";
import { type Level, levelOf, type Requirement, sentenceOf, specOf } from "@parlance/wire";
import type { QuotedSentence } from "./explanation.js";

/** The sentences of a rule or probe, newest first. The address is that in the newest revision that has the sentence. */
export function sentencesOf(requirement: Requirement, having: readonly Revision[]): readonly QuotedSentence[] {
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
export function strongestOf({ doubt }: Requirement, sentences: readonly QuotedSentence[]): Level {
  if (doubt !== undefined) return "may";
  const found = new Set(sentences.map(({ level }) => level));
  return found.has("must") ? "must" : found.has("should") ? "should" : "may";
}

/** What a rule or probe is, by its strongest level. */
export const titleOf: Readonly<Record<Level, string>> = {
  must: "a requirement of the protocol",
  should: "a recommendation of the protocol, and a note where it is not followed",
  may: "worth knowing: a note, and no violation",
};
