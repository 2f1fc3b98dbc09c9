// The first revision: handshake, tools, resources, prompts, sampling and roots, over stdio and HTTP+SSE.
// Its successors are stated as changes to it, so this file has every message and type that exists since then. Types are
// named as in the newest schema, even where the older schemas have no name for them; types without a name there have our
// own. A type `…Outcome` is the result of a request: later revisions add alternatives to it.
// https://modelcontextprotocol.io/specification/2024-11-05

import { codes } from "../../jsonrpc/errors.js";
import { specCodes } from "../errors.js";
import { metaKeys } from "../meta.js";
import { methods, notifications } from "../methods.js";
import {
  any,
  anyOf,
  array,
  base64,
  boolean,
  extending,
  fraction,
  integer,
  literal,
  map,
  number,
  object,
  optional,
  ref,
  type Shape,
  string,
  type Types,
  tagged,
  uri,
  uriTemplate,
} from "../shapes/shape.js";
import { loggingLevels } from "../types/logging.js";
import { type Edition, firstEdition } from "./revision.js";

const { parseError, invalidRequest, methodNotFound, invalidParams, internalError } = codes;

/** A request id, or a progress token. */
export const requestId: Shape = anyOf("a string or an integer", [string, integer]);

/** `_meta` of any object. Extensions may add keys. */
export const meta: Shape = optional(ref("MetaObject"));

const ping = { params: optional(ref("RequestParams")), result: ref("Result") };
const plain = optional(ref("NotificationParams"));
const cancelled = ref("CancelledNotificationParams");
const progress = ref("ProgressNotificationParams");

const listChanged = optional(boolean);
const setting = optional(object({}));
const settings = optional(map(object({})));
const annotations = optional(ref("Annotations"));

const common: Types = {
  MetaObject: object({}),
  RequestMetaObject: object({ [metaKeys.progressToken]: optional(requestId) }),
  NotificationMetaObject: object({}),
  ResultMetaObject: object({}),
  RequestParams: object({ _meta: optional(ref("RequestMetaObject")) }),
  NotificationParams: object({ _meta: optional(ref("NotificationMetaObject")) }),
  Result: object({ _meta: optional(ref("ResultMetaObject")) }),
  PaginatedRequestParams: extending(["RequestParams"], { cursor: optional(string) }),
  ListRequestParams: optional(ref("PaginatedRequestParams")),
  PaginatedResult: extending(["Result"], { nextCursor: optional(string) }),
  BaseMetadata: object({ name: string }),

  Implementation: extending(["BaseMetadata"], { version: string }),
  ClientCapabilities: object({
    roots: optional(object({ listChanged })),
    sampling: setting,
    experimental: settings,
  }),
  ServerCapabilities: object({
    tools: optional(object({ listChanged })),
    resources: optional(object({ subscribe: optional(boolean), listChanged })),
    prompts: optional(object({ listChanged })),
    logging: setting,
    experimental: settings,
  }),
  InitializeRequestParams: extending(["RequestParams"], {
    protocolVersion: string,
    capabilities: ref("ClientCapabilities"),
    clientInfo: ref("Implementation"),
  }),
  InitializeResult: extending(["Result"], {
    protocolVersion: string,
    capabilities: ref("ServerCapabilities"),
    serverInfo: ref("Implementation"),
    instructions: optional(string),
  }),

  LoggingLevel: literal(...loggingLevels),
  SetLevelRequestParams: extending(["RequestParams"], { level: ref("LoggingLevel") }),
  LoggingMessageNotificationParams: extending(["NotificationParams"], {
    level: ref("LoggingLevel"),
    logger: optional(string),
    data: any,
  }),
  CancelledNotificationParams: extending(["NotificationParams"], { requestId, reason: optional(string) }),
  ProgressNotificationParams: extending(["NotificationParams"], {
    progressToken: requestId,
    progress: number,
    total: optional(number),
  }),
  ResourceUpdatedNotificationParams: extending(["NotificationParams"], { uri }),
};

