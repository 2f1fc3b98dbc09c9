import { isObject, kindOf, pointerToken, typeTests } from "../../base/json.js";
import { type CheckBounds, type Checked, moreFaults, type SchemaFault } from "../json-schema-validator.js";
import { shorten } from "../schema-error.js";
import { Equality, NotJson } from "./equality.js";
import type { NormalSchema } from "./keywords.js";
import { Meter, OverBounds } from "./meter.js";

/**
 * The check of a value against the rule of a schema: a quick check of common schemas first, then the rule, which also
 * finds the faults. It needs no `eval` and runs on every platform. No keyword takes more time than the size of the value
 * times the size of the schema, and the meter bounds that product; see `SchemaLimits.steps`.
 */
export function checkOf(rule: Rule | boolean, bounds: CheckBounds): (value: unknown) => Checked<unknown> {
  const accepts = plainShape(typeof rule === "boolean" ? rule : rule.schema);
  const check = checkedBy((value) => faultsOf(value, rule, bounds));
  return (value) => (accepts?.(value) === true ? { ok: true, value } : check(value));
}

/** The check that reports the faults a function finds. */
export function checkedBy(faultsIn: (value: unknown) => readonly SchemaFault[]): (value: unknown) => Checked<unknown> {
  return (value) => {
    const errors = faultsIn(value);
    return errors.length === 0 ? { ok: true, value } : { ok: false, errors };
  };
}

const valid: readonly SchemaFault[] = [];

/** The step budget for collecting all faults of a value that is known to be invalid. */
const stepsToExplain = 10_000;

/**
 * The first run stops at the first fault. For an invalid value, a second run with a small budget collects all faults.
 * So a long list of invalid items costs little more than its first one.
 */
function faultsOf(value: unknown, root: Rule | boolean, { limits, clock }: CheckBounds): readonly SchemaFault[] {
  const meter = new Meter(clock, limits.milliseconds, limits.steps);
  const first: Finding[] = [];
  const inability = run(value, root, meter, first, 1);
  if (inability !== undefined) return [{ path: "", message: inability }];
  if (first.length === 0) return valid;
  const all: Finding[] = [];
  meter.restart(Math.min(limits.steps, stepsToExplain));
  // The second run may exceed its budget; the faults found until then are reported.
  run(value, root, meter, all, limits.errors + 1);
  return explain(all.length > 0 ? all : first, limits.errors);
}

/** Collects the findings of a value. Returns a message if a limit was exceeded or the value is not JSON. */
function run(
  value: unknown,
  root: Rule | boolean,
  meter: Meter,
  findings: Finding[],
  most: number,
): string | undefined {
  try {
    new Evaluation(meter, findings, most).apply(root, value, undefined);
    return undefined;
  } catch (error) {
    if (error instanceof OverBounds || error instanceof NotJson) return error.message;
    if (error instanceof RangeError)
      return "expected a less deeply nested value, or one with fewer faults: checking it overflows the stack";
    throw error;
  }
}

/** One step of the path to a place: the keyword and, if it descends into the value, the member name or index. */
export interface Step {
  readonly before: Step | undefined;
  readonly keyword: string;
  readonly token?: string | number;
}

/** The words of a fault: the expected value and, if it is not simply the checked value, the received one. */
export type Words = readonly [expected: string, got?: string | undefined];

/** One fault found in a value. */
export interface Finding {
  readonly step: Step | undefined;
  readonly value: unknown;
  /** Called only for a finding that is reported. */
  readonly words: () => Words;
  /** For `anyOf`: the first fault of each of the first few alternatives, and the number of all alternatives. */
  readonly alternatives?: { readonly first: readonly Finding[]; readonly count: number };
}

/** The members or items that some subschema was applied to. The remaining ones are unevaluated. */
export type Evaluated = Set<string | number>;

/** Checks a value against one keyword. Returns false if it does not fit; the faults are then in the evaluation. */
export type Check = (evaluation: Evaluation, value: unknown, step: Step | undefined, evaluated?: Evaluated) => boolean;

/** A compiled schema. */
export interface Rule {
  readonly schema: NormalSchema;
  readonly checks: readonly Check[];
  /** True if it contains `unevaluatedProperties` or `unevaluatedItems`. */
  readonly looksAtEvaluated: boolean;
}

/**
 * Applies rules to one value within the step budget of a meter, and collects up to `most` findings; then it stops
 * early.
 */
export class Evaluation {
  readonly meter: Meter;
  /** The comparison for `uniqueItems`. One instance serves the whole value, so nested arrays are read once. */
  readonly equality: Equality = new Equality();
  #findings: Finding[];
  #most: number;

  constructor(meter: Meter, findings: Finding[], most: number) {
    this.meter = meter;
    this.#findings = findings;
    this.#most = most;
  }

  /** True once `most` findings are collected. */
  get isOver(): boolean {
    return this.#findings.length >= this.#most;
  }

