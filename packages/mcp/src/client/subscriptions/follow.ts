import type { Params } from "../../jsonrpc/message.js";
import { isObject } from "../../protocol/json.js";
import { notifications } from "../../protocol/methods.js";
import { changingLists, type SubscriptionFilter } from "../../protocol/types/subscriptions.js";
import type { Change } from "../../session/change-feed.js";
import type { ClientCallOptions } from "../verbs/verb-options.js";
import { coversUri } from "./covers-uri.js";

/** What can be set about making a server tell of changes. */
export type FollowOptions = Pick<ClientCallOptions, "signal" | "timeout">;

/** A server that tells of changes. */
export interface Followed {
  /** What of the filter it tells of. */
  readonly honoured: SubscriptionFilter;
  /** Resolves when it tells no more: with an error, if that was not in order. Never rejects. */
  readonly over: Promise<Error | undefined>;
  /** Makes it tell no more. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Makes a server tell of changes; in how that is done the eras differ. `tell` is called for every change that the filter
 * names, from the moment on at which the server has agreed.
 *
 * @throws RpcError when the server refuses; LocalError as `Connection.call`
 */
export type Follow = (
  filter: SubscriptionFilter,
  options: FollowOptions,
  tell: (change: Change) => void,
) => Promise<Followed>;

/** What a server says that it tells of, without what says nothing. */
export function readFilter(notifications: unknown): SubscriptionFilter {
  const { resourceSubscriptions, ...members } = isObject(notifications) ? notifications : {};
  const wanted = changingLists.filter(({ member }) => members[member] === true);
  const uris = Array.isArray(resourceSubscriptions)
    ? resourceSubscriptions.filter((uri) => typeof uri === "string")
    : [];
  return {
    ...Object.fromEntries(wanted.map(({ member }) => [member, true])),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  };
}

/** The change that a notification is about, if it is about one that the filter names. */
export function readChange(method: string, params: Params | undefined, filter: SubscriptionFilter): Change | undefined {
  const changed = changingLists.find(({ notification }) => notification === method);
  if (changed !== undefined) return filter[changed.member] === true ? { kind: "list", list: changed.list } : undefined;
  const uri = method === notifications.resourceUpdated && isObject(params) ? params.uri : undefined;
  if (typeof uri !== "string" || filter.resourceSubscriptions?.some((each) => coversUri(each, uri)) !== true) {
    return undefined;
  }
  return { kind: "resource", uri };
}