const content: Types = {
  Role: literal("user", "assistant"),
  Annotations: object({ audience: optional(array(ref("Role"))), priority: optional(fraction) }),
  TextContent: object({ type: literal("text"), text: string, annotations }),
  ImageContent: object({ type: literal("image"), data: base64, mimeType: string, annotations }),
  EmbeddedResource: object({ type: literal("resource"), resource: ref("Contents"), annotations }),
  ContentBlock: tagged("type", ["TextContent", "ImageContent", "EmbeddedResource"]),
  ResourceContents: object({ uri, mimeType: optional(string) }),
  TextResourceContents: extending(["ResourceContents"], { text: string }),
  BlobResourceContents: extending(["ResourceContents"], { blob: base64 }),
  Contents: anyOf("an object with text or blob", [ref("TextResourceContents"), ref("BlobResourceContents")]),
};

const serverFeatures: Types = {
  // Only these members are checked here; the rest of a JSON Schema is between the tool and its caller.
  InputSchema: object({
    type: literal("object"),
    properties: optional(map(object({}))),
    required: optional(array(string)),
  }),
  Tool: extending(["BaseMetadata"], { description: optional(string), inputSchema: ref("InputSchema") }),
  ListToolsResult: extending(["PaginatedResult"], { tools: array(ref("Tool")) }),
  CallToolRequestParams: extending(["RequestParams"], { name: string, arguments: optional(object({})) }),
  CallToolResult: extending(["Result"], { content: array(ref("ContentBlock")), isError: optional(boolean) }),
  CallToolOutcome: ref("CallToolResult"),

  Resource: extending(["BaseMetadata"], {
    uri,
    description: optional(string),
    mimeType: optional(string),
    size: optional(integer),
    annotations,
  }),
  ResourceTemplate: extending(["BaseMetadata"], {
    uriTemplate,
    description: optional(string),
    mimeType: optional(string),
    annotations,
  }),
  ListResourcesResult: extending(["PaginatedResult"], { resources: array(ref("Resource")) }),
  ListResourceTemplatesResult: extending(["PaginatedResult"], { resourceTemplates: array(ref("ResourceTemplate")) }),
  ReadResourceRequestParams: extending(["RequestParams"], { uri }),
  ReadResourceResult: extending(["Result"], { contents: array(ref("Contents")) }),
  ReadResourceOutcome: ref("ReadResourceResult"),
  SubscribeRequestParams: extending(["RequestParams"], { uri }),

  PromptArgument: extending(["BaseMetadata"], { description: optional(string), required: optional(boolean) }),
  Prompt: extending(["BaseMetadata"], {
    description: optional(string),
    arguments: optional(array(ref("PromptArgument"))),
  }),
  PromptMessage: object({ role: ref("Role"), content: ref("ContentBlock") }),
  ListPromptsResult: extending(["PaginatedResult"], { prompts: array(ref("Prompt")) }),
  GetPromptRequestParams: extending(["RequestParams"], { name: string, arguments: optional(map(string)) }),
  GetPromptResult: extending(["Result"], { description: optional(string), messages: array(ref("PromptMessage")) }),
  GetPromptOutcome: ref("GetPromptResult"),

  PromptReference: extending(["BaseMetadata"], { type: literal("ref/prompt") }),
  ResourceTemplateReference: object({ type: literal("ref/resource"), uri: uriTemplate }),
  CompletionReference: tagged("type", ["PromptReference", "ResourceTemplateReference"]),
  CompleteRequestParams: extending(["RequestParams"], {
    ref: ref("CompletionReference"),
    argument: object({ name: string, value: string }),
  }),
  CompleteResult: extending(["Result"], {
    completion: object({ values: array(string, 100), total: optional(integer), hasMore: optional(boolean) }),
  }),
};

const clientFeatures: Types = {
  InputRequestParams: extending(["RequestParams"]),
  SamplingMessageContentBlock: tagged("type", ["TextContent", "ImageContent"]),
  SamplingContent: ref("SamplingMessageContentBlock"),
  SamplingMessage: object({ role: ref("Role"), content: ref("SamplingContent") }),
  ModelPreferences: object({
    hints: optional(array(object({ name: optional(string) }))),
    costPriority: optional(fraction),
    speedPriority: optional(fraction),
    intelligencePriority: optional(fraction),
  }),
  CreateMessageRequestParams: extending(["InputRequestParams"], {
    messages: array(ref("SamplingMessage")),
    maxTokens: integer,
    modelPreferences: optional(ref("ModelPreferences")),
    systemPrompt: optional(string),
    includeContext: optional(literal("none", "thisServer", "allServers")),
    temperature: optional(number),
    stopSequences: optional(array(string)),
    metadata: optional(object({})),
  }),
  CreateMessageResult: object({
    role: ref("Role"),
    content: ref("SamplingContent"),
    model: string,
    stopReason: optional(string),
    _meta: meta,
  }),
  CreateMessageOutcome: ref("CreateMessageResult"),

  Root: object({ uri, name: optional(string) }),
  ListRootsResult: object({ roots: array(ref("Root")), _meta: meta }),
};

