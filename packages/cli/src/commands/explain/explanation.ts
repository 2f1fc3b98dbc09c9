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
export interface Fact {
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
