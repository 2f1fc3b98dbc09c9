import type { JsonObject } from "../protocol/json.js";
import type { CallToolResult } from "../protocol/types/tools.js";
import type { InferInput, InferOutput, Schema } from "../schema/compile.js";
import type { ToolSchemas } from "../schema/tool-types.js";

/** The arguments of a tool. */
export type ToolArguments<Tool extends ToolSchemas> = Tool extends { readonly inputSchema: infer Input extends Schema }
  ? InferInput<Input>
  : Tool extends { readonly inputSchema: undefined }
    ? Readonly<Record<string, never>>
    : JsonObject;

/** Result of a tool call. A failed tool has no structured content: check `isError` first. */
export type ToolResult<Tool extends ToolSchemas> = Tool extends { readonly outputSchema: infer Output extends Schema }
  ? CallToolResult & { readonly structuredContent?: InferOutput<Output> }
  : CallToolResult;

/** What follows the name in a call: the arguments may be left out only where the tool needs none. */
export type CallRest<Tool extends ToolSchemas, Options> =
  Readonly<Record<never, never>> extends ToolArguments<Tool>
    ? [args?: ToolArguments<Tool>, options?: Options]
    : [args: ToolArguments<Tool>, options?: Options];
