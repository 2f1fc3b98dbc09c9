import type { StandardTypedV1 } from "@standard-schema/spec";
import { type Clock, systemClock } from "../base/clock.js";
import { isObject, type JsonObject, kindOf } from "../base/json.js";
import type { MaybePromise } from "../base/maybe-promise.js";
import { isZod3 } from "./converters.js";
import { freezeJson } from "./freeze-json.js";
import type { JsonSchemaValidator } from "./json-schema-validator.js";
import { authorLimits, peerLimits, type SchemaLimits } from "./limits.js";
import { isRawShape, type RawShape, shapeProps } from "./raw-shape.js";
import { SchemaError } from "./schema-error.js";
import type { Checked } from "./schema-fault.js";
import { checkStandard, describeStandard, isValidating, standardProps } from "./standard-schema.js";
import { typeTest } from "./validator/keyword-checks.js";
import {
  checkExpansion,
  checkRoot,
  type Dialect,
  dialectOf,
  type NormalSchema,
  normalise,
} from "./validator/normal-form.js";
import { defaultValidator } from "./validator/validator.js";

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
  const accepts = validator === undefined ? plainShape(normal.schema) : undefined;
  const faultsOf = (validator ?? defaultValidator).compile(normal.schema, { limits, clock });
  const check = (value: unknown): Checked<unknown> => {
    if (accepts?.(value) === true) return { ok: true, value };
    const errors = faultsOf(value);
    return errors.length === 0 ? { ok: true, value } : { ok: false, errors };
  };
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

/**
 * Returns true if the value is certainly valid. False means that the value is invalid or that only the validator can
 * decide.
 */
type Accept = (value: unknown) => boolean;

/**
 * A quick check for common schemas: objects and arrays of scalars. An accepted value is valid. If the value is not
 * accepted, or the schema is not supported (undefined), the default validator decides and writes the message. Runs in time
 * linear in the value.
 */
function plainShape(schema: unknown): Accept | undefined {
  if (typeof schema === "boolean") return schema ? isJson : () => false;
  const { type, properties, additionalProperties, required, ...others } = schema as NormalSchema;
  const isOfObject = type === "object" || (properties ?? additionalProperties ?? required) !== undefined;
  const accepts: Accept[] = [];
  for (const accept of [
    ...(isOfObject ? [plainObject(schema as NormalSchema)] : []),
    ...(type === undefined || type === "object" ? [] : [typeTest(type)]),
    ...Object.entries(others).map(([keyword, argument]) => plainKeywords.get(keyword)?.(argument)),
  ]) {
    if (accept === undefined) return undefined;
    accepts.push(accept);
  }
  const [first = isJson, second] = accepts;
  return second === undefined ? first : (value) => accepts.every((accept) => accept(value));
}

/** The check for an object, by all keywords that describe one. */
function plainObject({
  type,
  properties,
  additionalProperties = true,
  required = [],
}: NormalSchema): Accept | undefined {
  const members = new Map<string, Accept>();
  for (const [name, member] of Object.entries((properties ?? {}) as NormalSchema)) {
    const accept = plainShape(member);
    if (accept === undefined) return undefined;
    members.set(name, accept);
  }
  const additional = plainShape(additionalProperties);
  if (additional === undefined) return undefined;
  const names = required as readonly string[];
  return (value) => {
    if (!isObject(value)) return type !== "object" && isJson(value);
    for (const name of Object.keys(value)) {
      const accept = members.get(name) ?? additional;
      if (!accept(value[name])) return false;
    }
    for (const name of names) if (!Object.hasOwn(value, name)) return false;
    return true;
  };
}

/** The checks of other keywords, made of their argument; undefined for one that only the validator can check. */
const plainKeywords: ReadonlyMap<string, (argument: unknown) => Accept | undefined> = new Map<
  string,
  (argument: unknown) => Accept | undefined
>([
  ["enum", (values) => plainValues(values as readonly unknown[])],
  ["const", (value) => plainValues([value])],
  ["items", plainItems],
  ["uniqueItems", (unique) => (unique === true ? isDistinct : isJson)],
  ["minItems", (min) => (value) => !Array.isArray(value) || value.length >= (min as number)],
  ["maxItems", (max) => (value) => !Array.isArray(value) || value.length <= (max as number)],
  ["minimum", (min) => (value) => typeof value !== "number" || value >= (min as number)],
  ["maximum", (max) => (value) => typeof value !== "number" || value <= (max as number)],
  ["exclusiveMinimum", (min) => (value) => typeof value !== "number" || value > (min as number)],
  ["exclusiveMaximum", (max) => (value) => typeof value !== "number" || value < (max as number)],
  // A code point takes one or two UTF-16 units; between the two bounds only counting would decide.
  ["minLength", (min) => (value) => typeof value !== "string" || value.length >= 2 * (min as number) - 1],
  ["maxLength", (max) => (value) => typeof value !== "string" || value.length <= (max as number)],
]);

function plainValues(values: readonly unknown[]): Accept | undefined {
  const known = new Set(values);
  return values.some((value) => typeof value === "object" && value !== null) ? undefined : (value) => known.has(value);
}

function plainItems(schema: unknown): Accept | undefined {
  const item = plainShape(schema);
  return item && ((value) => !Array.isArray(value) || value.every(item));
}

/** The size limit for a set: a peer can choose numbers with colliding hashes, which makes insertion quadratic. */
const mostInSet = 1_000;

/** True for a short array of distinct scalars, and for values that are not arrays. */
function isDistinct(value: unknown): boolean {
  if (!Array.isArray(value)) return true;
  if (value.length > mostInSet) return false;
  const plain = value.every((item) => typeof item !== "object" || item === null);
  return plain && new Set(value).size === value.length;
}

/** True if the value can be JSON, judged by its type alone. */
function isJson(value: unknown): boolean {
  const kind = typeof value;
  return kind === "object" || kind === "string" || kind === "number" || kind === "boolean";
}
