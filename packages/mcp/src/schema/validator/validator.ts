import type { CheckBounds, JsonSchemaValidator } from "../json-schema-validator.js";
import { plainShape } from "../plain-shape.js";
import type { SchemaFault } from "../schema-fault.js";
import { NotJson } from "./equality.js";
import { Evaluation, type Finding, type Rule } from "./evaluation.js";
import { explain } from "./explain.js";
import { checksOf, type RuleMaker } from "./keyword-checks.js";
import { Meter, OverBounds } from "./meter.js";
import type { NormalSchema } from "./normal-form.js";

/**
 * The default validator. It needs no `eval` and runs on every platform. No keyword takes more time than the size of the
 * value times the size of the schema, and the meter bounds that product; see `SchemaLimits.steps`. Values of plain
 * shapes take a quick path unless they are invalid.
 */
export const defaultValidator: JsonSchemaValidator = {
  compile(schema, bounds) {
    const accepts = plainShape(schema);
    const root = new Rules(schema).rule(schema);
    return (value) => (accepts?.(value) ? valid : faultsOf(value, root, bounds));
  },
};

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

/** The compiled subschemas of a document. Each subschema is compiled once. */
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
    // In the normal form, every subschema is a boolean or an object.
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
