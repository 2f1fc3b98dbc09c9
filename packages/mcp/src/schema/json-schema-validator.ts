import type { Clock } from "../base/clock.js";
import type { JsonObject } from "../base/json.js";
import type { SchemaLimits } from "./limits.js";
import type { SchemaFault } from "./schema-fault.js";

/** The cost limits of one check. A validator that cannot count steps enforces the limits that it can. */
export interface CheckBounds {
  /** Limits of the validation. */
  readonly limits: SchemaLimits;
  /** The clock of the time limit. */
  readonly clock: Pick<Clock, "now">;
}

/**
 * The port for a JSON Schema validator.
 *
 * - `compile` runs once per schema, at registration. It receives the normal form: JSON Schema 2020-12 with only the keywords
 *   that affect validity, in which each `$ref` is `"#"` or `"#/$defs/<number>"`. It must not change the schema. It throws a
 *   `SchemaError` for a schema that it cannot evaluate.
 * - The function that it returns is synchronous, keeps no reference to the value, and never throws because of a value.
 *   Values are as `JSON.parse` returns them; a member may have any name, including `__proto__`. An empty list means
 *   that the value is valid.
 * - A check that exceeds its limits returns a fault, never an empty list.
 */
export interface JsonSchemaValidator {
  /** Compiles a schema to a check, which returns the faults of a value; none for a valid one. Throws `SchemaError`. */
  compile(schema: JsonObject, bounds: CheckBounds): (value: unknown) => readonly SchemaFault[];
}
