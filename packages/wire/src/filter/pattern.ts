import { escapeControls } from "@parlance/mcp/jsonrpc";

/** A regular expression as it is written: `/crash/i`. */
export interface Pattern {
  /** The regular expression, without slashes. */
  readonly source: string;
  /** Whether case is ignored. */
  readonly ignoreCase: boolean;
}

/** Why a text is not a filter. */
export interface FilterFault {
  /** The place: an index into the text, or its length. */
  readonly at: number;
  /** The found and the expected text. Safe to print. */
  readonly says: string;
}

/** Whether a character is in the class. */
type Char = (code: number) => boolean;

type Assertion = "start" | "end" | "word" | "no-word";

/** A test of one character, or of the place before it. */
type Test = { readonly is: "char"; readonly char: Char } | { readonly is: "assert"; readonly assertion: Assertion };

/** A regular expression as a tree. */
type Node =
  | Test
  | { readonly is: "sequence" | "either"; readonly of: readonly Node[] }
  | { readonly is: "repeat"; readonly node: Node; readonly min: number; readonly max: number };

/** The maximum nesting depth: deeper than any useful expression, and safe for recursive functions. */
const deepest = 64;
/** The maximum count of a bounded repetition, which is expanded. */
const mostTimes = 1_000;

/** The result of reading a text, or why it cannot be read. */
export type Parsed<Result> =
  | ({ readonly ok: true } & Result)
  | {
      readonly ok: false;
      /** The fault of the text, and its place. */
      readonly fault: FilterFault;
    };

/** Runs a parser, which throws `Unexpected` for a fault of the text. */
export function parsedBy<Result extends object>(parse: () => Result): Parsed<Result> {
  try {
    return { ok: true, ...parse() };
  } catch (error) {
    if (error instanceof Unexpected) return { ok: false, fault: error.fault };
    throw error;
  }
}

/** A fault of the text. Thrown at any depth of a parser, and caught by `parsedBy`. */
export class Unexpected extends Error {
  readonly fault: FilterFault;

  constructor(at: number, says: string) {
    super(says);
    this.fault = { at, says };
  }
}

