import type { JsonObject } from "./json.js";
import type { RequestParams } from "./params.js";

/** Which changes a client wants to hear of. */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  /** URIs. */
  readonly resourceSubscriptions?: readonly string[];
}

/** Params of `subscriptions/listen`. */
export interface ListenParams extends RequestParams {
  readonly notifications: SubscriptionFilter;
}

/** Params of `notifications/subscriptions/acknowledged`: what of the filter the server honours. */
export interface AcknowledgedParams {
  readonly notifications: SubscriptionFilter;
  readonly _meta?: JsonObject;
}
