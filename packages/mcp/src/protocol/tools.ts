import type { BaseMetadata, ContentBlock, Icon } from "./content.js";
import { isObject, type JsonObject } from "./json.js";
import type { InputResponseParams } from "./params.js";
import type { PaginatedResult, Result } from "./result.js";

/** A JSON Schema (2020-12 unless `$schema` says otherwise) whose root is of type object. */
export interface ObjectSchema {
  readonly type: "object";
  readonly $schema?: string;
  readonly [keyword: string]: unknown;
}

/** Narrows to a schema whose root says `type: "object"`. */
export function isObjectSchema(schema: unknown): schema is ObjectSchema {
  return isObject(schema) && schema.type === "object";
}

/** Hints on what a tool does. A client does not rely on those of a server that it does not trust. */
export interface ToolAnnotations {
  readonly title?: string;
  /** It changes nothing. Default: false. */
  readonly readOnlyHint?: boolean;
  /** It may destroy or overwrite, not only add. Default: true. */
  readonly destructiveHint?: boolean;
  /** Calling it again with the same arguments changes nothing more. Default: false. */
  readonly idempotentHint?: boolean;
  /** It reaches a world that the server does not know in full, such as the web. Default: true. */
  readonly openWorldHint?: boolean;
}

/** How a tool runs, where tasks belong to the core protocol. */
export interface ToolExecution {
  /** Whether a call may, must or cannot ask to run as a task. Default: `"forbidden"`. */
  readonly taskSupport?: "optional" | "required" | "forbidden";
}

/**
 * Something that a model can call.
 * https://modelcontextprotocol.io/specification/latest/schema#tool
 */
export interface Tool extends BaseMetadata {
  readonly description?: string;
  readonly inputSchema: ObjectSchema;
  /** A JSON Schema of any root type, for `structuredContent`. */
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly Icon[];
  readonly execution?: ToolExecution;
  readonly _meta?: JsonObject;
}

/** Result of `tools/list`. */
export interface ListToolsResult extends PaginatedResult {
  readonly tools: readonly Tool[];
}

/** Params of `tools/call`. */
export interface CallToolParams extends InputResponseParams {
  readonly name: string;
  /** Absent is the same as `{}`. */
  readonly arguments?: JsonObject;
}

/** Result of `tools/call`. */
export interface CallToolResult extends Result {
  /** Always there, if only empty, even next to `structuredContent`. */
  readonly content: readonly ContentBlock[];
  /** Any JSON value, null included: test with `in`. */
  readonly structuredContent?: unknown;
  /** The tool failed, and `content` tells the model why. Default: false. */
  readonly isError?: boolean;
}
