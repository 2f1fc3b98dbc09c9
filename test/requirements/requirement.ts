/** How strongly the specification asks for something. */
export type Level = "MUST" | "SHOULD";

/** A test that would fail without the rule: its file, and a part of its title. */
export interface Proof {
  readonly file: string;
  readonly test: string;
}

/** A rule of the protocol in our words: tests prove it, or a reason says why none does yet. */
export type Requirement = {
  /** Ours. A letter behind the number stands for one half of a rule: one side's, or one part's. */
  readonly id: string;
  readonly level: Level;
  readonly says: string;
} & (
  | { readonly proved: readonly Proof[]; readonly later?: never }
  | { readonly later: string; readonly proved?: never }
);

/** Rules about one thing, which share the prefix of their ids. */
export interface Group {
  readonly name: string;
  readonly prefix: string;
  /** Where the specification speaks of it. */
  readonly link: string;
  readonly requirements: readonly Requirement[];
}

/** Tests of one file. */
export function by(file: string, ...tests: readonly string[]): readonly Proof[] {
  return tests.map((test) => ({ file: `test/${file}.test.ts`, test }));
}

/** The specification, in the revision that has the latest word on a page. */
export function page(path: string, version = "2026-07-28"): string {
  return `https://modelcontextprotocol.io/specification/${version}/${path}`;
}
