// Patterns from a peer run in this process, on a backtracking engine. A pattern runs only if its number of steps is
// provably linear in the text. Patterns with look-around, back-references, or unbounded repetition of a group cannot be
// proven and do not run.

/** A part of a pattern: one character (or class) or a group, repeated `min` to `max` times. */
interface Term {
  readonly min: number;
  readonly max: number;
  /** The alternatives of a group; undefined for a single character. */
  readonly alternatives?: readonly Sequence[];
}

type Sequence = readonly Term[];

/** A bound on the steps of a match from one position: `fixed + perCharacter × length of the text`. */
interface Work {
  readonly fixed: number;
  readonly perCharacter: number;
}

/** The most steps that an accepted pattern may take. */
const most: Work = { fixed: 65_536, perCharacter: 64 };

const done: Work = { fixed: 1, perCharacter: 0 };
/** The cost of entering a group, even an empty one. */
const step: Work = { fixed: 1, perCharacter: 0 };
const unproven: Work = { fixed: Number.POSITIVE_INFINITY, perCharacter: Number.POSITIVE_INFINITY };

/** True if a pattern (with the `u` flag) provably runs in time linear in the text. */
export function isLinear(pattern: string): boolean {
  return stepsPerCharacter(pattern) !== undefined;
}

/** The maximum number of steps of a pattern per character of text; undefined if it has no proven bound. */
export function stepsPerCharacter(pattern: string): number | undefined {
  const alternatives = new PatternReader(pattern).read();
  if (alternatives === undefined || !isValidPattern(pattern)) return undefined;
  let steps = 0;
  for (const { anchored, terms } of alternatives) {
    const { fixed, perCharacter } = workOfSequence(terms, done);
    // Without an anchor, the engine starts again at every character.
    const work = anchored ? { fixed, perCharacter } : { fixed, perCharacter: perCharacter === 0 ? fixed : Infinity };
    if (work.fixed > most.fixed || work.perCharacter > most.perCharacter) return undefined;
    steps += work.perCharacter;
  }
  return steps;
}

/** True if the runtime can compile a pattern with the `u` flag, as JSON Schema requires. */
export function isValidPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false; // The constructor throws for an invalid pattern.
  }
}

/** The steps of a sequence followed by `rest`. */
function workOfSequence(terms: Sequence, rest: Work): Work {
  return terms.reduceRight<Work>((following, term) => workOfTerm(term, following), rest);
}

function workOfTerm({ min, max, alternatives }: Term, rest: Work): Work {
  if (alternatives !== undefined) return workOfGroup(alternatives, min, max, rest);
  if (max === Number.POSITIVE_INFINITY) {
    // The engine may try the rest after every length of this run, so the rest must have a fixed cost.
    return rest.perCharacter === 0 ? { fixed: min + rest.fixed, perCharacter: rest.fixed + 1 } : unproven;
  }
  const choices = max - min + 1;
  return { fixed: max + choices * rest.fixed, perCharacter: choices * rest.perCharacter };
}

/** The steps of a group, unrolled for each repetition. */
function workOfGroup(alternatives: readonly Sequence[], min: number, max: number, rest: Work): Work {
  let work = rest;
  for (let count = max; count > 0; count -= 1) {
    if (work.fixed > most.fixed) return unproven;
    const following = work;
    const repeated = alternatives.map((terms) => workOfSequence(terms, following)).reduce(plus, step);
    work = count > min ? plus(repeated, rest) : repeated;
  }
  return work;
}

function plus(one: Work, other: Work): Work {
  return { fixed: one.fixed + other.fixed, perCharacter: one.perCharacter + other.perCharacter };
}

/** One top-level alternative. */
interface Alternative {
  readonly anchored: boolean;
  readonly terms: Sequence;
}

const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
/** One character: a class, an escape, a dot, or a literal. */
const character =
  /\[(?:\\.|[^\\\]])*\]|\\[dDsSwWtnrvf0^$\\.*+?()[\]{}|/-]|\\c[A-Za-z]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[up]\{[^}]*\}|\\P\{[^}]*\}|[^\\^$*+?()[\]{}|]/suy;
const assertion = /\^|\$|\\[bB]/y;
const opening = /\((?:\?:|(?!\?))/y;

/** Parses the subset of the regular expression grammar that can be analysed. */
class PatternReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** The top-level alternatives; undefined for a pattern outside this subset. */
  read(): readonly Alternative[] | undefined {
    const alternatives: Alternative[] = [];
    do {
      const anchored = this.#pattern[this.#at] === "^";
      const terms = this.#sequence();
      if (terms === undefined) return undefined;
      alternatives.push({ anchored, terms });
    } while (this.#take(/\|/y));
    return this.#at === this.#pattern.length ? alternatives : undefined;
  }

  #sequence(): Sequence | undefined {
    const terms: Term[] = [];
    while (this.#at < this.#pattern.length && !/[|)]/.test(this.#pattern.charAt(this.#at))) {
      if (this.#take(assertion)) continue;
      const term = this.#term();
      if (term === undefined) return undefined;
      terms.push(term);
    }
    return terms;
  }

  #term(): Term | undefined {
    const alternatives = this.#take(opening) ? this.#group() : undefined;
    if (alternatives === undefined && !this.#take(character)) return undefined;
    const { min, max } = this.#repetition();
    if (alternatives === undefined) return { min, max };
    return max > 1_000 ? undefined : { min, max, alternatives };
  }

  /** Parses the rest of a group after its opening parenthesis; undefined if the group is not closed. */
  #group(): readonly Sequence[] | undefined {
    const alternatives: Sequence[] = [];
    do {
      const terms = this.#sequence();
      if (terms === undefined) return undefined;
      alternatives.push(terms);
    } while (this.#take(/\|/y));
    return this.#take(/\)/y) ? alternatives : undefined;
  }

  #repetition(): { readonly min: number; readonly max: number } {
    const found = this.#take(quantifier);
    if (!found) return { min: 1, max: 1 };
    const [, sign, min = "", comma, max = ""] = found;
    if (sign !== undefined) return { min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Number.POSITIVE_INFINITY };
    if (comma === "") return { min: Number(min), max: Number(min) };
    return { min: Number(min), max: max === "" ? Number.POSITIVE_INFINITY : Number(max) };
  }

  #take(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.#at;
    const found = what.exec(this.#pattern) ?? undefined;
    if (found !== undefined) this.#at = what.lastIndex;
    return found;
  }
}
