import { type ValidationResult, validate } from "@cfworker/json-schema";
import type { CheckBounds, JsonSchemaValidator } from "../json-schema-validator.js";
import type { NormalSchema } from "../normal-form.js";
import { plainShape } from "../plain-shape.js";
import type { SchemaFault } from "../schema-fault.js";
import { explain } from "./explain.js";
import type { Evaluated } from "./findings.js";
import { Meter, OverBounds } from "./meter.js";
import { Preparation } from "./preparation.js";

/**
 * The validator that is used unless another is given: `@cfworker/json-schema`, which needs no `eval` and runs everywhere.
 * Plain shapes do not reach it unless something is wrong with the value.
 */
export const cfworkerValidator: JsonSchemaValidator = {
  compile(schema, bounds) {
    const accepts = plainShape(schema);
    const evaluation = new Evaluation(schema, bounds);
    return (value) => (accepts?.(value) ? valid : evaluation.faults(value));
  },
};

const valid: readonly SchemaFault[] = [];

/** Steps for finding every fault of a value that is known to have one. */
const stepsToExplain = 10_000;

class Evaluation {
  readonly #bounds: CheckBounds;
  readonly #meter: Meter;
  readonly #evaluated: Evaluated;

  constructor(schema: NormalSchema, bounds: CheckBounds) {
    this.#bounds = bounds;
    this.#meter = new Meter(bounds.clock, bounds.limits.milliseconds);
    this.#evaluated = new Preparation(this.#meter, bounds.limits).prepare(schema);
  }

  /**
   * Two runs: one that stops early says whether there is a fault, and for an invalid value a second one, on a short
   * allowance, looks for all of them. A long list of bad items costs no more than its first bad item and that.
   */
  faults(value: unknown): readonly SchemaFault[] {
    const { limits } = this.#bounds;
    const first = this.#run(value, true, limits.steps);
    if (typeof first === "string") return [{ path: "", message: first }];
    if (first.valid) return valid;
    const all = this.#run(value, false, Math.min(limits.steps, stepsToExplain));
    const { errors } = typeof all === "string" ? first : all;
    return explain(errors, value, this.#evaluated, limits.errors);
  }

  /** What the library finds; or, as a message, why it cannot tell. */
  #run(value: unknown, shortCircuit: boolean, steps: number): ValidationResult | string {
    const { root, lookup } = this.#evaluated;
    this.#meter.start(steps);
    try {
      return validate(value, root, "2020-12", lookup, shortCircuit);
    } catch (error) {
      return inability(error);
    }
  }
}

/** What the library throws on account of a value, as a message. Anything else it throws is a bug, and stays one. */
function inability(error: unknown): string {
  if (error instanceof OverBounds) return error.message;
  if (error instanceof RangeError)
    return "expected a value less deep, or with fewer faults: checking it fills the stack";
  if (error instanceof URIError) return "expected well-formed Unicode in the names of properties";
  const [, kind] = /^Instances of "(\w+)" type are not supported/.exec(String((error as Error)?.message)) ?? [];
  if (kind !== undefined) return `expected JSON, got a value of type ${kind}`;
  throw error;
}
