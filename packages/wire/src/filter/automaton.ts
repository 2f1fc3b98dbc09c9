import type { FilterFault, Pattern } from "./filter.js";
import { type Char, type Node, parsePattern } from "./pattern.js";

// A user's regular expression runs over text of any peer, and together they can keep a backtracking engine busy for ever. This
// engine reads each character once: it follows all states of the expression at the same time, and caches the transitions of each
// set of states.

/** A compiled regular expression, or why the text is not one. */
export type CompiledPattern =
  | { readonly ok: true; readonly test: (text: string) => boolean }
  | { readonly ok: false; readonly fault: FilterFault };

/** Compiles a regular expression that runs in time proportional to the text. */
export function compilePattern({ source, ignoreCase }: Pattern): CompiledPattern {
  const parsed = parsePattern(source, ignoreCase);
  if (!parsed.ok) return parsed;
  const program: Step[] = [];
  emit(parsed.node, program);
  if (program.length > mostSteps)
    return { ok: false, fault: { at: 0, says: "the regular expression is too large: repeat less" } };
  program.push({ is: "match" });
  const automaton = new Automaton(program);
  return { ok: true, test: (text) => automaton.test(text) };
}

const mostSteps = 2_000;
/** The largest cache of state sets; then it is emptied. */
const mostStates = 2_000;

type Assertion = "start" | "end" | "word" | "no-word";

type Step =
  | { readonly is: "char"; readonly char: Char }
  | { readonly is: "split"; first: number; second: number }
  | { readonly is: "jump"; to: number }
  | { readonly is: "assert"; readonly assertion: Assertion }
  | { readonly is: "match" };

function emit(node: Node, program: Step[]): void {
  if (program.length > mostSteps) return;
  switch (node.is) {
    case "char":
      program.push({ is: "char", char: node.char });
      return;
    case "assert":
      program.push({ is: "assert", assertion: node.assertion });
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

function emitEither(of: readonly Node[], program: Step[]): void {
  const jumps: { is: "jump"; to: number }[] = [];
  for (const [index, each] of of.entries()) {
    if (index === of.length - 1) {
      emit(each, program);
      break;
    }
    const split = { is: "split" as const, first: program.length + 1, second: 0 };
    const jump = { is: "jump" as const, to: 0 };
    program.push(split);
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
    const split = { is: "split" as const, first: program.length + 1, second: 0 };
    const at = program.length;
    program.push(split);
    emit(node, program);
    program.push({ is: "jump", to: at });
    split.second = program.length;
    return;
  }
  const splits: { second: number }[] = [];
  for (let count = min; count < max && program.length <= mostSteps; count += 1) {
    const split = { is: "split" as const, first: program.length + 1, second: 0 };
    program.push(split);
    splits.push(split);
    emit(node, program);
  }
  for (const split of splits) split.second = program.length;
}

/** What precedes a position: nothing, a word character, or another character. */
type Before = 0 | 1 | 2;

/** The places that may be gone on from, and what stands before them. */
interface State {
  readonly places: readonly number[];
  readonly before: Before;
  /** By the code of the next character; those of ASCII have a place of their own. */
  readonly next: Map<number, State>;
  readonly nextAscii: (State | undefined)[];
  /** Whether it matches here already, when the text ends; undefined until it is asked. */
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
