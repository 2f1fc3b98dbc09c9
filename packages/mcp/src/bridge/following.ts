import type { JsonObject } from "../protocol/json.js";
import { isAdvertised } from "../protocol/method-capabilities.js";
import { notifications } from "../protocol/methods.js";
import type { SubscriptionFilter } from "../protocol/subscriptions.js";
import type { FarEnd } from "./far-end.js";

const lists = {
  toolsListChanged: { path: "tools.listChanged", told: notifications.toolsChanged },
  promptsListChanged: { path: "prompts.listChanged", told: notifications.promptsChanged },
  resourcesListChanged: { path: "resources.listChanged", told: notifications.resourcesChanged },
} as const;

const names = Object.keys(lists) as readonly (keyof typeof lists)[];

/** The part of a filter that the upstream server supports. */
export function followableOf({ server: { capabilities } }: FarEnd, filter: SubscriptionFilter): SubscriptionFilter {
  const { resourceSubscriptions = [] } = filter;
  const followed = names.filter((name) => filter[name] === true && isAdvertised(lists[name].path, capabilities));
  const isSubscribing = resourceSubscriptions.length > 0 && isAdvertised("resources.subscribe", capabilities);
  return {
    ...Object.fromEntries(followed.map((name) => [name, true])),
    ...(isSubscribing && { resourceSubscriptions }),
  };
}

/** Sends a notification for everything in a filter, because changes may have been missed. */
export function tellMissed(filter: SubscriptionFilter, tell: (method: string, params: JsonObject) => void): void {
  for (const name of names) if (filter[name] === true) tell(lists[name].told, {});
  for (const uri of filter.resourceSubscriptions ?? []) tell(notifications.resourceUpdated, { uri });
}
