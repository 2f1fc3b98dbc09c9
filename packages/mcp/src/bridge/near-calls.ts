import { readChange } from "../client/follow.js";
import type { Subscription } from "../client/subscription.js";
import { onAbort } from "../jsonrpc/abort-listeners.js";
import { LocalError, methodNotFound } from "../jsonrpc/errors.js";
import { mayAskForInput } from "../lifecycle/input-required.js";
import type { Newcomer, Operation } from "../lifecycle/served.js";
import type { JsonObject } from "../protocol/json.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { methods, notifications } from "../protocol/methods.js";
import type { SubscriptionFilter } from "../protocol/subscriptions.js";
import type { Revision } from "../revisions/revision.js";
import { readFilter, readId } from "../server/subscriptions.js";
import type { FairQueue } from "./fair-queue.js";
import type { FarEnd, NearEnd } from "./far-end.js";
import { followableOf, tellMissed } from "./following.js";
import type { Ask, Cross, HeldCalls, Round } from "./held-calls.js";

/** A `subscriptions/listen` request of a downstream client. */
interface Listener {
  readonly filter: SubscriptionFilter;
  tell(method: string, params: JsonObject): void;
}

/**
 * The stateless downstream clients of one upstream session: all calls of one principal with the same declarations.
 * Input requests are returned in results.
 */
export class NearCalls implements NearEnd {
  readonly revision: Revision;
  readonly client: Newcomer;
  readonly #held: HeldCalls;
  readonly #queue: FairQueue;
  readonly #listeners = new Set<Listener>();

  /** @param queue divides the upstream session among the callers */
  constructor(newcomer: Newcomer, held: HeldCalls, queue: FairQueue) {
    this.#queue = queue;
    this.revision = newcomer.revision;
    this.client = newcomer;
    this.#held = held;
  }

  /** No call is running, so nobody could answer: the request is rejected. */
  readonly ask: Ask = (method) => Promise.reject(methodNotFound(method));

  /** Whether there are subscriptions. */
  get isBusy(): boolean {
    return this.#listeners.size > 0;
  }

  hear(method: string, params: JsonObject, call: Operation | undefined): void {
    if (
      method === notifications.acknowledged ||
      method === notifications.cancelled ||
      method === notifications.progress
    )
      return;
    const isChange = readChange(method, params, everything(params)) !== undefined;
    if (!isChange) call?.notify(method, params);
    for (const { filter, tell } of isChange ? this.#listeners : []) {
      if (readChange(method, params, filter) !== undefined) tell(method, params);
    }
  }

  async call(method: string, round: Round, far: FarEnd): Promise<JsonObject> {
    if (method === methods.listen) return this.#listen(round, far);
    const mayBeAsked = far.revision.era === "handshake" && mayAskForInput.has(method);
    const { principal, peer = principal, signal } = round.operation;
    const cross: Cross = (call) => this.#queue.run(peer, call.signal, () => far.call(method, call));
    return mayBeAsked ? this.#held.run(method, round, cross) : cross({ signal, round: () => round });
  }

  async #listen({ params, operation }: Round, far: FarEnd): Promise<JsonObject> {
    const named = { [metaKeys.subscriptionId]: readId(operation) };
    const wanted = followableOf(far, readFilter(params));
    const early: [string, JsonObject][] = [];
    let isAcknowledged = false;
    const tell = (method: string, told: JsonObject): void => {
      if (isAcknowledged) operation.notify(method, { ...told, _meta: { ...readMeta(told), ...named } });
      else early.push([method, told]);
    };
    const listener = { filter: wanted, tell };
    this.#listeners.add(listener);
    const subscription = await this.#follow(wanted, far, operation, tell).catch((error: unknown) => {
      this.#listeners.delete(listener);
      throw error;
    });
    operation.notify(notifications.acknowledged, { notifications: subscription?.filter ?? {}, _meta: named });
    isAcknowledged = true;
    for (const [method, told] of early) tell(method, told);
    await untilOver(operation, subscription);
    this.#listeners.delete(listener);
    await subscription?.close();
    return { _meta: named };
  }

  /** Undefined if the upstream server supports nothing of the filter. */
  async #follow(
    filter: SubscriptionFilter,
    far: FarEnd,
    { signal }: Operation,
    tell: Listener["tell"],
  ): Promise<Subscription | undefined> {
    if (Object.keys(filter).length === 0) return undefined;
    const onChange = ({ kind }: { readonly kind: string }): void => {
      if (kind === "missed") tellMissed(filter, tell);
    };
    try {
      return await far.subscribe(filter, { signal, onChange });
    } catch (error) {
      if (error instanceof LocalError && error.reason === "refused") return undefined;
      throw error;
    }
  }
}

function untilOver({ signal, closing }: Operation, subscription: Subscription | undefined): Promise<void> {
  return new Promise((resolve) => {
    const signals = closing === undefined ? [signal] : [signal, closing];
    const forgets = signals.map((each) => onAbort(each, () => end()));
    const end = (): void => {
      for (const forget of forgets) forget();
      resolve();
    };
    if (signals.some((each) => each.aborted)) end();
    void subscription?.closed.then(end);
  });
}

/** A filter that matches every change. */
function everything({ uri }: JsonObject): SubscriptionFilter {
  const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  return typeof uri === "string" ? { ...lists, resourceSubscriptions: [uri] } : lists;
}
