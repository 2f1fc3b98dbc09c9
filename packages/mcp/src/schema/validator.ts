import { NotJson } from "./equality.js";
import { Evaluation, type Finding, type Rule } from "./evaluation.js";
import { explain } from "./explain.js";
import type { CheckBounds, JsonSchemaValidator } from "./json-schema-validator.js";
import { checksOf, type RuleMaker } from "./keyword-checks.js";
import { Meter, OverBounds } from "./meter.js";
import type { NormalSchema } from "./normal-form.js";
import { plainShape } from "./plain-shape.js";
import type { SchemaFault } from "./schema-fault.js";

/**
 * The validator that is used unless another is given. It needs no `eval` and runs everywhere, and no keyword takes more
 * than time in proportion to the value and the schema; their product is metered, see `SchemaLimits.steps`.
 * Plain shapes do not reach the evaluation unless something is wrong with the value.
 */
export const defaultValidator: JsonSchemaValidator = {
  compile(schema, bounds) {
    const accepts = plainShape(schema);
    const root = new Rules(schema).rule(schema);
    return (value) => (accepts?.(value) ? valid : faultsOf(value, root, bounds));
  },
};

const valid: readonly SchemaFault[] = [];

/** Steps for finding every fault of a value that is known to have one. */
const stepsToExplain = 10_000;

/**
 * Two runs: one that ends at the first fault says whether there is any, and for an invalid value a second one, on a short
 * allowance, looks for all of them. A long list of bad items costs no more than its first bad item and that.
 */
function faultsOf(value: unknown, root: Rule | boolean, { limits, clock }: CheckBounds): readonly SchemaFault[] {
  const meter = new Meter(clock, limits.milliseconds, limits.steps);
  const first: Finding[] = [];
  const inability = run(value, root, meter, first, 1);
  if (inability !== undefined) return [{ path: "", message: inability }];
  if (first.length === 0) return valid;
  const all: Finding[] = [];
  meter.restart(Math.min(limits.steps, stepsToExplain));
  // It may not get as far as the first one did, and what it has found until then counts.
  run(value, root, meter, all, limits.errors + 1);
  return explain(all.length > 0 ? all : first, limits.errors);
}

/** Collects what is wrong with a value; gives, as a message, why that cannot be told. */
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
      return "expected a value less deep, or with fewer faults: checking it fills the stack";
    throw error;
  }
}

/** The rules of a document. Each subschema is made one once. */
class Rules implements RuleMaker {
  readonly #root: NormalSchema;
  readonly #rules = new Map<unknown, Rule>();

  constructor(root: NormalSchema) {
    this.#root = root;
  }

  rule(schema: unknown): Rule | boolean {
    if (typeof schema === "boolean") return schema;
    const known = this.#rules.get(schema);
    if (known !== undefined) return known;
    // The normal form holds nothing but booleans and objects where a schema belongs.
    const source = schema as NormalSchema;
    const rule = {
      schema: source,
      checks: checksOf(source, this),
      looksAtEvaluated: source.unevaluatedItems !== undefined || source.unevaluatedProperties !== undefined,
    };
    this.#rules.set(schema, rule);
    return rule;
  }

  target(reference: string): Rule | boolean {
    const definitions = this.#root.$defs as NormalSchema | undefined;
    return this.rule(reference === "#" ? this.#root : definitions?.[reference.slice("#/$defs/".length)]);
  }
}
