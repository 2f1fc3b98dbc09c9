import { isObject } from "../../base/json.js";
import type { Params } from "../../jsonrpc/message.js";
import { excerpt } from "../../jsonrpc/report.js";
import { notifications } from "../../protocol/methods.js";
import { changingLists, filterOf, type SubscriptionFilter } from "../../protocol/types/subscriptions.js";
import type { Change } from "../../session/change-feed.js";
import type { SessionCallOptions } from "../session/client-session.js";

/** Options of `Follow`. */
export type FollowOptions = Pick<SessionCallOptions, "signal" | "timeout">;

/** An open subscription at the server. */
export interface Followed {
  /** The part of the filter that the server accepted. */
  readonly honoured: SubscriptionFilter;
  /** Resolves when the server sends no more changes: with an error, unless it ended the subscription properly. Never rejects. */
  readonly over: Promise<Error | undefined>;
  /** Ends the subscription at the server. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Subscribes at the server, in the way of the era. `onChange` is called for every change in the filter, as soon as the server
 * has accepted the subscription.
 *
 * @throws RpcError when the server refuses; LocalError as `Connection.call`
 */
export type Follow = (
  filter: SubscriptionFilter,
  options: FollowOptions,
  onChange: (change: Change) => void,
) => Promise<Followed>;

/** Reads the filter that a server acknowledges, without its invalid members. */
export function readFilter(notifications: unknown): SubscriptionFilter {
  const { resourceSubscriptions, ...members } = isObject(notifications) ? notifications : {};
  const uris = Array.isArray(resourceSubscriptions)
    ? resourceSubscriptions.filter((uri) => typeof uri === "string")
    : [];
  return filterOf(({ member }) => members[member] === true, uris);
}

/** The members and URIs that a filter selects, as messages name them. */
export function wantedOf({ resourceSubscriptions = [], ...lists }: SubscriptionFilter): readonly string[] {
  const members = Object.entries(lists).flatMap(([member, wanted]) => (wanted === true ? [member] : []));
  return [...members, ...resourceSubscriptions.map(excerpt)];
}

/** The change that a notification reports, if it is in the filter. */
export function readChange(method: string, params: Params | undefined, filter: SubscriptionFilter): Change | undefined {
  const changed = changingLists.find(({ notification }) => notification === method);
  if (changed !== undefined) return filter[changed.member] === true ? { kind: "list", list: changed.list } : undefined;
  const uri = method === notifications.resourceUpdated && isObject(params) ? params.uri : undefined;
  if (typeof uri !== "string" || filter.resourceSubscriptions?.some((each) => coversUri(each, uri)) !== true) {
    return undefined;
  }
  return { kind: "resource", uri };
}

/**
 * Whether a change of `uri` concerns the resource `subscribed`: the resource itself, or a part of it.
 * https://modelcontextprotocol.io/specification/latest/schema#resourceupdatednotificationparams
 */
export function coversUri(subscribed: string, uri: string): boolean {
  if (!uri.startsWith(subscribed)) return false;
  return uri.length === subscribed.length || subscribed.endsWith("/") || "/?#".includes(uri.charAt(subscribed.length));
}
