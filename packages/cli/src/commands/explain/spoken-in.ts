import { versions } from "@parlance/mcp";
import { type Revision, revisions } from "@parlance/mcp/protocol";

/** Versions as a person says them: all of them, one, a span, or their list. */
export function spanText(found: readonly string[]): string {
  const ordered = versions.toReversed().filter((version) => found.includes(version));
  const [first, last] = [ordered[0], ordered.at(-1)];
  if (first === undefined || last === undefined) return "none";
  if (ordered.length === versions.length) return "every revision";
  if (first === last) return first;
  const isSpan = versions.indexOf(first) - versions.indexOf(last) === ordered.length - 1;
  if (!isSpan) return ordered.join(", ");
  return last === versions[0] ? `${first} and later` : `${first} to ${last}`;
}

/** The versions that have something. */
export function versionsWhere(has: (revision: Revision) => boolean): readonly string[] {
  return revisions.filter(has).map(({ version }) => version);
}
