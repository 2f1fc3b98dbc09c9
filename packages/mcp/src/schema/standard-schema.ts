import type { StandardJSONSchemaV1, StandardSchemaV1, StandardTypedV1 } from "@standard-schema/spec";
import { isObject, type JsonObject, pointerToken } from "../base/json.js";
import { andThen, type MaybePromise } from "../base/maybe-promise.js";
import { convert, converterFor } from "./converters.js";
import { type Checked, moreFaults, type SchemaFault } from "./json-schema-validator.js";
import { SchemaError } from "./schema-error.js";

/** The validating part of Standard Schema. A schema without it only describes values. */
export type Validating = Pick<StandardSchemaV1.Props, "validate">;

/** Standard Schema has two parts; a library may implement one or both. */
export type StandardProps = StandardTypedV1.Props &
  Partial<Validating & Pick<StandardJSONSchemaV1.Props, "jsonSchema">>;

/** True for a schema that can validate. */
export function isValidating(props: StandardProps | undefined): props is StandardProps & Validating {
  return props?.validate !== undefined;
}

/** True for an object that implements Standard Schema. */
export function isStandardSchema(value: unknown): boolean {
  return standardProps(value) !== undefined;
}

/** The `~standard` member of a schema; undefined if it has none. */
export function standardProps(schema: unknown): StandardProps | undefined {
  // Some libraries make their schemas functions.
  const holds = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  if (!holds || !("~standard" in schema)) return undefined;
  const props = schema["~standard"];
  return isObject(props) && props.version === 1 ? (props as unknown as StandardProps) : undefined;
}

/** The JSON Schema of a Standard Schema, for the given side. */
export function describeStandard(schema: unknown, props: StandardProps, side: "input" | "output"): JsonObject {
  const { vendor, jsonSchema } = props;
  const converter = jsonSchema === undefined ? converterFor(vendor, schema) : undefined;
  let document: unknown;
  try {
    document = converter ? convert(converter, schema, side) : jsonSchema?.[side]({ target: "draft-2020-12" });
  } catch (cause) {
    if (cause instanceof SchemaError) throw cause;
    throw notRepresentable(`${vendor} cannot express the ${side} of this schema in JSON Schema`, cause);
  }
  if (document === undefined && jsonSchema === undefined) throw undescribed(vendor, converter?.remedy);
  if (isObject(document)) return document;
  throw new SchemaError("not-representable", "", `${vendor} gave no JSON Schema for the ${side} of this schema`);
}

function undescribed(vendor: string, remedyOfConverter: string | undefined): SchemaError {
  const problem = `this version of ${vendor} does not describe its schemas as JSON Schema (no "~standard".jsonSchema)`;
  const remedy = "update it, wrap the schema with the library's converter to Standard JSON Schema, or give JSON Schema";
  return new SchemaError("no-json-schema", "", remedyOfConverter ?? `${problem}: ${remedy}`);
}

function notRepresentable(problem: string, cause: unknown): SchemaError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const remedy = "use a type that JSON has, such as a string in ISO format for a date, or give JSON Schema";
  return new SchemaError("not-representable", "", `${problem}: ${reason}: ${remedy}`, { cause });
}

/** Validates a value with the schema's own library. */
export function checkStandard(props: Validating, value: unknown, most: number): MaybePromise<Checked<unknown>> {
  return andThen(props.validate(value), (result) => {
    const { issues } = result;
    if (issues === undefined) return { ok: true, value: result.value };
    const errors = issues.slice(0, most).map(toFault);
    return { ok: false, errors: issues.length > most ? [...errors, moreFaults(most)] : errors };
  });
}

function toFault({ path = [], message }: StandardSchemaV1.Issue): SchemaFault {
  const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
  return { path: keys.map((key) => `/${pointerToken(String(key))}`).join(""), message };
}
