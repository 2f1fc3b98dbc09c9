import { type ByteBudget, weightOfValue } from "../../base/byte-budget.js";
import type { JsonObject } from "../../base/json.js";
import type { Authentication } from "../../jsonrpc/call.js";
import { tooManyBytes } from "../../jsonrpc/calls/responder.js";
import { invalidParams, RpcError } from "../../jsonrpc/errors.js";
import type { Reporter } from "../../jsonrpc/report.js";
import type { NotificationMethod } from "../../protocol/methods.js";
import { type Change, ChangeFeed, type ChangeSource, type FeedListener } from "../../session/change-feed.js";
import type { NegotiatedSession } from "./negotiated-session.js";

/** A peer chooses what is subscribed to, and each URI is kept: this many, and a client that follows a folder has enough. */
export const maxSubscriptions = 1_000;

/** The subscriber, and what its subscriptions may cost. */
interface Subscriber {
  /** Is charged for the URIs. */
  readonly budget: ByteBudget;
  /** The caller, as its latest request says. */
  readonly auth: Authentication;
  readonly report: Reporter;
}

/**
 * Changes that a client of the handshake era is notified of: of lists, where `listChanged` was negotiated, and of the resources that
 * it has subscribed to.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
export class ChangeNotifier implements FeedListener {
  readonly #agreement: NegotiatedSession;
  readonly #subscriber: Subscriber;
  readonly #feed: ChangeFeed;
  /** The subscribed resources, and what they are charged to. Made for the first one: most sessions have none. */
  #subscribed: { readonly uris: Set<string>; readonly budget: ByteBudget } | undefined;
  #isOver = false;

  constructor(source: ChangeSource, agreement: NegotiatedSession, subscriber: Subscriber) {
    this.#agreement = agreement;
    this.#subscriber = subscriber;
    this.#feed = new ChangeFeed(source, this);
  }

  /** Whether a change waits to be sent. */
  get isPending(): boolean {
    return this.#feed.isPending;
  }

  get report(): Reporter {
    return this.#subscriber.report;
  }

  matches(change: Change): boolean {
    if (change.kind === "list") return this.#agreement.offer.capabilities[change.list]?.listChanged === true;
    return this.#subscribed?.uris.has(change.uri) === true;
  }

  auth(): Authentication {
    return this.#subscriber.auth;
  }

  notify(method: NotificationMethod, params?: JsonObject): void {
    const { session, revision } = this.#agreement;
    session.notify(method, revision.down("notification", method, params));
  }

  drained(): Promise<void> {
    return this.#agreement.session.drained();
  }

  /** @throws RpcError −32602 when there are too many, 42900 when there is no room for another */
  subscribe(uri: string): void {
    if (this.#isOver) return; // The session ended while the server agreed.
    this.#subscribed ??= { uris: new Set(), budget: this.#subscriber.budget.child() };
    const { uris, budget } = this.#subscribed;
    if (uris.has(uri)) return;
    if (uris.size >= maxSubscriptions) {
      throw invalidParams("Too many subscriptions", [
        {
          path: "/uri",
          message: `is one more than the ${maxSubscriptions} that a conversation may have: unsubscribe first`,
        },
      ]);
    }
    if (!budget.take(weightOfValue(uri)))
      throw new RpcError(tooManyBytes.code, tooManyBytes.message, tooManyBytes.data);
    uris.add(uri);
  }

  unsubscribe(uri: string): void {
    if (this.#subscribed?.uris.delete(uri) === true) this.#subscribed.budget.give(weightOfValue(uri));
  }

  stop(): void {
    this.#feed.stop();
    this.#isOver = true;
    this.#subscribed?.budget.close();
    this.#subscribed = undefined;
  }
}
