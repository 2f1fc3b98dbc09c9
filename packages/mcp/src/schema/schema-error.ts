/** Why a schema was refused. */
export type SchemaReason =
  /** Neither a Standard Schema nor a JSON Schema object. */
  | "not-a-schema"
  /** A Standard Schema of a library that does not describe itself as JSON Schema. */
  | "no-json-schema"
  /** The library cannot say this schema in JSON Schema: a transform's output, a bigint, a function. */
  | "not-representable"
  /** The root does not say `type: "object"` where the protocol wants it. */
  | "root"
  /** `$schema` names a dialect that is not spoken here. */
  | "dialect"
  /** A `$ref` that leads out of the document or nowhere. Nothing is ever fetched. */
  | "reference"
  /** References lead back to where they started without looking deeper into the value. */
  | "endless"
  /** A keyword with an argument that its dialect does not allow, or a value that is not JSON. */
  | "malformed"
  /** A regular expression that does not compile, or one of a peer that cannot be left out without changing the meaning. */
  | "pattern"
  /** Over one of the bounds in `SchemaLimits`. */
  | "too-large"
  /** Valid JSON Schema that the default validator cannot evaluate. */
  | "unsupported";

/** A schema that cannot be used, with the reason, the place and the remedy. Thrown when it is compiled, never later. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly reason: SchemaReason;
  /** A JSON pointer to the offending place in the schema; empty for the root. */
  readonly pointer: string;

  constructor(reason: SchemaReason, pointer: string, problem: string, options?: ErrorOptions) {
    super(pointer === "" ? problem : `${shorten(pointer)}: ${problem}`, options);
    this.reason = reason;
    this.pointer = pointer;
  }

  /** The same error, whose message begins with the name of what the schema belongs to. */
  of(subject: string): SchemaError {
    const named = new SchemaError(this.reason, "", `${subject}: ${this.message}`, { cause: this.cause });
    return Object.assign(named, { pointer: this.pointer });
  }
}

/** A text as it may stand in a message: a peer's names can be a hundred kilobytes long. */
export function shorten(text: string, length = 100): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
