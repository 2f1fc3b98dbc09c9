/**
 * MCP servers: one server object for every revision and every transport.
 *
 * @module server
 */
import "../base/runtime.js";

import { checkMembers } from "../base/check-members.js";
import type { Channel } from "../jsonrpc/channel.js";
import type { Connection } from "../jsonrpc/connection.js";
import { requireServable, type Servable } from "../server/servable.js";
import { type ServeOptions, serveChannel as serve, serveMembers } from "../server/session/serve-channel.js";

export { invalidParams, LocalError, RpcError } from "../jsonrpc/errors.js";
export { RawJson } from "../jsonrpc/message.js";
export type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
export type {
  ContentBlock,
  Icon,
  ImageContent,
  Resource,
  ResourceContents,
  ResourceLink,
  TextContent,
} from "../protocol/types/content.js";
export type { Implementation } from "../protocol/types/implementation.js";
export type { LoggingLevel } from "../protocol/types/logging.js";
export type { GetPromptResult, PromptMessage } from "../protocol/types/prompts.js";
export type { ReadResourceResult } from "../protocol/types/resources.js";
export type { Root } from "../protocol/types/roots.js";
export type { CreateMessageParams, CreateMessageResult } from "../protocol/types/sampling.js";
export type { CallToolResult, Tool, ToolAnnotations } from "../protocol/types/tools.js";
export type { InputSchema, Schema } from "../schema/compile.js";
export type { ToolTypes } from "../schema/tool-types.js";
export type { Context } from "../server/context.js";
export type { Completer } from "../server/features/completion.js";
export type { PromptDefinition, PromptHandler } from "../server/features/prompts.js";
export type { Registration } from "../server/features/registry.js";
export type {
  ResourceDefinition,
  ResourceReader,
  ResourceTemplateDefinition,
  ResourceTemplateReader,
} from "../server/features/resources/resource-definitions.js";
export { uriTemplate } from "../server/features/resources/uri-template.js";
export {
  type DefinedTool,
  type ToolDefinition,
  type ToolHandler,
  type ToolReturn,
  tool,
} from "../server/features/tool-definitions.js";
export type { InputRequired } from "../server/input/input-request.js";
export {
  elicitForm,
  elicitUrl,
  type FormResponse,
  type InputRequestOf,
  inputRequired,
  listRoots,
  sample,
} from "../server/input/input-requests.js";
export { memoryRequestStates, type RequestStateStore } from "../server/input/request-state.js";
export type { Operation, Servable } from "../server/servable.js";
export { createServer, type Server, type ServerOptions } from "../server/server.js";
export { ToolError } from "../server/tool-error.js";
export type { Middleware } from "../session/middleware.js";

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
