// A peer's regular expression runs in this process, in an engine that backtracks. It does so only if the number of
// steps can be shown beforehand to grow with the text and no faster. What cannot be read here is not run:
// look-around, references back, and repetition without end of anything longer than one character.

/** Part of an expression: a character (or a class) or a group, repeated from `min` to `max` times. */
interface Term {
  readonly min: number;
  readonly max: number;
  /** What is repeated: alternatives of sequences; undefined for one character. */
  readonly alternatives?: readonly Sequence[];
}

type Sequence = readonly Term[];

/** A bound on the steps of matching from one position: `fixed + perCharacter × length of the text`. */
interface Work {
  readonly fixed: number;
  readonly perCharacter: number;
}

/** Steps that do not depend on the text, and steps for each of its characters. */
const most: Work = { fixed: 65_536, perCharacter: 64 };

const done: Work = { fixed: 1, perCharacter: 0 };
/** What entering a group costs, an empty one too. */
const step: Work = { fixed: 1, perCharacter: 0 };
const unproven: Work = { fixed: Number.POSITIVE_INFINITY, perCharacter: Number.POSITIVE_INFINITY };

/** True if a regular expression (with the `u` flag) provably takes time in proportion to the text it is run on. */
export function isLinear(pattern: string): boolean {
  return stepsPerCharacter(pattern) !== undefined;
}

/** How many steps a regular expression takes at most for each character of a text; undefined where there is no bound. */
export function stepsPerCharacter(pattern: string): number | undefined {
  const alternatives = new PatternReader(pattern).read();
  if (alternatives === undefined || !isValidPattern(pattern)) return undefined;
  let steps = 0;
  for (const { anchored, terms } of alternatives) {
    const { fixed, perCharacter } = workOfSequence(terms, done);
    // Without an anchor the engine starts anew at every character.
    const work = anchored ? { fixed, perCharacter } : { fixed, perCharacter: perCharacter === 0 ? fixed : Infinity };
    if (work.fixed > most.fixed || work.perCharacter > most.perCharacter) return undefined;
    steps += work.perCharacter;
  }
  return steps;
}

/** True if the runtime can compile a regular expression as JSON Schema wants it: with the `u` flag. */
export function isValidPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false; // The one way to ask.
  }
}

/** The steps of a sequence and of what follows it. */
function workOfSequence(terms: Sequence, rest: Work): Work {
  return terms.reduceRight<Work>((following, term) => workOfTerm(term, following), rest);
}

function workOfTerm({ min, max, alternatives }: Term, rest: Work): Work {
  if (alternatives !== undefined) return workOfGroup(alternatives, min, max, rest);
  if (max === Number.POSITIVE_INFINITY) {
    // Every length of this run may be tried with the rest: the rest must not grow with the text as well.
    return rest.perCharacter === 0 ? { fixed: min + rest.fixed, perCharacter: rest.fixed + 1 } : unproven;
  }
  const choices = max - min + 1;
  return { fixed: max + choices * rest.fixed, perCharacter: choices * rest.perCharacter };
}

/** The steps of a group, written out as often as it may be repeated. */
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

/** One of the alternatives at the top. */
interface Alternative {
  readonly anchored: boolean;
  readonly terms: Sequence;
}

const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
/** One character of the text: a class, an escape that stands for one, a dot, or the character itself. */
const character =
  /\[(?:\\.|[^\\\]])*\]|\\[dDsSwWtnrvf0^$\\.*+?()[\]{}|/-]|\\c[A-Za-z]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[up]\{[^}]*\}|\\P\{[^}]*\}|[^\\^$*+?()[\]{}|]/suy;
const assertion = /\^|\$|\\[bB]/y;
const opening = /\((?:\?:|(?!\?))/y;

/** Reads the part of the grammar of regular expressions that can be reasoned about. */
class PatternReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** The alternatives at the top, or undefined for a pattern that uses anything else. */
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

  /** What a group holds, from behind its opening; undefined where it does not end. */
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
