import type { Source, Tree } from "./source.js";

/** One breach of one rule. */
export interface Finding {
  readonly rule: string;
  readonly path: string;
  /** The violation, by a name that outlives an edit of the file: a specifier, a function, a global. */
  readonly what: string;
  readonly line: number;
  /** The fault and its remedy. */
  readonly message: string;
}

/** A breach that its rule has not signed yet. */
export type Breach = Omit<Finding, "rule">;

/** A rule: the whole tree in, every breach out. */
export type Rule = (tree: Tree) => readonly Breach[];

/** A breach that stays, and why. */
export interface Allowance {
  readonly rule: string;
  readonly path: string;
  readonly what: string;
  readonly reason: string;
}

/** A rule that looks at one file at a time. */
export function eachSource(check: (source: Source, tree: Tree) => readonly Breach[]): Rule {
  return (tree) => tree.sources.flatMap((source) => check(source, tree));
}

/** Parts what was found by the allow-list: breaches that nothing allows, and allowances that nothing needs. */
export function judge(
  findings: readonly Finding[],
  allowed: readonly Allowance[],
): { readonly open: readonly Finding[]; readonly unneeded: readonly Allowance[] } {
  return {
    open: findings.filter((finding) => !allowed.some((allowance) => covers(allowance, finding))),
    unneeded: allowed.filter((allowance) => !findings.some((finding) => covers(allowance, finding))),
  };
}

function covers(allowance: Allowance, finding: Finding): boolean {
  return allowance.rule === finding.rule && allowance.path === finding.path && allowance.what === finding.what;
}
