/**
 * Schemas: compiles any Standard Schema or JSON Schema to the JSON Schema to send and a function to check values.
 *
 * @module
 */
import "../base/runtime.js";

export type { MaybePromise } from "../base/maybe-promise.js";
export {
  type CompiledSchema,
  type CompileOptions,
  compile,
  type InferInput,
  type InferOutput,
  type InputSchema,
  type Schema,
} from "../schema/compile.js";
export type { CheckBounds, JsonSchemaValidator } from "../schema/json-schema-validator.js";
export { authorLimits, peerLimits, type SchemaLimits } from "../schema/limits.js";
export type { RawShape } from "../schema/raw-shape.js";
export { SchemaError, type SchemaReason } from "../schema/schema-error.js";
export type { Checked, SchemaFault } from "../schema/schema-fault.js";
export type { NormalSchema } from "../schema/validator/normal-form.js";
export { defaultValidator } from "../schema/validator/validator.js";
