import type { Clock } from "../base/clock.js";
import type { JsonObject } from "../base/json.js";

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

/** The cost limits of one check. A validator that cannot count steps enforces the limits that it can. */
export interface CheckBounds {
  /** Limits of the validation. */
  readonly limits: SchemaLimits;
  /** The clock of the time limit. */
  readonly clock: Pick<Clock, "now">;
}

/** Limits on schemas and on checks against them. `Infinity` removes a limit. */
export interface SchemaLimits {
  /** The size of a schema as JSON, in bytes. Stops a list of tools from filling the memory with schemas. */
  readonly bytes: number;
  /** The number of subschemas in a document, and of subschemas that its references apply to one value. */
  readonly subschemas: number;
  /** The nesting depth of subschemas. Schemas are processed recursively, so this also bounds the stack. */
  readonly depth: number;
  /** The length of a peer's pattern, in characters. The time to prove a pattern harmless grows with its length. */
  readonly patternLength: number;
  /**
   * The steps of one check. One step is one subschema applied to one value, eight names or items of a list, or 64
   * characters of a string. Stops recursive alternatives, which take time exponential in the depth of a value, and many
   * subschemas that each read one long list. Values that pass the quick check of common schemas cost no steps: its time is linear in
   * the value.
   */
  readonly steps: number;
  /** The time of one check, in milliseconds. A client may get both a hostile schema and a hostile value. */
  readonly milliseconds: number;
  /**
   * The number of faults in one response. Without it, a long list with one fault per item would get a response many
   * times its size.
   */
  readonly errors: number;
}

/** Limits for schemas of our own author. They are trusted, so none of these limits depends on the clock. */
export const authorLimits: SchemaLimits = {
  bytes: 256 * 1024,
  subschemas: 10_000,
  depth: 32,
  patternLength: Number.POSITIVE_INFINITY,
  steps: 1_000_000,
  milliseconds: Number.POSITIVE_INFINITY,
  errors: 50,
};

/** Limits for schemas that a peer sent. */
export const peerLimits: SchemaLimits = { ...authorLimits, patternLength: 256, milliseconds: 250 };

/** One fault in a value: its place as a JSON pointer (RFC 6901), and a message. */
export interface SchemaFault {
  /** A JSON pointer to the place in the value; empty for the value itself. */
  readonly path: string;
  /** The fault, in one sentence. */
  readonly message: string;
}

/** The result of a check: the value after validation, or its faults. */
export type Checked<T> =
  | {
      readonly ok: true;
      /** The valid value, with defaults filled in. */
      readonly value: T;
    }
  | {
      readonly ok: false;
      /** The fault of the value. */
      readonly errors: readonly SchemaFault[];
    };

/** Replaces the faults over the limit, so that a response is not many times longer than its request. */
export function moreFaults(most: number): SchemaFault {
  return { path: "", message: `expected no faults, got more than ${most}` };
}
