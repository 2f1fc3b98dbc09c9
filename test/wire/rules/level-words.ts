import type { Revision } from "@parlance/mcp/protocol";
import { levelOf, type Requirement } from "@parlance/wire";

/** The levels of a requirement as the pages write them: each with the revision since which it holds. */
export function levelWords(requirement: Requirement, having: readonly Revision[]): string {
  const changes = having.filter((revision, index) => {
    const before = having[index - 1];
    return before === undefined || levelOf(requirement, before) !== levelOf(requirement, revision);
  });
  const words = changes.map((revision, index) => {
    const level = levelOf(requirement, revision);
    return index === 0 ? level : `${level} since ${revision.version}`;
  });
  return `${words.join(", ")}${requirement.doubt === undefined ? "" : " (a note)"}`;
}
