import { type ByteBudget, weightOfValue } from "../../base/byte-budget.js";
import type { Authentication } from "../../jsonrpc/call.js";
import { tooManyBytes } from "../../jsonrpc/calls/responder.js";
import { invalidParams, RpcError } from "../../jsonrpc/errors.js";
import type { Reporter } from "../../jsonrpc/report.js";
import { ChangeFeed, type ChangeSource } from "../../session/change-feed.js";
import type { ServedSession } from "../servable.js";
import type { NegotiatedSession } from "./negotiated-session.js";

/** A peer chooses what is subscribed to, and each URI is kept: this many, and a client that follows a folder has enough. */
export const maxSubscriptions = 1_000;

/** The subscriber, and what its subscriptions may cost. */
interface Subscriber {
  /** Is charged for the URIs. */
  readonly budget: ByteBudget;
  /** The caller, as its latest request says. */
  auth(): Authentication;
  readonly report: Reporter;
}

/**
 * Changes that a client of the handshake era is notified of: of lists, where `listChanged` was negotiated, and of the resources that
 * it has subscribed to.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
export class ChangeNotifier {
  readonly #uris = new Set<string>();
  readonly #budget: ByteBudget;
  readonly #feed: ChangeFeed;

  constructor(
    source: ChangeSource,
    { capabilities, terms }: NegotiatedSession,
    conversation: ServedSession,
    { budget, auth, report }: Subscriber,
  ) {
    this.#budget = budget.child();
    this.#feed = new ChangeFeed(source, {
      matches: (change) =>
        change.kind === "list" ? capabilities[change.list]?.listChanged === true : this.#uris.has(change.uri),
      auth,
      report,
      notify: (method, params) => conversation.notify(method, terms.revision.down("notification", method, params)),
      drained: () => conversation.drained(),
    });
  }

  /** @throws RpcError −32602 when there are too many, 42900 when there is no room for another */
  subscribe(uri: string): void {
    if (this.#uris.has(uri)) return;
    if (this.#uris.size >= maxSubscriptions) {
      throw invalidParams("Too many subscriptions", [
        {
          path: "/uri",
          message: `is one more than the ${maxSubscriptions} that a conversation may have: unsubscribe first`,
        },
      ]);
    }
    if (!this.#budget.take(weightOfValue(uri)))
      throw new RpcError(tooManyBytes.code, tooManyBytes.message, tooManyBytes.data);
    this.#uris.add(uri);
  }

  unsubscribe(uri: string): void {
    if (this.#uris.delete(uri)) this.#budget.give(weightOfValue(uri));
  }

  stop(): void {
    this.#feed.stop();
    this.#uris.clear();
    this.#budget.close();
  }
}
