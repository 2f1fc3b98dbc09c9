import { deferred } from "../../base/deferred.js";
import { whenAborted } from "../../jsonrpc/abort-listeners.js";
import { LocalError, RpcError } from "../../jsonrpc/errors.js";
import { methods } from "../../protocol/methods.js";
import type { ClientSession, SessionCall } from "../session/client-session.js";
import type { ReconnectingSession } from "../session/reconnecting-session.js";
import { type Follow, type FollowOptions, readChange, wantedOf } from "./follow.js";

/**
 * Subscribes with `resources/subscribe`, in one session of the handshake era. Changes of lists need no subscription: the server
 * sends them to every client. A ping shows that it has the session by now.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
export function followBySubscribing(
  { call, connection, ended }: ClientSession,
  listen: ReconnectingSession["listen"],
): Follow {
  const subscribed = new SubscribedUris(call);
  return async (filter, options, onChange) => {
    const forget = listen((method, params) => {
      const change = readChange(method, params, filter);
      if (change !== undefined) onChange(change);
    });
    const { resourceSubscriptions, ...lists } = filter;
    if (resourceSubscriptions === undefined)
      await reach(call, options).catch((error: unknown) => {
        forget();
        throw error;
      });
    const uris = resourceSubscriptions ?? [];
    const outcomes = await Promise.allSettled(uris.map((uri) => subscribed.acquire(uri, options)));
    const acquired = uris.filter((_, index) => outcomes[index]?.status === "fulfilled");
    const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    const honoured = resourceSubscriptions === undefined ? lists : { ...lists, resourceSubscriptions: [...acquired] };
    const stop = async (): Promise<void> => {
      forget();
      await Promise.all(acquired.splice(0).map((uri) => subscribed.release(uri)));
    };
    const fatal =
      refusals.find((error) => !(error instanceof RpcError)) ??
      (wantedOf(honoured).length === 0 ? refusals[0] : undefined);
    if (fatal !== undefined) {
      await stop();
      throw fatal;
    }
    const over = deferred<Error | undefined>();
    const end = async (): Promise<void> => {
      const { error: cause } = await connection.closed;
      forget();
      over.resolve(new LocalError("closed", "the session has ended", { cause }));
    };
    // `connection.closed.then` would retain every subscription of the session.
    const unwatch = whenAborted(ended, () => void end());
    return {
      honoured,
      over: over.promise,
      async stop() {
        unwatch();
        await stop();
        over.resolve(undefined);
      },
    };
  };
}

/** Milliseconds for the answer to a ping. */
const patience = 5_000;

/**
 * Resolves when the server has received everything that was sent so far, `notifications/initialized` above all: before it, a server
 * tells of no change. A server that does not answer pings is not refused.
 * @throws LocalError `closed` or `cancelled`
 */
async function reach(call: SessionCall, { timeout = patience, ...options }: FollowOptions): Promise<void> {
  try {
    await call(methods.ping, undefined, { ...options, timeout: Math.min(timeout, patience) });
  } catch (error) {
    if (error instanceof LocalError && (error.reason === "closed" || error.reason === "cancelled")) throw error;
  }
}

interface SubscribedUri {
  /** The number of subscriptions of this client; for the server they are one. */
  count: number;
  isSubscribed: boolean;
  /** Requests for one URI are sent one after the other, so that the last one decides. */
  last: Promise<unknown>;
}

class SubscribedUris {
  readonly #call: SessionCall;
  readonly #uris = new Map<string, SubscribedUri>();

  constructor(call: SessionCall) {
    this.#call = call;
  }

  /** @throws RpcError for a resource that does not exist; LocalError as `Connection.call` */
  async acquire(uri: string, options: FollowOptions): Promise<void> {
    const entry = this.#uris.get(uri) ?? { count: 0, isSubscribed: false, last: Promise.resolve() };
    this.#uris.set(uri, entry);
    entry.count += 1;
    try {
      await inTurn(entry, async () => {
        if (entry.isSubscribed) return;
        await this.#call(methods.subscribe, { uri }, options);
        entry.isSubscribed = true;
      });
    } catch (error) {
      this.#leave(uri, entry);
      throw error;
    }
  }

  /** Never rejects. */
  async release(uri: string): Promise<void> {
    const entry = this.#uris.get(uri);
    if (entry === undefined) return;
    this.#leave(uri, entry);
    await inTurn(entry, async () => {
      if (entry.count > 0 || !entry.isSubscribed) return;
      try {
        await this.#call(methods.unsubscribe, { uri });
      } finally {
        entry.isSubscribed = false;
        if (entry.count === 0) this.#uris.delete(uri);
      }
    }).catch(() => undefined); // Changes that the server still sends are ignored.
  }

  #leave(uri: string, entry: SubscribedUri): void {
    entry.count -= 1;
    if (entry.count === 0 && !entry.isSubscribed) this.#uris.delete(uri);
  }
}

function inTurn(entry: SubscribedUri, work: () => Promise<void>): Promise<void> {
  const done = entry.last.then(work);
  entry.last = done.catch(() => undefined); // The caller gets the error.
  return done;
}
