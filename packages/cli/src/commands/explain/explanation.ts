import { versions } from "@parlance/mcp";
import { type Revision, revisions } from "@parlance/mcp/protocol";
import type { Level, Sender } from "@parlance/wire";

/** What can be explained. */
export type Topic = "code" | "request" | "notification" | "revision" | "rule" | "probe";

/** A message as it crosses. */
export interface WireExample {
  readonly from: Sender;
  readonly raw: string;
}

/** What one word means, in one reading. */
export interface Explanation {
  readonly topic: Topic;
  readonly name: string;
  /** Whose word it is, and what kind of thing. */
  readonly title: string;
  /** One sentence. */
  readonly says: string;
  /** What else is worth knowing, under its label. */
  readonly facts: readonly Fact[];
  /** Of a rule or probe: the sentences that it rests on, newest first; where revisions have the same, once. */
  readonly sentences?: readonly QuotedSentence[];
  readonly wire: readonly WireExample[];
  /** Where the specification says so. */
  readonly spec: readonly string[];
}

/** What revisions say, word for word. */
export interface QuotedSentence {
  readonly versions: readonly string[];
  readonly level: Level;
  /** Undefined where no sentence demands it. */
  readonly text: string | undefined;
  readonly spec: string;
}

/** One line of an explanation. */
interface Fact {
  readonly label: string;
  readonly text: string;
}

/** Facts that are there to be told: an empty text is none. */
export function facts(rows: Readonly<Record<string, string | undefined>>): readonly Fact[] {
  return Object.entries(rows).flatMap(([label, text]) => (text === undefined || text === "" ? [] : [{ label, text }]));
}

const specification = "https://modelcontextprotocol.io/specification";

/** The address of a page of the specification in a version. */
export function specPage(version: string, page: string): string {
  return `${specification}/${version}/${page}`;
}

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
