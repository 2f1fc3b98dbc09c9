/** The reason why a schema was rejected. */
export type SchemaReason =
  /** Neither a Standard Schema nor a JSON Schema object. */
  | "not-a-schema"
  /** A Standard Schema from a library that cannot produce JSON Schema. */
  | "no-json-schema"
  /** The schema has no JSON Schema equivalent: a transform's output, a bigint, a function. */
  | "not-representable"
  /** The root does not declare `type: "object"` where the protocol requires it. */
  | "root"
  /** `$schema` names an unsupported dialect. */
  | "dialect"
  /** A `$ref` to another document or to a missing place. References are never fetched. */
  | "reference"
  /** References form a cycle that does not descend into the value. */
  | "endless"
  /** A keyword's argument has the wrong type for its dialect, or a value is not JSON. */
  | "malformed"
  /** A pattern does not compile, or a peer's pattern cannot be proven harmless and cannot be ignored either. */
  | "pattern"
  /** The schema exceeds a limit of `SchemaLimits`. */
  | "too-large"
  /** Valid JSON Schema that the default validator does not support. */
  | "unsupported";

/** A schema that cannot be used: the reason, the place and the remedy. Thrown at registration, never by a check. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  /** Why the schema is rejected. */
  readonly reason: SchemaReason;
  /** A JSON pointer to the problem in the schema; empty for the root. */
  readonly pointer: string;

  constructor(reason: SchemaReason, pointer: string, problem: string, options?: ErrorOptions) {
    super(pointer === "" ? problem : `${shorten(pointer)}: ${problem}`, options);
    this.reason = reason;
    this.pointer = pointer;
  }

  /** A copy of the error whose message starts with the name of the schema's owner. */
  of(subject: string): SchemaError {
    const named = new SchemaError(this.reason, "", `${subject}: ${this.message}`, { cause: this.cause });
    return Object.assign(named, { pointer: this.pointer });
  }
}

/** Shortens a text for a message: a peer's names can be a hundred kilobytes long. */
export function shorten(text: string, length = 100): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
