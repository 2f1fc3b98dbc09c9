/**
 * MCP servers: one server object for every revision and every transport.
 *
 * @module
 */
import "../base/runtime.js";

import { checkMembers } from "../base/check-members.js";
import type { Channel } from "../jsonrpc/channel.js";
import type { Connection } from "../jsonrpc/connection.js";
import { requireServable, type Servable } from "../server/servable.js";
import { type ServeOptions, serveChannel as serve, serveMembers } from "../server/session/serve-channel.js";

export { RawJson } from "../jsonrpc/codec/codec.js";
export { invalidParams, LocalError, type LocalReason, RpcError } from "../jsonrpc/errors.js";
export type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
export type { Bytes, SendableContent } from "../protocol/sendable.js";
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
} from "../protocol/types/content.js";
export type { Implementation } from "../protocol/types/implementation.js";
export type { LoggingLevel } from "../protocol/types/logging.js";
export type { GetPromptResult, PromptMessage } from "../protocol/types/prompts.js";
export type { ReadResourceResult } from "../protocol/types/resources.js";
export type { Root } from "../protocol/types/roots.js";
export type { CreateMessageParams, CreateMessageResult } from "../protocol/types/sampling.js";
export type { ListName } from "../protocol/types/subscriptions.js";
export type { CallToolResult, Tool, ToolAnnotations, ToolExecution } from "../protocol/types/tools.js";
export type { InferInput, InferOutput, InputSchema, Schema } from "../schema/compile.js";
export type { ToolSchemas, ToolTypes } from "../schema/tool-types.js";
export type { Context, ElicitUrlOptions, InputOptions } from "../server/context.js";
export type { ErrorCodes } from "../server/error-codes.js";
export type { CacheHints } from "../server/features/cache-hints.js";
export type { Changed } from "../server/features/changes.js";
export type { Completer, Completers, Completion } from "../server/features/completion.js";
export type { MethodHandler } from "../server/features/extension-methods.js";
export type { PromptArguments } from "../server/features/prompt-arguments.js";
export type { PromptReturn, SendableMessage, SendablePrompt } from "../server/features/prompt-result.js";
export type { PromptDefinition, PromptHandler, PromptRegistration } from "../server/features/prompts.js";
export type { Registration } from "../server/features/registry.js";
export type {
  BlobContents,
  Contents,
  FullReadResult,
  ResourceReturn,
  TextContents,
} from "../server/features/resources/resource-contents.js";
export type {
  ListedResource,
  ResourceDefinition,
  ResourceReader,
  ResourceTemplateDefinition,
  ResourceTemplateReader,
} from "../server/features/resources/resource-definitions.js";
export {
  type TemplateVariables,
  type UriTemplate,
  type UriTemplateOptions,
  uriTemplate,
  type VariableName,
} from "../server/features/resources/uri-template.js";
export type { TaskOptions } from "../server/features/tasks/task-limits.js";
export type { JsonReturn, SendableResult, ToolReturn } from "../server/features/tool-result.js";
export {
  type DefinedTool,
  type ToolDefinition,
  type ToolHandler,
  type ToolRegistration,
  type TypesOfTools,
  tool,
} from "../server/features/tools.js";
export type { ClientRequest, InputRequests, InputResponses } from "../server/input/input-request.js";
export {
  elicitForm,
  elicitUrl,
  type FormResponse,
  type InputRequestOf,
  inputRequired,
  listRoots,
  sample,
  type UrlResponse,
} from "../server/input/input-requests.js";
export {
  type MemoryRequestStates,
  type MemoryRequestStatesOptions,
  memoryRequestStates,
  type RequestStateStore,
  type StateSealOptions,
} from "../server/input/request-state.js";
export type { InputRequired } from "../server/input/rounds.js";
export type { CalledOperation, Hooks, OperationEnd, OperationMiddleware } from "../server/pipeline.js";
export type { ClientDescription, Operation, OperationCall, Servable, ServedSession } from "../server/servable.js";
export { createServer, type Server, type ServerOptions } from "../server/server.js";
export type { ServeOptions } from "../server/session/serve-channel.js";
export { ToolError, type ToolErrors } from "../server/tool-error.js";
export type { Change, ChangeListener, ChangeSource } from "../session/change-feed.js";
export type { TransportOptions } from "../session/options.js";

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
export function serveChannel(served: Servable, channel: Channel, options: ServeOptions = {}): Connection {
  requireServable("serveChannel", served);
  checkMembers("serveChannel", options, serveMembers);
  return serve(served, channel, options);
}
