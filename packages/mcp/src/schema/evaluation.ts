import { Equality, NotJson } from "./equality.js";
import type { Meter } from "./meter.js";
import type { NormalSchema } from "./normal-form.js";

/** The way to a place: the keywords that led there and, where they look into a value, the names and indices in it. */
export interface Step {
  readonly before: Step | undefined;
  readonly keyword: string;
  readonly token?: string | number;
}

/** One thing that is wrong with a value. */
export interface Finding {
  /** The keyword that failed, its argument, and the schema that it stands in. */
  readonly keyword: string;
  readonly argument: unknown;
  readonly schema: NormalSchema;
  readonly step: Step | undefined;
  readonly value: unknown;
  /** What the keyword has to say beyond that: names that are missing, indices of equal items, a count. */
  readonly detail: readonly (string | number)[];
  /** For `anyOf`, the first thing that is wrong with each of the first alternatives. */
  readonly alternatives: readonly Finding[];
}

/** The names or indices of a value that some subschema was applied to: what is left is unevaluated. */
export type Evaluated = Set<string | number>;

/** Holds a value against one keyword with its argument. False: it does not fit, and the evaluation has its findings. */
export type Check = (evaluation: Evaluation, value: unknown, step: Step | undefined, evaluated?: Evaluated) => boolean;

/** A schema, ready to be applied. */
export interface Rule {
  readonly schema: NormalSchema;
  readonly checks: readonly Check[];
  /** True if it has a keyword that looks at what others evaluated. */
  readonly looksAtEvaluated: boolean;
}

const none: readonly never[] = [];
const nothing: NormalSchema = {};

/** Applies rules to one value, on a meter, and collects what is wrong, up to `most` findings: then it ends early. */
export class Evaluation {
  readonly meter: Meter;
  /** What `uniqueItems` compares by: one for the whole value, so that arrays in arrays are read once as well. */
  readonly equality: Equality = new Equality();
  #findings: Finding[];
  #most: number;

  constructor(meter: Meter, findings: Finding[], most: number) {
    this.meter = meter;
    this.#findings = findings;
    this.#most = most;
  }

  /** True once there is nothing more to find. */
  get isOver(): boolean {
    return this.#findings.length >= this.#most;
  }

  /** Applies a rule to a value. `evaluated` takes what it evaluates, for keywords above that look at that. */
  apply(rule: Rule | boolean, value: unknown, step: Step | undefined, evaluated?: Evaluated): boolean {
    if (typeof value === "undefined" || typeof value === "function") throw new NotJson(value);
    if (typeof value === "bigint" || typeof value === "symbol") throw new NotJson(value);
    if (typeof rule === "boolean") {
      this.meter.list(1);
      // `not: true` says the same as `false`, in words.
      return rule || this.fault({ keyword: "not", argument: true, schema: nothing, step, value });
    }
    this.meter.spend(1);
    // Cousins are not looked at, so a rule that looks has a set of its own.
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
   * Applies a rule that a value need not fit. What it evaluates counts if the value fits; the first thing that it finds
   * goes to `findings`, if anywhere.
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
    // One more than others have found before: the faults of alternatives are in one list.
    this.#most = this.#findings.length + 1;
    const own = evaluated && new Set<string | number>();
    const fits = this.apply(rule, value, step, own);
    this.#findings = outer;
    this.#most = most;
    if (fits && own !== undefined && evaluated !== undefined) this.#merge(own, evaluated);
    return fits;
  }

  /** Notes what is wrong. Always false. */
  fault(finding: Omit<Finding, "detail" | "alternatives"> & Partial<Finding>): false {
    if (!this.isOver) this.#findings.push({ detail: none, alternatives: none, ...finding });
    return false;
  }

  #merge(from: Evaluated, into: Evaluated): void {
    this.meter.list(from.size);
    for (const key of from) into.add(key);
  }
}