  /**
   * Applies a rule to a value. Adds the members and items that it evaluates to `evaluated`, for `unevaluated…` keywords
   * of an enclosing schema.
   */
  apply(rule: Rule | boolean, value: unknown, step: Step | undefined, evaluated?: Evaluated): boolean {
    if (typeof value === "undefined" || typeof value === "function") throw new NotJson(value);
    if (typeof value === "bigint" || typeof value === "symbol") throw new NotJson(value);
    if (typeof rule === "boolean") {
      this.meter.list(1);
      return rule || this.fault(step, value, () => notAllowed(step));
    }
    this.meter.spend(1);
    // `unevaluated…` keywords count only what their own schema evaluates, not what sibling schemas do. So such a rule
    // starts with an empty set.
    const own = rule.looksAtEvaluated ? new Set<string | number>() : evaluated;
    let fits = true;
    for (const check of rule.checks) {
      if (check(this, value, step, own)) continue;
      fits = false;
      if (this.isOver) break;
    }
    if (own !== evaluated && own !== undefined && evaluated !== undefined) this.#merge(own, evaluated);
    return fits;
  }

  /**
   * Applies a rule that a value may fail. If the value fits, the evaluated members count. The first fault goes to
   * `findings`, if given.
   */
  attempt(
    rule: Rule | boolean,
    value: unknown,
    step: Step | undefined,
    evaluated: Evaluated | undefined,
    findings?: Finding[],
  ): boolean {
    const outer = this.#findings;
    const most = this.#most;
    this.#findings = findings ?? [];
    // The alternatives share one list of findings; each may add one to it.
    this.#most = this.#findings.length + 1;
    const own = evaluated && new Set<string | number>();
    const fits = this.apply(rule, value, step, own);
    this.#findings = outer;
    this.#most = most;
    if (fits && own !== undefined && evaluated !== undefined) this.#merge(own, evaluated);
    return fits;
  }

  /** Adds a finding. Always returns false. */
  fault(
    step: Step | undefined,
    value: unknown,
    words: Finding["words"],
    alternatives?: NonNullable<Finding["alternatives"]>,
  ): false {
    if (!this.isOver) this.#findings.push({ step, value, words, ...(alternatives && { alternatives }) });
    return false;
  }

  #merge(from: Evaluated, into: Evaluated): void {
    this.meter.list(from.size);
    for (const key of from) into.add(key);
  }
}

/** Turns findings into faults that name the expected and the received value. */
function explain(findings: readonly Finding[], most: number): readonly SchemaFault[] {
  const faults = findings.slice(0, most).map(faultOf);
  return findings.length > most ? [...faults, moreFaults(most)] : faults;
}

function faultOf(finding: Finding): SchemaFault {
  return { path: pointerOf(pathOf(finding)), message: sayAlternatives(finding) ?? say(finding) };
}

/** The member names and indices that lead to the value of a finding. */
function pathOf({ step }: Finding): readonly (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = step; at !== undefined; at = at.before) if (at.token !== undefined) path.push(at.token);
  return path.reverse();
}

function pointerOf(path: readonly (string | number)[]): string {
  return path.map((token) => `/${pointerToken(token)}`).join("");
}

function say(finding: Finding): string {
  const [expected, got = show(finding.value)] = finding.words();
  const subject = isOfName(finding) ? "property name: " : "";
  return `${subject}expected ${expected}, got ${got}`;
}

/** A finding of `propertyNames` concerns the last name of the path, not the value under that name. */
function isOfName({ step }: Finding): boolean {
  for (let at = step; at !== undefined; at = at.before) if (at.keyword === "propertyNames") return true;
  return false;
}

/** The message for `anyOf`: the first fault of each alternative. Undefined for a finding without alternatives. */
function sayAlternatives(finding: Finding): string | undefined {
  const { first = [], count = 0 } = finding.alternatives ?? {};
  if (first.length === 0) return undefined;
  const above = pathOf(finding).length;
  const spelled = first.map((each) => {
    const place = pointerOf(pathOf(each).slice(above));
    return place === "" ? say(each) : `${shorten(place)}: ${say(each)}`;
  });
  const others = count - spelled.length;
  return spelled.join("; or ") + (others > 0 ? `; or one of ${others} more alternatives` : "");
}

/** The words for a schema that is `false`. */
export function notAllowed(step: Step | undefined): Words {
  const kind = /items$/i.test(step?.keyword ?? "") ? "item" : "property";
  return [step?.token === undefined ? "nothing" : `no such ${kind}`];
}

/** The number of characters of a value that a message shows. */
const mostShown = 60;

/** A value as shown in a message: scalars as JSON, other values by kind. */
export function show(value: unknown): string {
  if (typeof value === "object" && value !== null) return kindOf(value);
  // Cut the string first: it can be as long as a frame, and each of its faults shows it.
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, mostShown)) : JSON.stringify(value);
  return shorten(text ?? kindOf(value), mostShown);
}

