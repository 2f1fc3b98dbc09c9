import type { JsonObject } from "../protocol/json.js";
import { isAdvertised } from "../protocol/method-capabilities.js";
import { notifications } from "../protocol/methods.js";
import { changingLists, type SubscriptionFilter } from "../protocol/types/subscriptions.js";
import type { Upstream } from "./upstream.js";

/** The part of a filter that the upstream server supports. */
export function subscribableOf({ server: { capabilities } }: Upstream, filter: SubscriptionFilter): SubscriptionFilter {
  const { resourceSubscriptions = [] } = filter;
  const followed = changingLists.filter(
    ({ member, capability }) => filter[member] === true && isAdvertised(capability, capabilities),
  );
  const isSubscribing = resourceSubscriptions.length > 0 && isAdvertised("resources.subscribe", capabilities);
  return {
    ...Object.fromEntries(followed.map(({ member }) => [member, true])),
    ...(isSubscribing && { resourceSubscriptions }),
  };
}

/** Sends a notification for everything in a filter, because changes may have been missed. */
export function notifyMissed(filter: SubscriptionFilter, tell: (method: string, params: JsonObject) => void): void {
  for (const { member, notification } of changingLists) if (filter[member] === true) tell(notification, {});
  for (const uri of filter.resourceSubscriptions ?? []) tell(notifications.resourceUpdated, { uri });
}
