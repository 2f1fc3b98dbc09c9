import { isObject, type JsonObject } from "../../base/json.js";
import { onAbort } from "../../jsonrpc/abort-listeners.js";
import { codes, faultyParams, type ParamsFault, RpcError, wrongKind } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { metaKeys } from "../../protocol/meta.js";
import { methods, notifications } from "../../protocol/methods.js";
import { changingLists, filterOf, type SubscriptionFilter } from "../../protocol/types/subscriptions.js";
import { type Change, ChangeFeed, type ChangeSource } from "../../session/change-feed.js";
import type { Operation } from "../servable.js";
import { maxSubscriptions } from "../session/change-notifier.js";
import type { Feature, MethodCall } from "./feature.js";
import type { Resources } from "./resources/resources.js";

/**
 * Subscriptions of the stateless era: one call that stays open and tells what changes, until either side ends it.
 * https://modelcontextprotocol.io/specification/latest/basic/patterns/subscriptions
 */
export class Subscriptions implements Feature {
  readonly #changes: ChangeSource;
  readonly #resources: Resources;
  readonly #offered: () => ServerCapabilities;

  readonly methods: ReadonlyMap<string, MethodCall> = new Map<string, MethodCall>([
    [methods.listen, (params, operation) => this.#listen(params, operation)],
  ]);

  /** @param offered gives the capabilities that clients may subscribe to */
  constructor(changes: ChangeSource, resources: Resources, offered: () => ServerCapabilities) {
    this.#changes = changes;
    this.#resources = resources;
    this.#offered = offered;
  }

  /** It has no capability of its own: it is there where anything can be listened to. */
  get capabilities(): ServerCapabilities | undefined {
    const { tools, prompts, resources } = this.#offered();
    const offers = [tools?.listChanged, prompts?.listChanged, resources?.listChanged, resources?.subscribe];
    return offers.includes(true) ? {} : undefined;
  }

  #listen(params: JsonObject, operation: Operation): Promise<JsonObject> {
    const subscription = { [metaKeys.subscriptionId]: readId(operation) };
    const honoured = this.#honour(readFilter(params), operation);
    operation.notify(notifications.acknowledged, { notifications: honoured, _meta: subscription });
    const uris = new Set(honoured.resourceSubscriptions);
    const listened = new Set<string>(
      changingLists.flatMap(({ member, list }) => (honoured[member] === true ? [list] : [])),
    );
    return new Promise((resolve) => {
      const feed = new ChangeFeed(this.#changes, {
        matches: (change: Change) => (change.kind === "list" ? listened.has(change.list) : uris.has(change.uri)),
        auth: () => operation.auth,
        report: (each) => operation.report?.(each),
        notify: (method, told) => operation.notify(method, { ...told, _meta: subscription }),
        drained: () => operation.drained(),
      });
      const end = (): void => {
        if (signal.aborted) feed.stop();
        else feed.finish(); // The server ends it: what has changed before is sent.
        for (const forget of forgets) forget();
        resolve({ _meta: subscription });
      };
      const { signal, closing } = operation;
      const forgets = [signal, closing].flatMap((each) => (each === undefined ? [] : [onAbort(each, end)]));
      if (signal.aborted || closing?.aborted === true) end();
    });
  }

  /** The part of the filter that this server supports. */
  #honour(filter: SubscriptionFilter, operation: Operation): SubscriptionFilter {
    const offered = this.#offered();
    const lists = filterOf(({ member, list }) => filter[member] === true && offered[list]?.listChanged === true);
    const { resourceSubscriptions } = filter;
    const isFollowed = offered.resources?.subscribe === true && resourceSubscriptions !== undefined;
    const known = isFollowed
      ? { resourceSubscriptions: resourceSubscriptions.filter((uri) => this.#resources.knows(uri, operation)) }
      : {};
    return { ...lists, ...known };
  }
}

/** Every notification repeats the id, so it must be one that JSON.stringify writes as it came. */
export function readId({ id }: Operation): string | number {
  if (typeof id === "string" || typeof id === "number") return id;
  if (id === undefined)
    throw new TypeError(`${methods.listen} on a transport that does not provide the ids of requests`);
  const reason = `${methods.listen} needs an id that is a string or a safe integer: it is repeated with every change`;
  throw new RpcError(codes.invalidRequest, "Invalid Request", { reason });
}

/** @throws RpcError −32602 for an invalid filter */
export function readFilter({ notifications: filter }: JsonObject): SubscriptionFilter {
  if (!isObject(filter)) throw faultyParams(wrongKind("/notifications", "an object", filter));
  const faults: ParamsFault[] = [];
  for (const { member } of changingLists) {
    const wanted = filter[member];
    if (wanted !== undefined && typeof wanted !== "boolean") {
      faults.push(wrongKind(`/notifications/${member}`, "true or false", wanted));
    }
  }
  const { resourceSubscriptions: uris = [] } = filter;
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === "string")) {
    faults.push({ path: "/notifications/resourceSubscriptions", message: "must be an array of URIs" });
  } else if (uris.length > maxSubscriptions) {
    const message = `must be at most ${maxSubscriptions} URIs, got ${uris.length}`;
    faults.push({ path: "/notifications/resourceSubscriptions", message });
  }
  if (faults.length > 0) throw faultyParams(...faults);
  return filter as SubscriptionFilter; // The faults were looked for just above.
}
