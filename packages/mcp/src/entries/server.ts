/**
 * MCP servers: one object for every revision and every carrier.
 *
 * @module
 */
export { RawJson } from "../jsonrpc/codec.js";
export { invalidParams, LocalError, type LocalReason, RpcError } from "../jsonrpc/errors.js";
export type { Answers, Question, Questions } from "../lifecycle/input.js";
export type { InputRequired } from "../lifecycle/rounds.js";
export { type CarrierOptions, serveChannel } from "../lifecycle/serve.js";
export type { ClientDescription, Operation, OperationCall, Served } from "../lifecycle/served.js";
export type { StateSealOptions } from "../lifecycle/state-seal.js";
export type { Context, QuestionOptions } from "../server/context.js";
export { ToolError } from "../server/errors.js";
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
export { createServer, type Server, type ServerOptions } from "../server/server.js";
export type { FreeReturn } from "../server/tool-result.js";
export type { ToolDefinition, ToolHandler } from "../server/tools.js";
