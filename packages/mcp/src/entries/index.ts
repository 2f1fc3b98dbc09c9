/**
 * Types shared by servers and clients: the messages of the protocol in their newest shape, versions, and error codes.
 *
 * @module mcp
 */
import "../base/runtime.js";

export type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
export { catalogueCodes, specCodes } from "../protocol/errors.js";
export type { ParamsByMethod, ParamsByNotification, ResultByMethod } from "../protocol/method-params.js";
export { handshakeVersions, latest, latestHandshake, statelessVersions, versions } from "../protocol/revisions/all.js";
export type { CompletionReference } from "../protocol/types/completion.js";
export type {
  ContentBlock,
  Icon,
  ImageContent,
  Resource,
  ResourceContents,
  ResourceLink,
  TextContent,
} from "../protocol/types/content.js";
export type { ElicitFormParams, ElicitResult, ElicitUrlParams, FormSchema } from "../protocol/types/elicitation.js";
export type { Implementation } from "../protocol/types/implementation.js";
export type { LoggingLevel } from "../protocol/types/logging.js";
export type { ProgressParams } from "../protocol/types/progress.js";
export type { GetPromptResult, Prompt, PromptMessage } from "../protocol/types/prompts.js";
export type { ReadResourceResult, ResourceTemplate } from "../protocol/types/resources.js";
export type { Root } from "../protocol/types/roots.js";
export type { CreateMessageParams, CreateMessageResult } from "../protocol/types/sampling.js";
export type { SubscriptionFilter } from "../protocol/types/subscriptions.js";
export type { TaskState } from "../protocol/types/tasks.js";
export type { CallToolResult, Tool, ToolAnnotations } from "../protocol/types/tools.js";
