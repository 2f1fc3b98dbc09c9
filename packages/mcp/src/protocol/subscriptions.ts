import type { JsonObject } from "./json.js";
import type { RequestParams } from "./params.js";

/** The changes that a client subscribes to. */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  /** Resource URIs. */
  readonly resourceSubscriptions?: readonly string[];
}

/** Params of `subscriptions/listen`. */
export interface ListenParams extends RequestParams {
  readonly notifications: SubscriptionFilter;
}

/** Params of `notifications/subscriptions/acknowledged`: the part of the filter that the server supports. */
export interface AcknowledgedParams {
  readonly notifications: SubscriptionFilter;
  readonly _meta?: JsonObject;
}