/** The complete definition of 2024-11-05. */
export const v2024_11_05: Edition = firstEdition("2024-11-05", {
  era: "handshake",

  requests: {
    client: {
      added: {
        [methods.initialize]: { params: ref("InitializeRequestParams"), result: ref("InitializeResult") },
        [methods.ping]: ping,
        [methods.listTools]: { params: ref("ListRequestParams"), result: ref("ListToolsResult") },
        [methods.callTool]: { params: ref("CallToolRequestParams"), result: ref("CallToolOutcome") },
        [methods.listResources]: { params: ref("ListRequestParams"), result: ref("ListResourcesResult") },
        [methods.listResourceTemplates]: {
          params: ref("ListRequestParams"),
          result: ref("ListResourceTemplatesResult"),
        },
        [methods.readResource]: { params: ref("ReadResourceRequestParams"), result: ref("ReadResourceOutcome") },
        [methods.subscribe]: { params: ref("SubscribeRequestParams"), result: ref("Result") },
        [methods.unsubscribe]: { params: ref("SubscribeRequestParams"), result: ref("Result") },
        [methods.listPrompts]: { params: ref("ListRequestParams"), result: ref("ListPromptsResult") },
        [methods.getPrompt]: { params: ref("GetPromptRequestParams"), result: ref("GetPromptOutcome") },
        [methods.complete]: { params: ref("CompleteRequestParams"), result: ref("CompleteResult") },
        [methods.setLevel]: { params: ref("SetLevelRequestParams"), result: ref("Result") },
      },
    },
    server: {
      added: {
        [methods.ping]: ping,
        [methods.createMessage]: { params: ref("CreateMessageRequestParams"), result: ref("CreateMessageOutcome") },
        [methods.listRoots]: { params: optional(ref("InputRequestParams")), result: ref("ListRootsResult") },
      },
    },
  },

  notifications: {
    client: {
      added: {
        [notifications.initialized]: plain,
        [notifications.cancelled]: cancelled,
        [notifications.progress]: progress,
        [notifications.rootsChanged]: plain,
      },
    },
    server: {
      added: {
        [notifications.cancelled]: cancelled,
        [notifications.progress]: progress,
        [notifications.message]: ref("LoggingMessageNotificationParams"),
        [notifications.resourceUpdated]: ref("ResourceUpdatedNotificationParams"),
        [notifications.resourcesChanged]: plain,
        [notifications.toolsChanged]: plain,
        [notifications.promptsChanged]: plain,
      },
    },
  },

  facts: {
    // JSON-RPC has batches, but the schema of this revision has no arrays, and 2025-03-26, which adds them, warns that
    // earlier peers may not support them. A batch gets an error, so its sender can repeat the messages singly.
    batches: false,
    errorId: "required",

    negotiation: "should",

    progressMessage: false,
    titles: false,
    icons: false,
    itemMeta: false,
    metaKeys: "free",

    audio: false,
    resourceLinks: false,
    toolAnnotations: false,
    structuredContent: "none",
    toolSchemas: "unnamed",
    toolArgumentErrors: "any",

    completionsCapability: false,
    completionContext: false,
    elicitation: "none",
    samplingTools: false,
    tasks: "none",

    httpBinding: "http+sse",
    httpPolling: false,
    httpVersionHeader: "none",
    httpOriginRefusal: undefined,
    authorization: "none",
  },

  codes: {
    parseError,
    invalidRequest,
    methodNotFound,
    invalidParams,
    internalError,
    // https://modelcontextprotocol.io/specification/2024-11-05/server/resources#error-handling
    resourceNotFound: specCodes.resourceNotFound,
    // https://modelcontextprotocol.io/specification/2024-11-05/client/sampling#error-handling
    userRejected: specCodes.userRejected,
    urlElicitationRequired: undefined,
    headerMismatch: undefined,
    missingRequiredClientCapability: undefined,
    unsupportedProtocolVersion: undefined,
  },

  types: { ...common, ...content, ...serverFeatures, ...clientFeatures },
});
