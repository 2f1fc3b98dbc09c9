import { type Schema, type ValidationResult, validate } from "@cfworker/json-schema";
import type { Clock } from "../base/clock.js";
import { explain } from "./explain.js";
import type { CheckBounds, JsonSchemaValidator, SchemaFault } from "./json-schema-validator.js";
import { keywords } from "./keywords.js";
import type { SchemaLimits } from "./limits.js";
import { mapMembers } from "./map-members.js";
import type { NormalSchema } from "./normal-form.js";
import { plainShape } from "./plain-shape.js";

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
/** Up to here `uniqueItems` costs next to nothing. */
const fewItems = 50;

class Evaluation {
  readonly #bounds: CheckBounds;
  readonly #meter: Meter;
  readonly #root: Schema;
  /** What a `$ref` can name. */
  readonly #lookup: Record<string, Schema | boolean>;

  constructor(schema: NormalSchema, bounds: CheckBounds) {
    this.#bounds = bounds;
    this.#meter = new Meter(bounds.clock, bounds.limits.milliseconds);
    const preparation = new Preparation(this.#meter, bounds.limits);
    this.#root = preparation.schema(schema);
    this.#lookup = Object.assign(Object.create(null), { "#": this.#root });
    for (const [name, definition] of Object.entries(schema.$defs ?? {})) {
      this.#lookup[`#/$defs/${name}`] = preparation.subschema(definition);
    }
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
    return explain(errors, value, { root: this.#root, lookup: this.#lookup }, limits.errors);
  }

  /** What the library finds; or, as a message, why it cannot tell. */
  #run(value: unknown, shortCircuit: boolean, steps: number): ValidationResult | string {
    this.#meter.start(steps);
    try {
      return validate(value, this.#root, "2020-12", this.#lookup, shortCircuit);
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

/** A check that costs too much. Never leaves this file. */
class OverBounds extends Error {}

/** Counts the steps of a run. The library has no such counter: see `Preparation` for how it comes to use this one. */
class Meter {
  readonly #clock: Pick<Clock, "now">;
  readonly #milliseconds: number;
  #left = 0;
  #allowed = 0;
  #until = 0;
  #ticks = 0;

  constructor(clock: Pick<Clock, "now">, milliseconds: number) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
  }

  start(steps: number): void {
    this.#left = steps;
    this.#allowed = steps;
    this.#ticks = 0;
    this.#until = this.#clock.now() + this.#milliseconds;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new OverBounds(`expected a value that can be checked in ${this.#allowed} steps`);
    this.#ticks += 1;
    // One step can take long, a look at the clock does not.
    if (this.#ticks % 8 === 0 && this.#clock.now() > this.#until) {
      throw new OverBounds(`expected a value that can be checked in ${this.#milliseconds} ms`);
    }
  }
}

/**
 * Copies a schema for the library, and changes in the copy what the library does without bounds:
 *
 * - It reads `$recursiveRef`, a keyword of another dialect, each time it applies a subschema. That member is the meter.
 * - `uniqueItems` and an `enum` of objects cost the square of a size in a single step: they are written out in steps.
 * - `false` has no members to be metered by: `{ "not": true }` says the same.
 */
class Preparation {
  readonly #limits: SchemaLimits;
  /** Inherited, because the library reads a getter of the schema's own several times more slowly. */
  readonly #metered: object;
  readonly #prepared = new Map<NormalSchema, Schema>();

  constructor(meter: Meter, limits: SchemaLimits) {
    this.#limits = limits;
    const metered = {
      steps: 1,
      get $recursiveRef(): undefined {
        meter.spend(this.steps);
        return undefined;
      },
    };
    this.#metered = metered;
  }

  subschema(source: unknown): Schema | boolean {
    if (source === true) return true;
    return source === false ? this.#costing(1, { not: true }) : this.schema(source as NormalSchema);
  }

  schema(source: NormalSchema): Schema {
    const known = this.#prepared.get(source);
    if (known !== undefined) return known;
    const { $defs, uniqueItems, enum: values, allOf = [], ...others } = source;
    const prepared = mapMembers(others, (argument, keyword) => this.#argument(keyword, argument));
    const conditions = (allOf as readonly unknown[]).map((schema) => this.subschema(schema));
    if (uniqueItems === true) conditions.push(...this.#distinct());
    if (values !== undefined) {
      if ((values as readonly unknown[]).every(isPlain)) prepared.enum = values;
      else conditions.push(this.#oneByOne(values as readonly unknown[]));
    }
    if (conditions.length > 0) prepared.allOf = conditions;
    const schema = this.#costing(1 + Math.floor(widthOf(source) / 8), prepared);
    this.#prepared.set(source, schema);
    return schema;
  }

  #argument(keyword: string, argument: unknown): unknown {
    const form = keywords.get(keyword);
    if (form === "schema") return this.subschema(argument);
    if (form === "schemas") return (argument as readonly unknown[]).map((schema) => this.subschema(schema));
    return form === "schema-map" ? mapMembers(argument as NormalSchema, (schema) => this.subschema(schema)) : argument;
  }

  /** `uniqueItems` at a price that goes with the length, and refused beyond the limit. */
  #distinct(): readonly Schema[] {
    const { uniqueItems: most } = this.#limits;
    const cheap = this.#costing(10, { uniqueItems: true });
    const dear = this.#costing(5_000, { uniqueItems: true });
    return [
      { maxItems: most },
      { if: { minItems: fewItems + 1 }, else: cheap },
      { if: { maxItems: fewItems }, else: { if: { minItems: most + 1 }, else: dear } },
    ];
  }

  /** An `enum`, one step for each value. */
  #oneByOne(values: readonly unknown[]): Schema {
    return { anyOf: values.map((value) => this.#costing(1, { const: value })) };
  }

  #costing(steps: number, keywords: object): Schema {
    return Object.assign(Object.create(this.#metered), { ...keywords, steps });
  }
}

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** How many things a schema lists: the library goes through them each time it applies the schema. */
function widthOf(schema: NormalSchema): number {
  const lists = Object.values(schema).filter((argument) => !isPlain(argument));
  return lists.reduce<number>((width, list) => width + Object.keys(list as object).length, 0);
}
