import { metaKeys } from "../meta.js";
import { loggingLevels } from "../types/logging.js";
import {
  any,
  anyOf,
  array,
  boolean,
  extending,
  integer,
  literal,
  number,
  object,
  optional,
  ref,
  string,
  type Types,
  uri,
} from "./shape.js";
import { requestId } from "./wrapper-types.js";

const listening: Types = {
  SubscriptionFilter: object({
    toolsListChanged: optional(boolean),
    promptsListChanged: optional(boolean),
    resourcesListChanged: optional(boolean),
    resourceSubscriptions: optional(array(string)),
  }),
  SubscriptionsListenRequestParams: extending(["RequestParams"], { notifications: ref("SubscriptionFilter") }),
  SubscriptionsListenResultMetaObject: extending(["ResultMetaObject"], { [metaKeys.subscriptionId]: requestId }),
  SubscriptionsListenResult: extending(["Result"], { _meta: ref("SubscriptionsListenResultMetaObject") }),
  SubscriptionsAcknowledgedNotificationParams: extending(["NotificationParams"], {
    notifications: ref("SubscriptionFilter"),
  }),
};

const taskParams = extending(["RequestParams"], { taskId: string });

const tasks: Types = {
  TaskMetadata: object({ ttl: optional(integer) }),
  Task: object({
    taskId: string,
    status: literal("working", "input_required", "completed", "failed", "cancelled"),
    statusMessage: optional(string),
    createdAt: string,
    lastUpdatedAt: string,
    ttl: anyOf("an integer or null", [integer, literal(null)]),
    pollInterval: optional(integer),
  }),
  CreateTaskResult: extending(["Result"], { task: ref("Task") }),
  GetTaskRequestParams: taskParams,
  GetTaskResult: extending(["Result", "Task"]),
  ListTasksResult: extending(["PaginatedResult"], { tasks: array(ref("Task")) }),
  TaskStatusNotificationParams: extending(["NotificationParams", "Task"]),
};

/** The types of logging, progress, cancellation, subscriptions and tasks. */
export const conversationTypes: Types = {
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
    message: optional(string),
  }),
  ResourceUpdatedNotificationParams: extending(["NotificationParams"], { uri }),
  ElicitationCompleteNotificationParams: extending(["NotificationParams"], { elicitationId: string }),
  ...listening,
  ...tasks,
};