const quantifier = /(?:([*+?])|\{(\d{1,9})(,?)(\d{0,9})\})\??/y;
const assertion = /\^|\$|\\[bB]/y;
const opening = /\((?:\?:|\?<[A-Za-z_]\w*>)?/y;
const bracket = /\[(?:\\(?:u\{[^}]*\}|[\s\S])|[^\]\\])*\]/uy;
const escaped =
  /\\(?:[dDsSwWtnrvf0^$\\.*+?()[\]{}|/"-]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|[pP]\{[\w=]+\})/y;
const plain = /[^\\^$*+?()[\]{}|]/uy;

const assertions = { "^": "start", $: "end", "\\b": "word", "\\B": "no-word" } as const;

/** Parses a regular expression of JavaScript, except back-references and lookaround, which need a backtracking engine. */
class Reader {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;
  #depth = 0;

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source;
    this.#flags = ignoreCase ? "iu" : "u";
  }

  all(): Node {
    const node = this.#either();
    if (this.#at < this.#source.length) throw this.#unexpected();
    return node;
  }

  #either(): Node {
    this.#depth += 1;
    if (this.#depth > deepest) throw new Unexpected(this.#at, `groups have more than ${deepest} levels`);
    const of = [this.#sequence()];
    while (this.#take(/\|/y) !== undefined) of.push(this.#sequence());
    this.#depth -= 1;
    return { is: "either", of };
  }

  #sequence(): Node {
    const of: Node[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source.charAt(this.#at))) {
      const asserted = this.#take(assertion)?.[0] as keyof typeof assertions | undefined; // The pattern has no others.
      if (asserted === undefined) of.push(this.#repeated(this.#term()));
      else of.push({ is: "assert", assertion: assertions[asserted] });
    }
    return { is: "sequence", of };
  }

  #term(): Node {
    const at = this.#at;
    if (this.#source.startsWith("(?", at) && !/^\(\?(?::|<[A-Za-z_])/.test(this.#source.slice(at)))
      throw new Unexpected(at, "a filter cannot look around: leave out (?=…), (?!…) and the like");
    if (this.#take(opening) !== undefined) {
      const node = this.#either();
      if (this.#take(/\)/y) === undefined) throw new Unexpected(at, "the group is not closed");
      return node;
    }
    if (this.#take(/\./y) !== undefined) return { is: "char", char: isNoLineEnd };
    const written = (this.#take(bracket) ?? this.#take(escaped) ?? this.#take(plain))?.[0];
    if (written === undefined) throw this.#unexpected();
    return { is: "char", char: this.#charOf(written, at) };
  }

  /** Tests a class or a character with the `RegExp` of the runtime, which has case folding and Unicode properties. */
  #charOf(written: string, at: number): Char {
    const one = compiled(written === '\\"' ? '"' : written, this.#flags);
    if (one === undefined) throw new Unexpected(at, notFrom(written));
    return (code) => one.test(String.fromCodePoint(code));
  }

  #repeated(node: Node): Node {
    const at = this.#at;
    const found = this.#take(quantifier);
    if (found === undefined) return node;
    const [, sign, least = "", comma, most = ""] = found;
    if (sign !== undefined)
      return { is: "repeat", node, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Number.POSITIVE_INFINITY };
    const min = Number(least);
    const max = comma === "" ? min : most === "" ? Number.POSITIVE_INFINITY : Number(most);
    if (max < min) throw new Unexpected(at, "the numbers of the repetition are out of order");
    if (min > mostTimes || (max > mostTimes && max < Number.POSITIVE_INFINITY))
      throw new Unexpected(at, `a repetition counts to at most ${mostTimes}`);
    return { is: "repeat", node, min, max };
  }

  #unexpected(): Unexpected {
    const at = this.#at;
    if (/^\\[1-9k]/.test(this.#source.slice(at))) return new Unexpected(at, "a filter cannot refer back to a group");
    return new Unexpected(at, notFrom(this.#source.slice(at, at + (this.#source[at] === "\\" ? 2 : 1))));
  }

  #take(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.#at;
    const found = what.exec(this.#source) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

function isNoLineEnd(code: number): boolean {
  return code !== 0x0a && code !== 0x0d && code !== 0x2028 && code !== 0x2029;
}

function compiled(written: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(`^${written}$`, flags);
  } catch {
    return undefined; // The constructor throws for an invalid class.
  }
}

function notFrom(written: string): string {
  return `it is not a regular expression from ${escapeControls(JSON.stringify(written.slice(0, 20)))} on`;
}

// A user's regular expression runs over the text of any peer: a backtracking engine could take exponential time. This engine
// reads each character once: it follows all states of the expression at the same time, and caches the transitions of each set of
// states.

/** Compiles a regular expression that runs in time proportional to the text. */
export function compilePattern({ source, ignoreCase }: Pattern): Parsed<{ readonly test: (text: string) => boolean }> {
  return parsedBy(() => {
    const program: Step[] = [];
    emit(new Reader(source, ignoreCase).all(), program);
    if (program.length > mostSteps) throw new Unexpected(0, "the regular expression is too large: repeat less");
    program.push({ is: "match" });
    const automaton = new Automaton(program);
    return { test: (text: string) => automaton.test(text) };
  });
}

const mostSteps = 2_000;
/** The maximum number of cached state sets; a full cache is emptied. */
const mostStates = 2_000;

type Step =
  | Test
  | { readonly is: "split"; first: number; second: number }
  | { readonly is: "jump"; to: number }
  | { readonly is: "match" };

function emit(node: Node, program: Step[]): void {
  if (program.length > mostSteps) return;
  switch (node.is) {
    case "char":
    case "assert":
      program.push(node);
      return;
    case "sequence":
      for (const each of node.of) emit(each, program);
      return;
    case "either":
      emitEither(node.of, program);
      return;
    case "repeat":
      emitRepeat(node, program);
  }
}

/** Adds a step that goes on with the next one, or with the `second` that its caller sets. */
function emitSplit(program: Step[]): { second: number } {
  const split = { is: "split" as const, first: program.length + 1, second: 0 };
  program.push(split);
  return split;
}

function emitEither(of: readonly Node[], program: Step[]): void {
  const jumps: { is: "jump"; to: number }[] = [];
  for (const [index, each] of of.entries()) {
    if (index === of.length - 1) {
      emit(each, program);
      break;
    }
    const split = emitSplit(program);
    const jump = { is: "jump" as const, to: 0 };
    emit(each, program);
    program.push(jump);
    jumps.push(jump);
    split.second = program.length;
  }
  for (const jump of jumps) jump.to = program.length;
}

function emitRepeat({ node, min, max }: Extract<Node, { readonly is: "repeat" }>, program: Step[]): void {
  for (let count = 0; count < min && program.length <= mostSteps; count += 1) emit(node, program);
  if (max === Number.POSITIVE_INFINITY) {
    const at = program.length;
    const split = emitSplit(program);
    emit(node, program);
    program.push({ is: "jump", to: at });
    split.second = program.length;
    return;
  }
  const splits: { second: number }[] = [];
  for (let count = min; count < max && program.length <= mostSteps; count += 1) {
    splits.push(emitSplit(program));
    emit(node, program);
  }
  for (const split of splits) split.second = program.length;
}

/** The character before a position: none, a word character, or another character. */
type Before = 0 | 1 | 2;

/** The places from which the match can continue, and the kind of the character before them. */
interface State {
  readonly places: readonly number[];
  readonly before: Before;
  /** Next states by the code of the next character, outside ASCII. */
  readonly next: Map<number, State>;
  readonly nextAscii: (State | undefined)[];
  /** Whether it matches if the text ends here; undefined until computed. */
  matchesAtEnd: boolean | undefined;
}

class Automaton {
  readonly #program: readonly Step[];
  readonly #matched: State = { places: [], before: 0, next: new Map(), nextAscii: [], matchesAtEnd: true };
  #states = new Map<string, State>();
  readonly #seen: Uint32Array;
  #turn = 0;

  constructor(program: readonly Step[]) {
    this.#program = program;
    this.#seen = new Uint32Array(program.length);
  }

  test(text: string): boolean {
    let state = this.#state([0], 0);
    for (let at = 0; at < text.length; ) {
      const code = text.codePointAt(at) ?? 0;
      at += code > 0xffff ? 2 : 1;
      state = (code < 128 ? state.nextAscii[code] : state.next.get(code)) ?? this.#learn(state, code);
      if (state === this.#matched) return true;
    }
    state.matchesAtEnd ??= this.#reach(state, undefined) === undefined;
    return state.matchesAtEnd;
  }

  #learn(state: State, code: number): State {
    const next = this.#step(state, code);
    if (code < 128) state.nextAscii[code] = next;
    else state.next.set(code, next);
    return next;
  }

  #step(state: State, code: number): State {
    const reached = this.#reach(state, code);
    if (reached === undefined) return this.#matched;
    const places = new Set([0]); // A match may begin anywhere.
    for (const place of reached) {
      const step = this.#program[place];
      if (step?.is === "char" && step.char(code)) places.add(place + 1);
    }
    return this.#state(
      [...places].sort((a, b) => a - b),
      isWord(code) ? 1 : 2,
    );
  }

  /** The characters that may come next at these places; undefined if the end is reached, and the text matches. */
  #reach({ places, before }: State, code: number | undefined): readonly number[] | undefined {
    this.#turn += 1;
    const waiting = [...places];
    const reached: number[] = [];
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      if (this.#seen[place] === this.#turn) continue;
      this.#seen[place] = this.#turn;
      const step = this.#program[place];
      if (step === undefined || step.is === "match") return undefined;
      if (step.is === "char") reached.push(place);
      else if (step.is === "jump") waiting.push(step.to);
      else if (step.is === "split") waiting.push(step.first, step.second);
      else if (holds(step.assertion, before, code)) waiting.push(place + 1);
    }
    return reached;
  }

  #state(places: readonly number[], before: Before): State {
    const key = `${before} ${places.join(" ")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#states.size >= mostStates) this.#states = new Map();
    const state: State = { places, before, next: new Map(), nextAscii: [], matchesAtEnd: undefined };
    this.#states.set(key, state);
    return state;
  }
}

function holds(assertion: Assertion, before: Before, code: number | undefined): boolean {
  if (assertion === "start") return before === 0;
  if (assertion === "end") return code === undefined;
  const isEdge = (before === 1) !== (code !== undefined && isWord(code));
  return isEdge === (assertion === "word");
}

function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a)
  );
}
