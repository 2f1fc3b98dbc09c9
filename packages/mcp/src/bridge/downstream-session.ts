import { isObject, type JsonObject } from "../base/json.js";
import { objectResult } from "../client/session/client-session.js";
import type { Subscription } from "../client/subscriptions/subscription.js";
import type { RemoteCall } from "../jsonrpc/call.js";
import { faultyParams, LocalError } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import type { Reporter } from "../jsonrpc/report.js";
import { methods, notifications } from "../protocol/methods.js";
import { isProtocolNotification } from "../protocol/revisions/all.js";
import type { Revision } from "../protocol/revisions/revision.js";
import { filterOf } from "../protocol/types/subscriptions.js";
import type { ClientHello, Operation, ServedSession } from "../server/servable.js";
import type { RequestInput, Round } from "./held-calls.js";
import { translateClientRequest } from "./translate.js";
import type { Downstream, Notify, Upstream } from "./upstream.js";

/** A downstream client with a handshake. It has its own upstream session, and gets input requests as requests. */
export class DownstreamSession implements Downstream {
  readonly client: ClientHello;
  readonly #session: ServedSession;
  readonly #report: Reporter;
  readonly #subscriptions = new Map<string, Subscription>();
  /** Work that waits for `notifications/initialized`; before it, the client must not get requests or notifications. */
  #early: (() => void)[] | undefined = [];

  constructor(hello: ClientHello, session: ServedSession, report: Reporter) {
    this.client = hello;
    this.#session = session;
    this.#report = report;
  }

  readonly requestInput: RequestInput = (method, params, signal) =>
    this.#requestOver(this.#session.callback)(method, params, signal);

  receive(method: string, params: JsonObject, call: Operation | undefined): void {
    if (call !== undefined && method === notifications.message) call.notify(method, params);
    else this.#whenInitialized(() => this.#notify(method, params));
  }

  /** Handles a notification from the client. */
  onNotification(method: string, params: Params | undefined, upstream: Upstream): void {
    if (method === notifications.initialized) this.#onInitialized(upstream);
    else if (maySend(method, upstream.session.revision))
      upstream.session.notify(method, isObject(params) ? params : {});
  }

  async call(method: string, round: Round, upstream: Upstream): Promise<JsonObject> {
    if (upstream.session.revision.era === "stateless") {
      if (method === methods.setLevel) return {}; // Sent with every later call.
      if (method === methods.subscribe) return this.#subscribe(String(round.params.uri), upstream);
      if (method === methods.unsubscribe) return this.#unsubscribe(String(round.params.uri));
    }
    const { callback, signal } = round.operation;
    const requestInput = callback === undefined ? this.requestInput : this.#requestOver(callback);
    return upstream.call(method, { requestInput, signal, round: () => round });
  }

  #requestOver(callback: RemoteCall): RequestInput {
    return async (method, params, signal) => {
      const translated = translateClientRequest(method, params, this.client.revision);
      const endless = { timeout: Number.POSITIVE_INFINITY, totalTimeout: Number.POSITIVE_INFINITY };
      await this.#initialized();
      const response = await callback(method, translated, { ...endless, signal });
      return this.client.revision.up("result", method, objectResult(method, response));
    };
  }

  readonly #notify: Notify = (method, params) => {
    if (isProtocolNotification(method) && !this.client.revision.notifications.server.has(method)) return;
    const shaped = this.client.revision.down("notification", method, params);
    this.#session.notify(method, Object.keys(shaped).length === 0 ? undefined : shaped);
  };

  #onInitialized(upstream: Upstream): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const each of early) each();
    if (upstream.session.revision.era === "stateless") void this.#followLists(upstream);
  }

  #whenInitialized(act: () => void): void {
    if (this.#early === undefined) act();
    else this.#early.push(act);
  }

  #initialized(): Promise<void> {
    return new Promise((resolve) => this.#whenInitialized(resolve));
  }

  /**
   * Subscribes to list changes upstream: handshake clients expect them without a subscription, stateless servers
   * require one.
   */
  async #followLists(upstream: Upstream): Promise<void> {
    const filter = upstream.supported(filterOf(() => true));
    if (Object.keys(filter).length === 0) return;
    try {
      await upstream.subscribe(filter, this.#notify);
    } catch (error) {
      this.#report({ kind: "fault", method: methods.listen, error });
    }
  }

  async #subscribe(uri: string, upstream: Upstream): Promise<JsonObject> {
    if (this.#subscriptions.has(uri)) return {};
    try {
      this.#subscriptions.set(uri, await upstream.subscribe({ resourceSubscriptions: [uri] }, this.#notify));
      return {};
    } catch (error) {
      if (!(error instanceof LocalError) || error.reason !== "refused") throw error;
      throw faultyParams({ path: "/uri", message: "is not a resource that the server sends updates for" });
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
function maySend(method: string, revision: Revision): boolean {
  return !isProtocolNotification(method) || revision.notifications.client.has(method);
}
