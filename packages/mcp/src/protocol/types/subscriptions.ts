import type { JsonObject } from "../json.js";
import { methods, type NotificationMethod, notifications } from "../methods.js";
import type { RequestParams } from "./params.js";

/** The changes that a client subscribes to. */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  /** Resource URIs. */
  readonly resourceSubscriptions?: readonly string[];
}

/** A list that clients are notified of when it changes; templates belong to that of the resources. */
export type ListName = "tools" | "prompts" | "resources";

interface ChangingList {
  readonly list: ListName;
  readonly member: `${ListName}ListChanged`;
  readonly capability: string;
  readonly notification: NotificationMethod;
  readonly requests: readonly string[];
}

/**
 * The lists that may change while a client is connected: the member of the filter that subscribes to it, the capability that
 * promises it, the notification that says it, and the requests whose results it makes stale.
 */
export const changingLists: readonly ChangingList[] = [
  {
    list: "tools",
    member: "toolsListChanged",
    capability: "tools.listChanged",
    notification: notifications.toolsChanged,
    requests: [methods.listTools],
  },
  {
    list: "prompts",
    member: "promptsListChanged",
    capability: "prompts.listChanged",
    notification: notifications.promptsChanged,
    requests: [methods.listPrompts],
  },
  {
    list: "resources",
    member: "resourcesListChanged",
    capability: "resources.listChanged",
    notification: notifications.resourcesChanged,
    requests: [methods.listResources, methods.listResourceTemplates],
  },
];

/** Params of `subscriptions/listen`. */
export interface ListenParams extends RequestParams {
  readonly notifications: SubscriptionFilter;
}

/** Params of `notifications/subscriptions/acknowledged`: the part of the filter that the server supports. */
export interface AcknowledgedParams {
  readonly notifications: SubscriptionFilter;
  readonly _meta?: JsonObject;
}
