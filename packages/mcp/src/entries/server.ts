/**
 * MCP servers: one object for every revision and every carrier.
 *
 * @module
 */
export { RawJson } from "../jsonrpc/codec.js";
export { invalidParams, LocalError, type LocalReason, RpcError } from "../jsonrpc/errors.js";
export type { Change, ChangeListener, ChangeSource, ListName } from "../lifecycle/change-feed.js";
export type { Answers, Question, Questions } from "../lifecycle/question.js";
export type { InputRequired } from "../lifecycle/rounds.js";
export { type CarrierOptions, type ServeOptions, serveChannel } from "../lifecycle/serve.js";
export type { ClientDescription, OpenConversation, Operation, OperationCall, Served } from "../lifecycle/served.js";
export type { StateSealOptions } from "../lifecycle/state-seal.js";
export type { CacheHints } from "../server/cache-hints.js";
export type { Changed } from "../server/changes.js";
export type { Completer, Completers, Completion } from "../server/completion.js";
export type { Context, QuestionOptions } from "../server/context.js";
export type { ErrorCodes } from "../server/error-codes.js";
export { ToolError } from "../server/errors.js";
export type { MethodHandler } from "../server/extension-methods.js";
export type { CalledOperation, Hooks, OperationEnd, OperationMiddleware } from "../server/pipeline.js";
export type { PromptArguments } from "../server/prompt-arguments.js";
export type { PromptReturn } from "../server/prompt-result.js";
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
export type { FreeReturn } from "../server/tool-result.js";
export type { ToolDefinition, ToolHandler, ToolRegistration } from "../server/tools.js";
export {
  type TemplateVariables,
  type UriTemplate,
  type UriTemplateOptions,
  uriTemplate,
  type VariableName,
} from "../server/uri-template.js";
