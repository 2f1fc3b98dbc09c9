import type { Schema } from "@cfworker/json-schema";
import { keywords } from "../keywords.js";
import type { SchemaLimits } from "../limits.js";
import { mapMembers } from "../map-members.js";
import type { NormalSchema } from "../normal-form.js";
import type { Evaluated } from "./findings.js";
import type { Meter } from "./meter.js";

/** The formats of 2020-12 that the library knows. It also knows a `url` that is exponential, and takes `toString` for one. */
const formats: ReadonlySet<unknown> = new Set([
  "date",
  "time",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uri-reference",
  "uri-template",
  "uuid",
  "json-pointer",
  "relative-json-pointer",
  "regex",
]);

/** Up to here `uniqueItems` costs next to nothing. */
const fewItems = 50;

/**
 * Copies a schema for the library, and changes in the copy what the library does without bounds:
 *
 * - It reads `$recursiveRef`, a keyword of another dialect, each time it applies a subschema. That member is the meter.
 * - `uniqueItems` and an `enum` of objects cost the square of a size in a single step: they are written out in steps.
 * - `false` has no members to be metered by: `{ "not": true }` says the same.
 */
export class Preparation {
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

  /** The schema, and what its references name. */
  prepare(source: NormalSchema): Evaluated {
    const root = this.#schema(source);
    const lookup: Record<string, Schema | boolean> = Object.create(null);
    lookup["#"] = root;
    for (const [name, definition] of Object.entries(source.$defs ?? {})) {
      lookup[`#/$defs/${name}`] = this.#subschema(definition);
    }
    return { root, lookup };
  }

  #subschema(source: unknown): Schema | boolean {
    if (source === true) return true;
    return source === false ? this.#costing(1, { not: true }) : this.#schema(source as NormalSchema);
  }

  #schema(source: NormalSchema): Schema {
    const known = this.#prepared.get(source);
    if (known !== undefined) return known;
    const { $defs, uniqueItems, format, enum: values, allOf = [], ...others } = source;
    const prepared = mapMembers(others, (argument, keyword) => this.#argument(keyword, argument));
    const conditions = (allOf as readonly unknown[]).map((schema) => this.#subschema(schema));
    if (formats.has(format)) prepared.format = format;
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
    if (form === "schema") return this.#subschema(argument);
    if (form === "schemas") return (argument as readonly unknown[]).map((schema) => this.#subschema(schema));
    return form === "schema-map" ? mapMembers(argument as NormalSchema, (schema) => this.#subschema(schema)) : argument;
  }

  /** `uniqueItems` at a price that goes with the length, and refused beyond the limit. */
  #distinct(): readonly Schema[] {
    const { uniqueItems: most } = this.#limits;
    const cheap = this.#costing(10, { uniqueItems: true });
    const dear = this.#costing(10_000, { uniqueItems: true });
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
