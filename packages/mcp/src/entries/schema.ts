/**
 * Schemas: compiles any Standard Schema or JSON Schema to the JSON Schema to send and a function to check values.
 *
 * @module schema
 */
import "../base/runtime.js";

export {
  type CompiledSchema,
  compile,
  type InferInput,
  type InferOutput,
  type InputSchema,
  type Schema,
} from "../schema/compile.js";
export type { JsonSchemaValidator, SchemaFault } from "../schema/json-schema-validator.js";
export { SchemaError } from "../schema/schema-error.js";
