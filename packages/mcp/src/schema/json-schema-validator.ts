import type { Clock } from "../base/clock.js";
import type { SchemaLimits } from "./limits.js";
import type { NormalSchema } from "./normal-form.js";
import type { SchemaFault } from "./schema-fault.js";

/** What a check may cost. A validator that cannot count honours what it can. */
export interface CheckBounds {
  readonly limits: SchemaLimits;
  readonly clock: Pick<Clock, "now">;
}

/**
 * What evaluates JSON Schema: the port behind which a validator can be exchanged.
 *
 * - `compile` runs once per schema, when it is registered. It gets the normal form, so it has nothing to resolve or to
 *   fetch and no dialect to tell apart, and does not change it. It throws a `SchemaError` for what it cannot evaluate.
 * - The function that it returns is synchronous, keeps nothing of a value, and never throws on account of one. Values
 *   are as `JSON.parse` makes them; a member may have any name, `__proto__` too. An empty list means valid.
 * - A check over its bounds ends with a fault that says so, not with an approval.
 */
export interface JsonSchemaValidator {
  compile(schema: NormalSchema, bounds: CheckBounds): (value: unknown) => readonly SchemaFault[];
}
