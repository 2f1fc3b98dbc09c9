import type { StandardTypedV1 } from "@standard-schema/spec";
import { type Clock, systemClock } from "../base/clock.js";
import { isObject, type JsonObject, kindOf } from "../base/json.js";
import type { MaybePromise } from "../base/maybe-promise.js";
import { isZod3 } from "./converters.js";
import { freezeJson } from "./freeze-json.js";
import {
  authorLimits,
  type Checked,
  type JsonSchemaValidator,
  peerLimits,
  type SchemaLimits,
} from "./json-schema-validator.js";
import { isRawShape, type RawShape, shapeProps } from "./raw-shape.js";
import { SchemaError } from "./schema-error.js";
import { checkStandard, describeStandard, isValidating, standardProps } from "./standard-schema.js";
import { ruleOf } from "./validator/keyword-checks.js";
import { checkExpansion, checkRoot, type Dialect, dialectOf, normalise } from "./validator/normal-form.js";
import { checkedBy, checkOf } from "./validator/validator.js";

/**
 * A schema: a Standard Schema from any library, an object of named Standard Schemas (a raw shape), or plain JSON
 * Schema.
 */
export type Schema = StandardTypedV1 | RawShape | JsonObject;

/** A schema for a tool's arguments, which are always an object. */
export type InputSchema =
  | StandardTypedV1<object & { readonly [Symbol.iterator]?: never }, unknown>
  | RawShape
  | JsonObject;

/** The type of values before validation. */
export type InferInput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferInput<S>
  : S extends RawShape
    ? Fields<{ [Name in keyof S]: StandardTypedV1.InferInput<S[Name]> }>
    : Record<string, unknown>;

/** The type of values after validation, with defaults and transforms applied. */
export type InferOutput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends RawShape
    ? Fields<{ [Name in keyof S]: StandardTypedV1.InferOutput<S[Name]> }>
    : Record<string, unknown>;

/** An object type in which members that may be `undefined` are optional. */
type Fields<Shape> = Flat<
  { [Name in keyof Shape as undefined extends Shape[Name] ? never : Name]: Shape[Name] } & {
    [Name in keyof Shape as undefined extends Shape[Name] ? Name : never]?: Shape[Name];
  }
>;
type Flat<Members> = { -readonly [Name in keyof Members]: Members[Name] };

/** Options of `compile`. */
export interface CompileOptions {
  /**
   * The side that the JSON Schema describes: values before validation (`"input"`, the default) or after it
   * (`"output"`).
   */
  readonly side?: "input" | "output";
  /**
   * With `"object"`, the root must declare `type: "object"`, as the protocol requires for tool arguments. Default: any
   * root.
   */
  readonly root?: "object";
  /**
   * The origin of the schema. A peer's schema may be hostile, so it gets the limits of `peerLimits`. Default:
   * `"author"`.
   */
  readonly trust?: "author" | "peer";
  /**
   * Whether `format` is enforced. Default: enforced for an author's schema; an annotation for a peer's, as JSON Schema
   * specifies.
   */
  readonly formats?: "assert" | "annotate";
  /** Limits of validation. Defaults: those of the `trust`. */
  readonly limits?: Partial<SchemaLimits>;
  /** The validator for JSON Schema. A Standard Schema validates with its own library instead. Default: that of this library. */
  readonly validator?: JsonSchemaValidator;
  /** The clock of the time limit. Default: that of the system. */
  readonly clock?: Pick<Clock, "now">;
}

/** A compiled schema: the JSON Schema to send, and a function to check values. */
export interface CompiledSchema<T = unknown> {
  /** The JSON Schema, deeply frozen, with all its annotations. */
  readonly json: JsonObject;
  /** JSON pointers into `json` to a peer's patterns that are not checked, because they could backtrack for too long. */
  readonly unchecked: readonly string[];
  /**
   * Checks a value. A Standard Schema returns its library's output, as a promise only if the library is asynchronous.
   * JSON Schema returns the value unchanged: it has no transforms, and `default` is an annotation. Throws only if the
   * library throws.
   */
  check(value: unknown): MaybePromise<Checked<T>>;
}