/**
 * Returns true if the value is certainly valid. False means that the value is invalid or that only the validator can
 * decide.
 */
type Accept = (value: unknown) => boolean;

/**
 * A quick check for common schemas: objects and arrays of scalars. An accepted value is valid. If the value is not
 * accepted, or the schema is not supported (undefined), the default validator decides and writes the message. Runs in time
 * linear in the value.
 */
function plainShape(schema: unknown): Accept | undefined {
  if (typeof schema === "boolean") return schema ? isJson : () => false;
  const { type, properties, additionalProperties, required, ...others } = schema as NormalSchema;
  const isOfObject = type === "object" || (properties ?? additionalProperties ?? required) !== undefined;
  const accepts: Accept[] = [];
  for (const accept of [
    ...(isOfObject ? [plainObject(schema as NormalSchema)] : []),
    ...(type === undefined || type === "object" ? [] : [typeTest(type)]),
    ...Object.entries(others).map(([keyword, argument]) => plainKeywords.get(keyword)?.(argument)),
  ]) {
    if (accept === undefined) return undefined;
    accepts.push(accept);
  }
  const [first = isJson, second] = accepts;
  return second === undefined ? first : (value) => accepts.every((accept) => accept(value));
}

/** The check for an object, by all keywords that describe one. */
function plainObject({
  type,
  properties,
  additionalProperties = true,
  required = [],
}: NormalSchema): Accept | undefined {
  const members = new Map<string, Accept>();
  for (const [name, member] of Object.entries((properties ?? {}) as NormalSchema)) {
    const accept = plainShape(member);
    if (accept === undefined) return undefined;
    members.set(name, accept);
  }
  const additional = plainShape(additionalProperties);
  if (additional === undefined) return undefined;
  const names = required as readonly string[];
  return (value) => {
    if (!isObject(value)) return type !== "object" && isJson(value);
    for (const name of Object.keys(value)) {
      const accept = members.get(name) ?? additional;
      if (!accept(value[name])) return false;
    }
    for (const name of names) if (!Object.hasOwn(value, name)) return false;
    return true;
  };
}

/** The checks of other keywords, made of their argument; undefined for one that only the validator can check. */
const plainKeywords: ReadonlyMap<string, (argument: unknown) => Accept | undefined> = new Map<
  string,
  (argument: unknown) => Accept | undefined
>([
  ["enum", (values) => plainValues(values as readonly unknown[])],
  ["const", (value) => plainValues([value])],
  ["items", plainItems],
  ["uniqueItems", (unique) => (unique === true ? isDistinct : isJson)],
  ["minItems", (min) => (value) => !Array.isArray(value) || value.length >= (min as number)],
  ["maxItems", (max) => (value) => !Array.isArray(value) || value.length <= (max as number)],
  ["minimum", (min) => (value) => typeof value !== "number" || value >= (min as number)],
  ["maximum", (max) => (value) => typeof value !== "number" || value <= (max as number)],
  ["exclusiveMinimum", (min) => (value) => typeof value !== "number" || value > (min as number)],
  ["exclusiveMaximum", (max) => (value) => typeof value !== "number" || value < (max as number)],
  // A code point takes one or two UTF-16 units; between the two bounds only counting would decide.
  ["minLength", (min) => (value) => typeof value !== "string" || value.length >= 2 * (min as number) - 1],
  ["maxLength", (max) => (value) => typeof value !== "string" || value.length <= (max as number)],
]);

function plainValues(values: readonly unknown[]): Accept | undefined {
  const known = new Set(values);
  return values.some((value) => typeof value === "object" && value !== null) ? undefined : (value) => known.has(value);
}

function plainItems(schema: unknown): Accept | undefined {
  const item = plainShape(schema);
  return item && ((value) => !Array.isArray(value) || value.every(item));
}

/** The size limit for a set: a peer can choose numbers with colliding hashes, which makes insertion quadratic. */
const mostInSet = 1_000;

/** True for a short array of distinct scalars, and for values that are not arrays. */
function isDistinct(value: unknown): boolean {
  if (!Array.isArray(value)) return true;
  if (value.length > mostInSet) return false;
  const plain = value.every((item) => typeof item !== "object" || item === null);
  return plain && new Set(value).size === value.length;
}

/** True if the value can be JSON, judged by its type alone. */
function isJson(value: unknown): boolean {
  const kind = typeof value;
  return kind === "object" || kind === "string" || kind === "number" || kind === "boolean";
}

/** The test for the argument of `type`: one type, or several. */
export function typeTest(types: unknown): ((value: unknown) => boolean) | undefined {
  if (!Array.isArray(types)) return typeTests[types as string];
  const tests = [...new Set(types as readonly string[])].flatMap((name) => typeTests[name] ?? []);
  return (value) => tests.some((test) => test(value));
}
