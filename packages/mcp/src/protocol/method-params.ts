import type { CancelledParams } from "./cancelled.js";
import type { CompleteParams } from "./completion.js";
import type { ElicitParams, ElicitUrlParams } from "./elicitation.js";
import type { InitializeParams } from "./initialize.js";
import type { JsonObject } from "./json.js";
import type { LoggingMessageParams, SetLevelParams } from "./logging.js";
import type { PaginatedParams, RequestParams } from "./params.js";
import type { ProgressParams } from "./progress.js";
import type { GetPromptParams } from "./prompts.js";
import type { ReadResourceParams, ResourceParams } from "./resources.js";
import type { CreateMessageParams } from "./sampling.js";
import type { AcknowledgedParams, ListenParams } from "./subscriptions.js";
import type { TaskParams, TaskState } from "./tasks.js";
import type { CallToolParams } from "./tools.js";

/** Params that say nothing of their own. */
export interface NotificationParams {
  readonly _meta?: JsonObject;
}

/** What goes with every request, in its newest shape. */
export interface ParamsByMethod {
  readonly initialize: InitializeParams;
  readonly ping: RequestParams;
  readonly "server/discover": RequestParams;
  readonly "tools/list": PaginatedParams;
  /** `task` asks for a task, where those belong to the core protocol. */
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
  /** A visit has an id where the revision wants one. */
  readonly "elicitation/create": ElicitParams | (ElicitUrlParams & { readonly elicitationId: string });
  readonly "tasks/get": TaskParams;
  readonly "tasks/result": TaskParams;
  readonly "tasks/list": PaginatedParams;
  readonly "tasks/cancel": TaskParams;
}

/** What goes with every notification, in its newest shape. */
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