/**
 * Compiles a schema. Run once, at registration.
 * https://standardschema.dev/json-schema
 *
 * @example
 * const schema = compile({ type: "object", properties: { a: { type: "number" } }, required: ["a"] });
 * schema.check({ a: 1 }); // { ok: true, value: { a: 1 } }
 * schema.check({}); // { ok: false, errors: [{ path: "/a", message: "expected number, got nothing" }] }
 *
 * @throws SchemaError if the schema cannot be used
 */
export function compile<S extends Schema>(schema: S, options: CompileOptions = {}): CompiledSchema<InferOutput<S>> {
  const { side = "input", trust = "author", root } = options;
  const limits = { ...(trust === "peer" ? peerLimits : authorLimits), ...options.limits };
  const standard = standardProps(schema) ?? (isRawShape(schema) ? shapeProps(schema) : undefined);
  const document = standard === undefined ? jsonSchema(schema) : describeStandard(schema, standard, side);
  const json = freezeJson(root === undefined || standard === undefined ? document : asObject(document), limits);
  const dialect = dialectOf(json);
  if (root === "object") checkRoot(json);
  const compiled = isValidating(standard)
    ? { json, unchecked: [], check: (value: unknown) => checkStandard(standard, value, limits.errors) }
    : compileJson(json, dialect, limits, options);
  // The output type follows from the library or the JSON Schema, which the compiler cannot see.
  return compiled as CompiledSchema<InferOutput<S>>;
}

/** Compiles a schema that belongs to a named subject, and puts that name at the start of a `SchemaError` message. */
export function compileFor(subject: string, schema: Schema, options: CompileOptions = {}): CompiledSchema {
  try {
    return compile(schema, options);
  } catch (error) {
    throw error instanceof SchemaError ? error.of(subject) : error;
  }
}

function jsonSchema(schema: unknown): JsonObject {
  if (isZod3(schema) || (isObject(schema) && Object.values(schema).some(isZod3))) {
    const problem =
      "this version of zod does not support Standard Schema: update to zod 4, or to 3.24 with zod-to-json-schema";
    throw new SchemaError("no-json-schema", "", problem);
  }
  if (isObject(schema)) return schema;
  const problem = `expected a Standard Schema, fields of them or a JSON Schema object, got ${kindOf(schema)}`;
  const remedy = "wrap it with the library's converter to Standard JSON Schema, or give JSON Schema";
  throw new SchemaError("not-a-schema", "", `${problem}: ${remedy}`);
}

/** Adds `type: "object"` to a union of objects. Libraries omit it there, and the protocol requires it at the root. */
function asObject(document: JsonObject): JsonObject {
  const { type, anyOf, oneOf = anyOf } = document;
  const isUnion =
    Array.isArray(oneOf) && oneOf.length > 0 && oneOf.every((each) => isObject(each) && each.type === "object");
  return type === undefined && isUnion ? { ...document, type: "object" } : document;
}

function compileJson(
  json: JsonObject,
  dialect: Dialect,
  limits: SchemaLimits,
  { side, trust = "author", formats, validator, clock = systemClock }: CompileOptions,
): CompiledSchema {
  const asserted = formats ?? (trust === "author" ? "assert" : "annotate");
  const normal = normalise(json, { dialect, trust, formats: asserted, limits });
  checkExpansion(normal, limits.subschemas);
  const bounds = { limits, clock };
  const check =
    validator === undefined
      ? checkOf(ruleOf(normal.schema), bounds)
      : checkedBy(validator.compile(normal.schema, bounds));
  const isResult = side === "output" && trust === "author";
  return { json, unchecked: normal.unchecked, check: isResult ? (value) => checkResult(check, value) : check };
}

/**
 * Checks a handler's result. If it fails, the check runs again on its JSON form, because the schema describes the sent
 * value: JSON drops undefined members and turns dates into text.
 */
function checkResult(check: (value: unknown) => Checked<unknown>, value: unknown): Checked<unknown> {
  const checked = check(value);
  if (checked.ok) return checked;
  const sent = asSent(value);
  return sent === undefined ? checked : check(sent);
}

function asSent(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined; // Without a JSON form, the first faults are kept.
  }
}
