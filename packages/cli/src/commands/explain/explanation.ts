import { versions } from "@parlance/mcp";
import { type Revision, revisions } from "@parlance/mcp/protocol";
import type { Level, Sender } from "@parlance/wire";

/** The subjects that can be explained. */
export type Topic = "code" | "request" | "notification" | "revision" | "rule" | "probe";

/** A message on the wire. */
export interface WireExample {
  readonly from: Sender;
  readonly raw: string;
}

/** One meaning of a word. */
export interface Explanation {
  readonly topic: Topic;
  readonly name: string;
  /** Its origin and its kind. */
  readonly title: string;
  /** One sentence. */
  readonly says: string;
  /** Further facts, each with a label. */
  readonly facts: readonly Fact[];
  /** For a rule or probe: the sentences that it rests on, newest first, without duplicates. */
  readonly sentences?: readonly QuotedSentence[];
  readonly wire: readonly WireExample[];
  /** Pages of the specification. */
  readonly spec: readonly string[];
}

/** A sentence of the specification. */
export interface QuotedSentence {
  readonly versions: readonly string[];
  readonly level: Level;
  /** The sentence; undefined if none states the requirement. */
  readonly text: string | undefined;
  readonly spec: string;
}

/** One line of an explanation. */
interface Fact {
  readonly label: string;
  readonly text: string;
}

/** The facts whose text is not empty. */
export function facts(rows: Readonly<Record<string, string | undefined>>): readonly Fact[] {
  return Object.entries(rows).flatMap(([label, text]) => (text === undefined || text === "" ? [] : [{ label, text }]));
}

const specification = "https://modelcontextprotocol.io/specification";

/** The address of a page of the specification in a version. */
export function specPage(version: string, page: string): string {
  return `${specification}/${version}/${page}`;
}

/** Versions as text: all, one, a range, or a list. */
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

/** The versions of the revisions that pass a test. */
export function versionsWhere(has: (revision: Revision) => boolean): readonly string[] {
  return revisions.filter(has).map(({ version }) => version);
}
