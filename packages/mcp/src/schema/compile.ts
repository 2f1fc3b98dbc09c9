import type { StandardTypedV1 } from "@standard-schema/spec";
import { type Clock, systemClock } from "../base/clock.js";
import { isObject, type JsonObject, kindOf } from "../base/json.js";
import type { MaybePromise } from "../base/later.js";
import { isZod3 } from "./converters.js";
import { checkRoot, type Dialect, dialectOf } from "./dialect.js";
import { checkExpansion } from "./expansion.js";
import { freezeJson } from "./freeze-json.js";
import type { JsonSchemaValidator } from "./json-schema-validator.js";
import { authorLimits, peerLimits, type SchemaLimits } from "./limits.js";
import { normalise } from "./normal-form.js";
import { isRawShape, type RawShape, shapeProps } from "./raw-shape.js";
import { SchemaError } from "./schema-error.js";
import type { Checked, SchemaFault } from "./schema-fault.js";
import { checkStandard, describeStandard, isValidating, standardProps } from "./standard-schema.js";
import { defaultValidator } from "./validator.js";

/** What a schema may be given as: a schema of any library that speaks Standard Schema, fields of them, or JSON Schema as it is. */
export type Schema = StandardTypedV1 | RawShape | JsonObject;

/** The same for the arguments of a tool, which are an object. */
export type InputSchema =
  | StandardTypedV1<object & { readonly [Symbol.iterator]?: never }, unknown>
  | RawShape
  | JsonObject;

/** The type that a schema takes in. */
export type InferInput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferInput<S>
  : S extends RawShape
    ? Fields<{ [Name in keyof S]: StandardTypedV1.InferInput<S[Name]> }>
    : Record<string, unknown>;

/** The type that a schema gives out, with defaults filled in and transforms done. */
export type InferOutput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends RawShape
    ? Fields<{ [Name in keyof S]: StandardTypedV1.InferOutput<S[Name]> }>
    : Record<string, unknown>;

/** An object whose members may be missing where they may be undefined. */
type Fields<Shape> = Flat<
  { [Name in keyof Shape as undefined extends Shape[Name] ? never : Name]: Shape[Name] } & {
    [Name in keyof Shape as undefined extends Shape[Name] ? Name : never]?: Shape[Name];
  }
>;
type Flat<Members> = { -readonly [Name in keyof Members]: Members[Name] };

/** How a schema is compiled. */
export interface CompileOptions {
  /** What the JSON Schema describes: what the schema takes in (the default), or what it gives out. */
  readonly side?: "input" | "output";
  /** `"object"`: the root must say so, as the protocol wants of the arguments of a tool. By default it may say anything. */
  readonly root?: "object";
  /** Whose schema it is: a peer's may be hostile. By default our own author's. */
  readonly trust?: "author" | "peer";
  /** Whether a `format` is checked. By default an author's is, and a peer's is an annotation, as JSON Schema has it. */
  readonly formats?: "assert" | "annotate";
  readonly limits?: Partial<SchemaLimits>;
  /** What evaluates JSON Schema. A Standard Schema evaluates itself. */
  readonly validator?: JsonSchemaValidator;
  readonly clock?: Pick<Clock, "now">;
}

/** A schema that is ready for use: what goes over the wire, and what checks values. */
export interface CompiledSchema<T = unknown> {
  /** The JSON Schema, deeply frozen, with all its annotations. */
  readonly json: JsonObject;
  /** JSON pointers into `json`: a peer's regular expressions that are not run, as they might never end. */
  readonly unchecked: readonly string[];
  /**
   * Checks a value. A Standard Schema gives back what its library makes of it; a promise only if the library does.
   * JSON Schema gives back the value: it has no transforms, and a `default` is an annotation. Throws only what a
   * library throws.
   */
  check(value: unknown): MaybePromise<Checked<T>>;
}

/**
 * Compiles a schema, once, when it is registered. Throws a `SchemaError` for one that cannot be used.
 * https://standardschema.dev/json-schema
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
  // The library, or JSON Schema, stands for the type of what a check gives out; no code here can see it.
  return compiled as CompiledSchema<InferOutput<S>>;
}

/**
 * The same, for a schema that belongs to something: the message of a `SchemaError` begins with its name.
 */
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
      "this version of zod speaks no Standard Schema: update to zod 4, or to 3.24 with zod-to-json-schema";
    throw new SchemaError("no-json-schema", "", problem);
  }
  if (isObject(schema)) return schema;
  const problem = `expected a Standard Schema, fields of them or a JSON Schema object, got ${kindOf(schema)}`;
  const remedy = "wrap it with the library's converter to Standard JSON Schema, or give JSON Schema";
  throw new SchemaError("not-a-schema", "", `${problem}: ${remedy}`);
}

/** A union of objects, as libraries describe it: the protocol wants its root to say that it is an object. */
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
  { side, trust = "author", formats, validator = defaultValidator, clock = systemClock }: CompileOptions,
): CompiledSchema {
  const asserted = formats ?? (trust === "author" ? "assert" : "annotate");
  const normal = normalise(json, { dialect, trust, formats: asserted, limits });
  checkExpansion(normal, limits.subschemas);
  const faultsOf = validator.compile(normal.schema, { limits, clock });
  const check = side === "output" && trust === "author" ? checkResult : checkValue;
  return { json, unchecked: normal.unchecked, check: (value) => check(faultsOf, value) };
}

type FaultsOf = (value: unknown) => readonly SchemaFault[];

function checkValue(faultsOf: FaultsOf, value: unknown): Checked<unknown> {
  const errors = faultsOf(value);
  return errors.length === 0 ? { ok: true, value } : { ok: false, errors };
}

/**
 * A handler's result need not be JSON yet: a member may be undefined, a date is an object. What the schema is about is
 * what will be sent, so a result that does not fit is looked at again in that form.
 */
function checkResult(faultsOf: FaultsOf, value: unknown): Checked<unknown> {
  const checked = checkValue(faultsOf, value);
  if (checked.ok) return checked;
  const sent = asSent(value);
  return sent === undefined ? checked : checkValue(faultsOf, sent);
}

function asSent(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined; // Not JSON in any form: the faults that were found stand.
  }
}
