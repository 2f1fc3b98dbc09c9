import { Equality, NotJson } from "./equality.js";
import type { Meter } from "./meter.js";
import type { NormalSchema } from "./normal-form.js";

/** One step of the path to a place: the keyword and, if it descends into the value, the member name or index. */
export interface Step {
  readonly before: Step | undefined;
  readonly keyword: string;
  readonly token?: string | number;
}

/** One fault found in a value. */
export interface Finding {
  /** The failed keyword, its argument, and the schema that contains it. */
  readonly keyword: string;
  readonly argument: unknown;
  readonly schema: NormalSchema;
  readonly step: Step | undefined;
  readonly value: unknown;
  /** Details that depend on the keyword: names of missing members, indices of equal items, a count. */
  readonly detail: readonly (string | number)[];
  /** For `anyOf`: the first fault of each of the first few alternatives. */
  readonly alternatives: readonly Finding[];
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

const none: readonly never[] = [];
const nothing: NormalSchema = {};

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
      // A boolean schema has no keyword: `not: true` is the equivalent of `false`.
      return rule || this.fault({ keyword: "not", argument: true, schema: nothing, step, value });
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
  fault(finding: Omit<Finding, "detail" | "alternatives"> & Partial<Finding>): false {
    if (!this.isOver) this.#findings.push({ detail: none, alternatives: none, ...finding });
    return false;
  }

  #merge(from: Evaluated, into: Evaluated): void {
    this.meter.list(from.size);
    for (const key of from) into.add(key);
  }
}
