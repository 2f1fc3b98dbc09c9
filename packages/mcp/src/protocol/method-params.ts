import type { JsonObject } from "../base/json.js";
import type { CancelledParams } from "./types/cancelled.js";
import type { CompleteParams, CompleteResult } from "./types/completion.js";
import type { DiscoverResult } from "./types/discover.js";
import type { ElicitParams, ElicitUrlParams } from "./types/elicitation.js";
import type { InitializeParams, InitializeResult } from "./types/initialize.js";
import type { LoggingMessageParams, SetLevelParams } from "./types/logging.js";
import type { NotificationParams, PaginatedParams, RequestParams } from "./types/params.js";
import type { ProgressParams } from "./types/progress.js";
import type { GetPromptParams, GetPromptResult, ListPromptsResult } from "./types/prompts.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceParams,
  ReadResourceResult,
  ResourceParams,
} from "./types/resources.js";
import type { PaginatedResult, Result } from "./types/result.js";
import type { CreateMessageParams } from "./types/sampling.js";
import type { AcknowledgedParams, ListenParams } from "./types/subscriptions.js";
import type { TaskParams, TaskState } from "./types/tasks.js";
import type { CallToolParams, CallToolResult, ListToolsResult } from "./types/tools.js";

/** The params of every request, in the newest revision. */
export interface ParamsByMethod {
  readonly initialize: InitializeParams;
  readonly ping: RequestParams;
  readonly "server/discover": RequestParams;
  readonly "tools/list": PaginatedParams;
  /** `task` asks to run the call as a task, in revisions where tasks are part of the core protocol. */
  readonly "tools/call": CallToolParams & { readonly task?: { readonly ttl?: number } };
  readonly "resources/list": PaginatedParams;
  readonly "resources/templates/list": PaginatedParams;
  readonly "resources/read": ReadResourceParams;
  readonly "resources/subscribe": ResourceParams;
  readonly "resources/unsubscribe": ResourceParams;
  readonly "prompts/list": PaginatedParams;
  readonly "prompts/get": GetPromptParams;
  readonly "completion/complete": CompleteParams;
  readonly "logging/setLevel": SetLevelParams;
  readonly "subscriptions/listen": ListenParams;
  readonly "sampling/createMessage": CreateMessageParams;
  readonly "roots/list": RequestParams;
  /** `elicitationId` is required in 2025-11-25 only. */
  readonly "elicitation/create": ElicitParams | (ElicitUrlParams & { readonly elicitationId: string });
  readonly "tasks/get": TaskParams;
  readonly "tasks/result": TaskParams;
  readonly "tasks/list": PaginatedParams;
  readonly "tasks/cancel": TaskParams;
}

/** The params of every notification, in the newest revision. */
export interface ParamsByNotification {
  readonly "notifications/initialized": NotificationParams;
  readonly "notifications/cancelled": CancelledParams;
  readonly "notifications/progress": ProgressParams;
  readonly "notifications/message": LoggingMessageParams;
  readonly "notifications/resources/updated": ResourceParams;
  readonly "notifications/resources/list_changed": NotificationParams;
  readonly "notifications/tools/list_changed": NotificationParams;
  readonly "notifications/prompts/list_changed": NotificationParams;
  readonly "notifications/roots/list_changed": NotificationParams;
  readonly "notifications/elicitation/complete": { readonly elicitationId: string; readonly _meta?: JsonObject };
  readonly "notifications/tasks/status": TaskState & { readonly _meta?: JsonObject };
  readonly "notifications/subscriptions/acknowledged": AcknowledgedParams;
}

/** The result of every client request, in the newest revision. */
export interface ResultByMethod {
  readonly initialize: InitializeResult;
  readonly ping: Result;
  readonly "server/discover": DiscoverResult;
  readonly "tools/list": ListToolsResult;
  /** If `task` was in the params, the result has `task` instead of `content`. */
  readonly "tools/call": CallToolResult & { readonly task?: TaskState };
  readonly "resources/list": ListResourcesResult;
  readonly "resources/templates/list": ListResourceTemplatesResult;
  readonly "resources/read": ReadResourceResult;
  readonly "resources/subscribe": Result;
  readonly "resources/unsubscribe": Result;
  readonly "prompts/list": ListPromptsResult;
  readonly "prompts/get": GetPromptResult;
  readonly "completion/complete": CompleteResult;
  readonly "logging/setLevel": Result;
  readonly "tasks/get": TaskState;
  readonly "tasks/result": CallToolResult;
  readonly "tasks/list": PaginatedResult & { readonly tasks: readonly TaskState[] };
  readonly "tasks/cancel": TaskState;
}
