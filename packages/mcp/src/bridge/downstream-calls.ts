import { deferred } from "../base/deferred.js";
import type { JsonObject } from "../base/json.js";
import { readChange } from "../client/subscriptions/follow.js";
import type { Subscription } from "../client/subscriptions/subscription.js";
import { whenAborted } from "../jsonrpc/abort-listeners.js";
import { LocalError, methodNotFound } from "../jsonrpc/errors.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { methods, notifications } from "../protocol/methods.js";
import { changingLists, type SubscriptionFilter } from "../protocol/types/subscriptions.js";
import { readFilter, readId } from "../server/features/subscriptions.js";
import type { ClientHello, Operation } from "../server/servable.js";
import { mayAskForInput } from "../session/input-required.js";
import { FairQueue } from "./fair-queue.js";
import type { ForwardCall, HeldCalls, RequestInput, Round } from "./held-calls.js";
import type { Downstream, Notify, Upstream } from "./upstream.js";

/**
 * Concurrent calls on a shared upstream session. Servers of this library run 128 calls per connection; the limit here
 * is lower, so that calls queue in the bridge, which is fair to all peers.
 */
const places = { total: 96, perPeer: 64 };

/** A `subscriptions/listen` request of a downstream client. */
interface Listener {
  readonly filter: SubscriptionFilter;
  readonly notify: Notify;
}

/**
 * The stateless downstream clients of one upstream session: all calls of one principal with the same declarations.
 * Input requests are returned in results.
 */
export class DownstreamCalls implements Downstream {
  readonly client: ClientHello;
  readonly #held: HeldCalls;
  /** Divides the upstream session among the callers. */
  readonly #queue = new FairQueue(places);
  readonly #listeners = new Set<Listener>();

  constructor(hello: ClientHello, held: HeldCalls) {
    this.client = hello;
    this.#held = held;
  }

  /** No call is running that could carry the input request, so it is rejected. */
  readonly requestInput: RequestInput = (method) => Promise.reject(methodNotFound(method));

  /** Whether there are subscriptions. */
  get isBusy(): boolean {
    return this.#listeners.size > 0;
  }

  receive(method: string, params: JsonObject, call: Operation | undefined): void {
    const isOfList = changingLists.some(({ notification }) => notification === method);
    const isChange = isOfList || (method === notifications.resourceUpdated && typeof params.uri === "string");
    if (!isChange) call?.notify(method, params);
    for (const { filter, notify } of isChange ? this.#listeners : []) {
      if (readChange(method, params, filter) !== undefined) notify(method, params);
    }
  }

  async call(method: string, round: Round, upstream: Upstream): Promise<JsonObject> {
    if (method === methods.listen) return this.#listen(round, upstream);
    const mayRequestInput = upstream.session.revision.era === "handshake" && mayAskForInput.has(method);
    const { principal, peer = principal, signal } = round.operation;
    const forward: ForwardCall = (call) => this.#queue.run(peer, call.signal, () => upstream.call(method, call));
    return mayRequestInput ? this.#held.run(method, round, forward) : forward({ signal, round: () => round });
  }

  async #listen({ params, operation }: Round, upstream: Upstream): Promise<JsonObject> {
    const named = { [metaKeys.subscriptionId]: readId(operation) };
    const supported = upstream.supported(readFilter(params));
    const early: [string, JsonObject][] = [];
    let isAcknowledged = false;
    const notify: Notify = (method, changed) => {
      if (isAcknowledged) operation.notify(method, { ...changed, _meta: { ...readMeta(changed), ...named } });
      else early.push([method, changed]);
    };
    const listener = { filter: supported, notify };
    this.#listeners.add(listener);
    const subscription = await this.#subscribe(supported, upstream, operation, notify).catch((error: unknown) => {
      this.#listeners.delete(listener);
      throw error;
    });
    operation.notify(notifications.acknowledged, { notifications: subscription?.filter ?? {}, _meta: named });
    isAcknowledged = true;
    for (const [method, changed] of early) notify(method, changed);
    await untilEnded(operation, subscription);
    this.#listeners.delete(listener);
    await subscription?.close();
    return { _meta: named };
  }

  /** Undefined if the upstream server supports nothing of the filter. */
  async #subscribe(
    filter: SubscriptionFilter,
    upstream: Upstream,
    { signal }: Operation,
    notify: Notify,
  ): Promise<Subscription | undefined> {
    if (Object.keys(filter).length === 0) return undefined;
    try {
      return await upstream.subscribe(filter, notify, { signal });
    } catch (error) {
      if (error instanceof LocalError && error.reason === "refused") return undefined;
      throw error;
    }
  }
}

async function untilEnded({ signal, closing = signal }: Operation, subscription?: Subscription): Promise<void> {
  const ended = deferred<void>();
  const forgets = [signal, closing].map((each) => whenAborted(each, ended.resolve));
  void subscription?.closed.then(() => ended.resolve());
  await ended.promise;
  for (const forget of forgets) forget();
}
