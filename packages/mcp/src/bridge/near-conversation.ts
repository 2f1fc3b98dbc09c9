import type { Subscription } from "../client/subscription.js";
import type { RemoteCall } from "../jsonrpc/call.js";
import { invalidParams, LocalError } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import type { Reporter } from "../jsonrpc/report.js";
import { objectResult } from "../lifecycle/remote-call.js";
import type { Newcomer, OpenConversation, Operation } from "../lifecycle/served.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { isProtocolNotification, methods, notifications } from "../protocol/methods.js";
import type { SubscriptionFilter } from "../protocol/subscriptions.js";
import type { Revision } from "../revisions/revision.js";
import { crossedQuestion } from "./crossing.js";
import type { FarEnd, NearEnd } from "./far-end.js";
import { followableOf, tellMissed } from "./following.js";
import type { Ask, Round } from "./held-calls.js";

/** A downstream client with a handshake. It has its own upstream session, and gets input requests as requests. */
export class NearConversation implements NearEnd {
  readonly revision: Revision;
  readonly client: Newcomer;
  readonly #conversation: OpenConversation;
  readonly #report: Reporter;
  readonly #subscriptions = new Map<string, Subscription>();
  /** Work that waits for `notifications/initialized`; before it, the client must not get requests or notifications. */
  #early: (() => void)[] | undefined = [];

  constructor(newcomer: Newcomer, conversation: OpenConversation, report: Reporter) {
    this.revision = newcomer.revision;
    this.client = newcomer;
    this.#conversation = conversation;
    this.#report = report;
  }

  readonly ask: Ask = (method, params, signal) => this.#asking(this.#conversation.callback)(method, params, signal);

  hear(method: string, params: JsonObject, call: Operation | undefined): void {
    if (
      method === notifications.acknowledged ||
      method === notifications.cancelled ||
      method === notifications.progress
    )
      return;
    if (call !== undefined && method === notifications.message) call.notify(method, params);
    else this.#whenReady(() => this.#tell(method, params));
  }

  /** Handles a notification from the client. */
  heard(method: string, params: Params | undefined, far: FarEnd): void {
    if (method === notifications.initialized) this.#ready(far);
    else if (mayTell(method, far.revision)) far.notify(method, isObject(params) ? params : {});
  }

  async call(method: string, round: Round, far: FarEnd): Promise<JsonObject> {
    if (far.revision.era === "stateless") {
      if (method === methods.setLevel) return {}; // Sent with every later call.
      if (method === methods.subscribe) return this.#subscribe(String(round.params.uri), far);
      if (method === methods.unsubscribe) return this.#unsubscribe(String(round.params.uri));
    }
    const { callback, signal } = round.operation;
    const ask = callback === undefined ? this.ask : this.#asking(callback);
    return far.call(method, { ask, signal, round: () => round });
  }

  #asking(callback: RemoteCall): Ask {
    return async (method, params, signal) => {
      const asked = crossedQuestion(method, params, this.revision);
      const endless = { timeout: Number.POSITIVE_INFINITY, totalTimeout: Number.POSITIVE_INFINITY };
      await this.#readiness();
      return objectResult(method, await callback(method, asked, { ...endless, signal }));
    };
  }

  #tell(method: string, params: JsonObject): void {
    if (isProtocolNotification(method) && !this.revision.notifications.server.has(method)) return;
    // Conversion keeps objects objects.
    const shaped = this.revision.down("notification", method, params) as JsonObject;
    this.#conversation.notify(method, Object.keys(shaped).length === 0 ? undefined : shaped);
  }

  #ready(far: FarEnd): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const each of early) each();
    if (far.revision.era === "stateless") void this.#followLists(far);
  }

  #whenReady(act: () => void): void {
    if (this.#early === undefined) act();
    else this.#early.push(act);
  }

  #readiness(): Promise<void> {
    return new Promise((resolve) => this.#whenReady(resolve));
  }

  /**
   * Subscribes to list changes upstream: handshake clients expect them without a subscription, stateless servers
   * require one.
   */
  async #followLists(far: FarEnd): Promise<void> {
    const filter = followableOf(far, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
    if (Object.keys(filter).length === 0) return;
    try {
      await this.#follow(filter, far);
    } catch (error) {
      this.#report({ kind: "fault", method: methods.listen, error });
    }
  }

  #follow(filter: SubscriptionFilter, far: FarEnd): Promise<Subscription> {
    // Change notifications are forwarded as they arrive, by `hear`.
    return far.subscribe(filter, {
      onChange: ({ kind }) => {
        if (kind === "missed") tellMissed(filter, (method, params) => this.#tell(method, params));
      },
    });
  }

  async #subscribe(uri: string, far: FarEnd): Promise<JsonObject> {
    if (this.#subscriptions.has(uri)) return {};
    try {
      this.#subscriptions.set(uri, await this.#follow({ resourceSubscriptions: [uri] }, far));
      return {};
    } catch (error) {
      if (!(error instanceof LocalError) || error.reason !== "refused") throw error;
      throw invalidParams("Invalid params", [
        { path: "/uri", message: "is not a resource that the server sends updates for" },
      ]);
    }
  }

  async #unsubscribe(uri: string): Promise<JsonObject> {
    const subscription = this.#subscriptions.get(uri);
    this.#subscriptions.delete(uri);
    await subscription?.close();
    return {};
  }
}

/** Whether a client of that revision may send the notification. */
function mayTell(method: string, revision: Revision): boolean {
  return !isProtocolNotification(method) || revision.notifications.client.has(method);
}
