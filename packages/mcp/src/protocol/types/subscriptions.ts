import { methods, type NotificationMethod, notifications } from "../methods.js";
import type { NotificationParams, RequestParams } from "./params.js";

/** The changes that a client subscribes to. */
export interface SubscriptionFilter {
  /** Whether to notify of changes of the list of tools. Default: false. */
  readonly toolsListChanged?: boolean;
  /** Whether to notify of changes of the list of prompts. Default: false. */
  readonly promptsListChanged?: boolean;
  /** Whether to notify of changes of the list of resources. Default: false. */
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

/** A filter of the lists that `isWanted` selects, and of the URIs. It has no members for what is not wanted. */
export function filterOf(
  isWanted: (list: ChangingList) => boolean,
  resourceSubscriptions: readonly string[] = [],
): SubscriptionFilter {
  const lists = changingLists.filter(isWanted).map(({ member }) => [member, true]);
  return { ...Object.fromEntries(lists), ...(resourceSubscriptions.length > 0 && { resourceSubscriptions }) };
}

/** Params of `subscriptions/listen`. */
export interface ListenParams extends RequestParams {
  /** The notifications to send. */
  readonly notifications: SubscriptionFilter;
}

/** Params of `notifications/subscriptions/acknowledged`: the part of the filter that the server supports. */
export interface AcknowledgedParams extends NotificationParams {
  /** The notifications that the server will send. */
  readonly notifications: SubscriptionFilter;
}
