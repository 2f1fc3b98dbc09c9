import type { JsonObject } from "../protocol/json.js";
import type { CallToolResult } from "../protocol/tools.js";
import type { InferInput, InferOutput, Schema } from "../schema/compile.js";

/** What the types of a tool's calls come from: the definition that the server was given has both. */
export interface ToolSchemas {
  readonly inputSchema?: Schema;
  readonly outputSchema?: Schema;
}

/** The tools of a server by name, for typed calls. They are types alone: what comes is checked by what the server lists. */
export type ToolTypes = Readonly<Record<string, ToolSchemas>>;

/** The arguments of a tool. */
export type ToolArguments<Tool extends ToolSchemas> = Tool extends { readonly inputSchema: infer Input extends Schema }
  ? InferInput<Input>
  : JsonObject;

/** What a call of a tool gives. A tool that fails has no structured content, so it is to be looked for. */
export type ToolResult<Tool extends ToolSchemas> = Tool extends { readonly outputSchema: infer Output extends Schema }
  ? CallToolResult & { readonly structuredContent?: InferOutput<Output> }
  : CallToolResult;
