/**
 * MCP servers: one object for every revision and every carrier.
 *
 * @module
 */
export { RawJson } from "../jsonrpc/codec.js";
export { invalidParams, LocalError, type LocalReason, RpcError } from "../jsonrpc/errors.js";
export { type CarrierOptions, serveChannel } from "../lifecycle/serve.js";
export type { ClientDescription, Operation, OperationCall, Served } from "../lifecycle/served.js";
export type { Context } from "../server/context.js";
export { ToolError } from "../server/errors.js";
export { createServer, type Server, type ServerOptions } from "../server/server.js";
export type { FreeReturn } from "../server/tool-result.js";
export type { ToolDefinition, ToolHandler } from "../server/tools.js";
