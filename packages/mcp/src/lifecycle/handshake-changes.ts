import type { ByteBudget } from "../base/byte-budget.js";
import type { Clock } from "../base/clock.js";
import type { RemoteCall } from "../jsonrpc/call.js";
import { invalidParams, RpcError } from "../jsonrpc/errors.js";
import type { ErrorObject, Params } from "../jsonrpc/message.js";
import type { Reporter } from "../jsonrpc/report.js";
import { tooManyBytes } from "../jsonrpc/responder.js";
import { weightOfValue } from "../jsonrpc/weight.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { JsonObject } from "../protocol/json.js";
import type { Revision } from "../revisions/revision.js";
import { ChangeFeed, type ChangeSource } from "./change-feed.js";

/** What a conversation needs of its carrier, outside of calls. */
export interface Carrier {
  /** Told the revision as soon as the peers have settled on it. */
  agreed(revision: Revision): void;
  readonly clock: Clock;
  /** Bounds the bytes that are kept for the client. */
  readonly budget: ByteBudget;
  /** Asks the client something that belongs to no call of its own. */
  readonly callback: RemoteCall;
  /** Does nothing once the carrier is gone. Never throws. */
  notify(method: string, params?: Params): void;
  /** Resolves when the carrier can take more. */
  drained(): Promise<void>;
  /** What the peer may see of anything that a call of `method` has thrown; the rest is reported. */
  failure(method: string, thrown: unknown, params?: Params): ErrorObject;
  /** For a deviation of the client that is tolerated. */
  readonly report: Reporter;
  /** Ends the conversation. */
  close(): void;
}

/** A peer chooses what is subscribed to, and each URI is kept: this many, and a client that follows a folder has enough. */
export const maxSubscriptions = 1_000;

/**
 * What a conversation of the handshake era hears of changes: lists, if it was promised that, and the resources that it
 * has subscribed to.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
export class HandshakeChanges {
  readonly #uris = new Set<string>();
  readonly #budget: ByteBudget;
  readonly #feed: ChangeFeed;

  /** @param promised the capabilities that `initialize` was answered with */
  constructor(source: ChangeSource, promised: ServerCapabilities, revision: Revision, carrier: Carrier) {
    this.#budget = carrier.budget.child();
    this.#feed = new ChangeFeed(source, {
      wants: (change) =>
        change.kind === "list" ? promised[change.list]?.listChanged === true : this.#uris.has(change.uri),
      // A reshape of an object gives an object.
      notify: (method, params) =>
        carrier.notify(method, revision.down("notification", method, params) as JsonObject | undefined),
      drained: () => carrier.drained(),
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
