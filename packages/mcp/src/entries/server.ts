/**
 * MCP servers: one server object for every revision and every transport.
 *
 * @module
 */
import "../base/runtime.js";

import { checkMembers } from "../base/members.js";
import type { Channel } from "../jsonrpc/channel.js";
import type { Connection } from "../jsonrpc/connection.js";
import { type ServeOptions, serveChannel as serve, serveMembers } from "../lifecycle/serve.js";
import { requireServed, type Served } from "../lifecycle/served.js";

export { RawJson } from "../jsonrpc/codec.js";
export { invalidParams, LocalError, type LocalReason, RpcError } from "../jsonrpc/errors.js";
export type { Change, ChangeListener, ChangeSource } from "../lifecycle/change-feed.js";
export type { Answers, Question, Questions } from "../lifecycle/question.js";
export type { InputRequired } from "../lifecycle/rounds.js";
export type { CarrierOptions, ServeOptions } from "../lifecycle/serve.js";
export type { ClientDescription, OpenConversation, Operation, OperationCall, Served } from "../lifecycle/served.js";
export {
  type MemoryRequestStates,
  type MemoryRequestStatesOptions,
  memoryRequestStates,
  type RequestStateStore,
  type StateSealOptions,
} from "../lifecycle/state-seal.js";
export type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
export type {
  Annotations,
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  Icon,
  ImageContent,
  Resource,
  ResourceContents,
  ResourceLink,
  Role,
  TextContent,
} from "../protocol/content.js";
export type { Implementation } from "../protocol/implementation.js";
export type { LoggingLevel } from "../protocol/logging.js";
export type { GetPromptResult, PromptMessage } from "../protocol/prompts.js";
export type { ReadResourceResult } from "../protocol/resources.js";
export type { Root } from "../protocol/roots.js";
export type { CreateMessageParams, CreateMessageResult } from "../protocol/sampling.js";
export type { Bytes, SendableContent } from "../protocol/sendable.js";
export type { ListName } from "../protocol/subscriptions.js";
export type { CallToolResult, Tool, ToolAnnotations, ToolExecution } from "../protocol/tools.js";
export type { InferInput, InferOutput, InputSchema, Schema } from "../schema/compile.js";
export type { ToolSchemas, ToolTypes } from "../schema/tool-types.js";
export type { CacheHints } from "../server/cache-hints.js";
export type { Changed } from "../server/changes.js";
export type { Completer, Completers, Completion } from "../server/completion.js";
export type { Context, QuestionOptions, VisitOptions } from "../server/context.js";
export type { ErrorCodes } from "../server/error-codes.js";
export { ToolError, type ToolErrors } from "../server/errors.js";
export type { MethodHandler } from "../server/extension-methods.js";
export type { CalledOperation, Hooks, OperationEnd, OperationMiddleware } from "../server/pipeline.js";
export type { PromptArguments } from "../server/prompt-arguments.js";
export type { PromptReturn, SendableMessage, SendablePrompt } from "../server/prompt-result.js";
export type { PromptDefinition, PromptHandler, PromptRegistration } from "../server/prompts.js";
export {
  type Ask,
  type FormAnswer,
  form,
  inputRequired,
  roots,
  sample,
  type VisitAnswer,
  visit,
} from "../server/questions.js";
export type { Registration } from "../server/registry.js";
export type { BlobContents, Contents, ResourceReturn, TextContents, WholeRead } from "../server/resource-contents.js";
export type {
  ListedResource,
  ResourceDefinition,
  ResourceReader,
  ResourceTemplateDefinition,
  ResourceTemplateReader,
} from "../server/resource-definitions.js";
export { createServer, type Server, type ServerOptions } from "../server/server.js";
export type { TaskOptions } from "../server/task-limits.js";
export type { FreeReturn, JsonReturn, SendableResult } from "../server/tool-result.js";
export {
  type DefinedTool,
  type ToolDefinition,
  type ToolHandler,
  type ToolRegistration,
  type TypesOfTools,
  tool,
} from "../server/tools.js";
export {
  type TemplateVariables,
  type UriTemplate,
  type UriTemplateOptions,
  uriTemplate,
  type VariableName,
} from "../server/uri-template.js";

/**
 * Serves one client on a channel, in whichever revision it uses. The server keeps no state of the connection, so it can
 * serve any number of channels at once.
 *
 * @example
 * const connection = serveChannel(server, stdioChannel());
 * await connection.closed;
 *
 * @throws TypeError if `served` is not a server, or for an unknown option
 */
export function serveChannel(served: Served, channel: Channel, options: ServeOptions = {}): Connection {
  requireServed("serveChannel", served);
  checkMembers("serveChannel", options, serveMembers);
  return serve(served, channel, options);
}
