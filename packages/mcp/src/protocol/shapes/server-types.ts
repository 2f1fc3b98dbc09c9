import {
  any,
  array,
  boolean,
  extending,
  integer,
  literal,
  map,
  object,
  optional,
  ref,
  string,
  type Types,
  tagged,
  uri,
  uriTemplate,
} from "./shape.js";
import { meta } from "./wrapper-types.js";

const toolHint = optional(boolean);

const tools: Types = {
  // Only these members are checked here; the rest of a JSON Schema is between the tool and its caller.
  InputSchema: object({ type: literal("object"), $schema: optional(string) }),
  OutputSchema: object({ $schema: optional(string) }),
  ToolAnnotations: object({
    title: optional(string),
    readOnlyHint: toolHint,
    destructiveHint: toolHint,
    idempotentHint: toolHint,
    openWorldHint: toolHint,
  }),
  Tool: extending(["BaseMetadata", "Icons"], {
    description: optional(string),
    inputSchema: ref("InputSchema"),
    outputSchema: optional(ref("OutputSchema")),
    annotations: optional(ref("ToolAnnotations")),
    _meta: meta,
  }),
  ListToolsResult: extending(["PaginatedResult", "CacheableResult"], { tools: array(ref("Tool")) }),
  CallToolRequestParams: extending(["InputResponseRequestParams"], { name: string, arguments: optional(object({})) }),
  CallToolResult: extending(["Result"], {
    content: array(ref("ContentBlock")),
    structuredContent: optional(any),
    isError: optional(boolean),
  }),
  CallToolOutcome: tagged("resultType", ["CallToolResult", "InputRequiredResult"]),
};

const resources: Types = {
  ResourceTemplate: extending(["BaseMetadata", "Icons"], {
    uriTemplate,
    description: optional(string),
    mimeType: optional(string),
    annotations: optional(ref("Annotations")),
    _meta: meta,
  }),
  ListResourcesResult: extending(["PaginatedResult", "CacheableResult"], { resources: array(ref("Resource")) }),
  ListResourceTemplatesResult: extending(["PaginatedResult", "CacheableResult"], {
    resourceTemplates: array(ref("ResourceTemplate")),
  }),
  ReadResourceRequestParams: extending(["InputResponseRequestParams"], { uri }),
  ReadResourceResult: extending(["CacheableResult"], { contents: array(ref("Contents")) }),
  ReadResourceOutcome: tagged("resultType", ["ReadResourceResult", "InputRequiredResult"]),
  SubscribeRequestParams: extending(["RequestParams"], { uri }),
};

const prompts: Types = {
  PromptArgument: extending(["BaseMetadata"], { description: optional(string), required: optional(boolean) }),
  Prompt: extending(["BaseMetadata", "Icons"], {
    description: optional(string),
    arguments: optional(array(ref("PromptArgument"))),
    _meta: meta,
  }),
  PromptMessage: object({ role: ref("Role"), content: ref("ContentBlock") }),
  ListPromptsResult: extending(["PaginatedResult", "CacheableResult"], { prompts: array(ref("Prompt")) }),
  GetPromptRequestParams: extending(["InputResponseRequestParams"], {
    name: string,
    arguments: optional(map(string)),
  }),
  GetPromptResult: extending(["Result"], { description: optional(string), messages: array(ref("PromptMessage")) }),
  GetPromptOutcome: tagged("resultType", ["GetPromptResult", "InputRequiredResult"]),
};

const completion: Types = {
  PromptReference: extending(["BaseMetadata"], { type: literal("ref/prompt") }),
  ResourceTemplateReference: object({ type: literal("ref/resource"), uri: uriTemplate }),
  CompletionReference: tagged("type", ["PromptReference", "ResourceTemplateReference"]),
  CompleteRequestParams: extending(["RequestParams"], {
    ref: ref("CompletionReference"),
    argument: object({ name: string, value: string }),
    context: optional(object({ arguments: optional(map(string)) })),
  }),
  CompleteResult: extending(["Result"], {
    completion: object({ values: array(string, 100), total: optional(integer), hasMore: optional(boolean) }),
  }),
};

/** The types of server requests for tools, resources, prompts and completion. */
export const serverTypes: Types = { ...tools, ...resources, ...prompts, ...completion };
