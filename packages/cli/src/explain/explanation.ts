import type { Party } from "../frames.js";

/** What can be explained. */
export type Topic = "code" | "request" | "notification" | "revision" | "rule";

/** A message as it crosses. */
export interface WireExample {
  readonly from: Party;
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
  readonly wire: readonly WireExample[];
  /** Where the specification says so. */
  readonly spec: readonly string[];
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
