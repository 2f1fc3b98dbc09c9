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
