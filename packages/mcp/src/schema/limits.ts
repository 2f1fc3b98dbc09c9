/** Bounds on schemas and on checking against them. `Infinity` lifts a bound. */
export interface SchemaLimits {
  /** Bytes of a schema as JSON. Stops a list of tools from filling the memory with schemas. */
  readonly bytes: number;
  /** Subschemas in a document, and subschemas that its references make one value be held against. */
  readonly subschemas: number;
  /** Nesting of subschemas. What walks a schema does so recursively. */
  readonly depth: number;
  /** Characters of a peer's regular expression. The time to prove one harmless grows with its length. */
  readonly patternLength: number;
  /**
   * Steps of one check: a subschema applied to a value, or eight names or items of a list, or 64 characters of a text.
   * Recursive alternatives take exponentially many in the depth of a value, and many subschemas that each read one long
   * list take their product. What a plain shape accepts is not counted: its time grows with the value alone.
   */
  readonly steps: number;
  /** Time of one check. A hostile schema and a hostile value meet in a client. */
  readonly milliseconds: number;
  /** Faults in one answer. A long list with one fault per item would be answered by one that is many times longer. */
  readonly errors: number;
}

/** For schemas of our own author: trusted, so only bounds that depend on nothing but the schema and the value. */
export const authorLimits: SchemaLimits = {
  bytes: 256 * 1024,
  subschemas: 10_000,
  depth: 32,
  patternLength: Number.POSITIVE_INFINITY,
  steps: 1_000_000,
  milliseconds: Number.POSITIVE_INFINITY,
  errors: 50,
};

/** For schemas that a peer sent. */
export const peerLimits: SchemaLimits = { ...authorLimits, patternLength: 256, milliseconds: 250 };
