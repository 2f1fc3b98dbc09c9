import { isObject, type JsonObject } from "../../base/json.js";
import type { BaseMetadata, ContentBlock, Icon } from "./content.js";
import type { InputResponseParams } from "./params.js";
import type { PaginatedResult, Result } from "./result.js";

/** A JSON Schema (2020-12 unless `$schema` names another dialect) with `type: "object"` at the root. */
export interface ObjectSchema {
  readonly type: "object";
  /** The dialect of JSON Schema. Default: 2020-12. */
  readonly $schema?: string;
  readonly [keyword: string]: unknown;
}

/**
 * Narrows to a schema with `type: "object"` at the root.
 *
 * @example
 * isObjectSchema({ type: "object" }); // true
 */
export function isObjectSchema(schema: unknown): schema is ObjectSchema {
  return isObject(schema) && schema.type === "object";
}

/** Keywords of JSON Schema with an object of named schemas. */
export const namedSchemas: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);

/** Hints about a tool's behaviour. Clients must not rely on them unless they trust the server. */
export interface ToolAnnotations {
  /** The name to display. `title` of the tool takes precedence. */
  readonly title?: string;
  /** Whether the tool changes nothing. Default: false. */
  readonly readOnlyHint?: boolean;
  /** Whether the tool may delete or overwrite data, not only add to it. Default: true. */
  readonly destructiveHint?: boolean;
  /** Whether repeating a call with the same arguments has no further effect. Default: false. */
  readonly idempotentHint?: boolean;
  /** Whether the tool accesses an open world of external systems, such as the web. Default: true. */
  readonly openWorldHint?: boolean;
}

/** Execution options of a tool, in revisions where tasks are part of the core protocol. */
export interface ToolExecution {
  /** Whether a call may, must or must not ask to run as a task. Default: `"forbidden"`. */
  readonly taskSupport?: "optional" | "required" | "forbidden";
}

/**
 * A tool that a model can call.
 * https://modelcontextprotocol.io/specification/latest/schema#tool
 */
export interface Tool extends BaseMetadata {
  /** A description, for the model. */
  readonly description?: string;
  /** The JSON Schema of the arguments. */
  readonly inputSchema: ObjectSchema;
  /** A JSON Schema of any root type, for `structuredContent`. */
  readonly outputSchema?: JsonObject;
  /** Hints on what the tool does. Untrusted unless the server is trusted. */
  readonly annotations?: ToolAnnotations;
  /** Icons to display. */
  readonly icons?: readonly Icon[];
  /** Whether calls may run as tasks. */
  readonly execution?: ToolExecution;
  /** Metadata of the protocol and of extensions, by prefixed key. */
  readonly _meta?: JsonObject;
}

/** Result of `tools/list`. */
export interface ListToolsResult extends PaginatedResult {
  /** The tools of this page. */
  readonly tools: readonly Tool[];
}

/** Params of `tools/call`. */
export interface CallToolParams extends InputResponseParams {
  /** The name of the tool. */
  readonly name: string;
  /** Absent is equivalent to `{}`. */
  readonly arguments?: JsonObject;
}

/** Result of `tools/call`. */
export interface CallToolResult extends Result {
  /** Required, even if empty or next to `structuredContent`. */
  readonly content: readonly ContentBlock[];
  /** Any JSON value, including null: test for presence with `in`. */
  readonly structuredContent?: unknown;
  /** Whether the tool failed; `content` then explains it to the model. Default: false. */
  readonly isError?: boolean;
}
