import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { deferred } from "../../base/deferred.js";
import { whenAborted } from "../../jsonrpc/abort-listeners.js";
import { codes, LocalError, RpcError } from "../../jsonrpc/errors.js";
import { guarded } from "../../jsonrpc/hooks.js";
import { sleep } from "../../jsonrpc/sleep.js";
import { specCodes } from "../../protocol/errors.js";
import { methods } from "../../protocol/methods.js";
import type { SubscriptionFilter } from "../../protocol/types/subscriptions.js";
import type { Change } from "../../session/change-feed.js";
import { everyList, requireSubscribable } from "../advertised.js";
import { type ClientSession, requireNotAborted, type SessionCallOptions } from "../session/client-session.js";
import { type ReconnectingSession, untilAborted } from "../session/reconnecting-session.js";
import { type Follow, type Followed, type FollowOptions, wantedOf } from "./follow.js";
import { followByListening } from "./follow-listening.js";
import { followBySubscribing } from "./follow-subscribing.js";

/** A change that a subscription reports. */
export type ServerChange =
  | Change
  /** The connection was lost, or more changes arrived than were read: anything may have changed. Fetch what matters again. */
  | { readonly kind: "missed" };

/** Options of a subscription. */
export interface SubscribeOptions extends FollowOptions, Pick<SessionCallOptions, "unadvertised"> {
  /** Receives every change at once. Default: changes are queued until the program iterates over the subscription. */
  readonly onChange?: (change: ServerChange) => unknown;
}

const subscribeMembers: MembersOf<SubscribeOptions> = {
  signal: ["object", "abortSignal"],
  timeout: ["number"],
  unadvertised: ["boolean"],
  onChange: ["function", "listener"],
};
const filterMembers: MembersOf<SubscriptionFilter> = {
  toolsListChanged: ["boolean", "tools"],
  promptsListChanged: ["boolean", "prompts"],
  resourcesListChanged: ["boolean"],
  resourceSubscriptions: ["strings", "uris", "resource", "uri"],
};
const misplaced = {
  onChange: "it belongs into the options, the second argument",
  resources: "write resourcesListChanged: true for their list, resourceSubscriptions: [uri] for contents",
} as const;

/** @throws TypeError for an unknown member of the filter or an unknown option */
export function checkSubscribe(filter: SubscriptionFilter | undefined, options: SubscribeOptions | undefined): void {
  checkMembers("subscribe", filter, filterMembers, misplaced);
  checkMembers("The options of subscribe", options, subscribeMembers);
}

/** Why a subscription is over. */
export interface SubscriptionEnd {
  /** `closed`: by the client, or with the session; `ended`: by the server, properly, without `reopen`; `failed`: see `error`. */
  readonly reason: "closed" | "ended" | "failed";
  /** The error that ended it, if the reason is `failed`. */
  readonly error?: Error;
}

/**
 * Change notifications of a server. A subscription that drops is opened again and reports that changes may have been missed.
 * Leaving a loop over it does not close it; `close` and `await using` do.
 */
export interface Subscription extends AsyncIterable<ServerChange>, AsyncDisposable {
  /** The accepted filter: all of the requested one, or the part that the server supports. */
  readonly filter: SubscriptionFilter;
  /** Resolves when the subscription has ended. Never rejects. */
  readonly closed: Promise<SubscriptionEnd>;
  /** Ends the subscription; resolves when the server has been notified. */
  close(): Promise<void>;
}

/** Opens a subscription. */
export type Subscribe = (filter?: SubscriptionFilter, options?: SubscribeOptions) => Promise<Subscription>;

/**
 * Subscribes in a session. The default filter has every list that the server advertises changes of.
 * @param onMissed called when changes may have been missed
 */
export function subscribeWith(session: ReconnectingSession, onMissed: () => void): Subscribe {
  const follow = followByEra(session);
  return async (given, options = {}) => {
    const filter = given ?? everyList(session, options);
    requireSubscribable(filter, session, options);
    requireOpen(session.ended, options);
    const { onChange, unadvertised: _, ...how } = options;
    const subscription = new KeptSubscription(session, follow, onMissed, filter, onChange);
    await subscription.open(how);
    return subscription;
  };
}

function followByEra(session: ReconnectingSession): Follow {
  if (session.revision.requests.client.has(methods.listen)) return followByListening(session);
  // In the handshake era, subscriptions end with the session.
  const follows = new WeakMap<ClientSession, Follow>();
  return (filter, options, onChange) =>
    session.act((current) => {
      const follow = follows.get(current) ?? followBySubscribing(current, (listener) => session.listen(listener));
      follows.set(current, follow);
      return follow(filter, options, onChange);
    });
}

/** Checked here, because a subscription to lists sends no request in the handshake era. */
function requireOpen(ended: AbortSignal, { signal, timeout = 0 }: FollowOptions): void {
  if (ended.aborted) throw new LocalError("closed", "subscribe: the session is over");
  if (!(timeout >= 0)) throw new LocalError("refused", `subscribe: timeout must be 0 ms or more, got ${timeout}`);
  requireNotAborted("subscribe", signal);
}

/** Milliseconds before a failed subscription is reopened; doubled for each further attempt. */
const firstPause = 1_000;
const longestPause = 60_000;

/** Error codes that a further attempt would get again. */
const finalCodes: ReadonlySet<number> = new Set([
  codes.methodNotFound,
  codes.invalidParams,
  specCodes.missingRequiredClientCapability,
  specCodes.unsupportedProtocolVersion,
]);

class KeptSubscription implements Subscription {
  readonly closed: Promise<SubscriptionEnd>;
  readonly #session: ReconnectingSession;
  readonly #subscribe: Follow;
  readonly #onMissed: () => void;
  readonly #filter: SubscriptionFilter;
  readonly #queue = new ChangeQueue();
  readonly #ended = deferred<SubscriptionEnd>();
  /** Aborted when the program closes the subscription, or the session ends. */
  readonly #stop = new AbortController();
  readonly #onChange: (change: ServerChange) => void;
  #followed: Followed | undefined;
  /** Failures since the subscription last held for a while; they determine the next pause. */
  #failures = 0;

  constructor(
    session: ReconnectingSession,
    follow: Follow,
    onMissed: () => void,
    filter: SubscriptionFilter,
    onChange: SubscribeOptions["onChange"],
  ) {
    this.#session = session;
    this.#subscribe = follow;
    this.#onMissed = onMissed;
    this.#filter = filter;
    this.#onChange = (change) => {
      if (onChange === undefined) this.#queue.push(change);
      else guarded("onChange", () => onChange(change), session.report);
    };
    this.closed = this.#ended.promise;
  }

  get filter(): SubscriptionFilter {
    return this.#followed?.honoured ?? {};
  }

  async open(options: FollowOptions): Promise<void> {
    const { ended } = this.#session;
    const followed = await this.#follow(options);
    if (wantedOf(followed.honoured).length === 0) {
      await followed.stop();
      const wanted = wantedOf(this.#filter).join(", ");
      throw new LocalError("refused", `subscribe: the server accepted nothing of the filter: ${wanted}`);
    }
    const forget = whenAborted(ended, () => this.#stop.abort());
    void this.#keep(followed).then((end) => {
      forget();
      this.#queue.end(end.error);
      this.#ended.resolve(end);
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<ServerChange> {
    return this.#queue[Symbol.asyncIterator]();
  }

  async #follow(options: FollowOptions): Promise<Followed> {
    this.#followed = await this.#subscribe(this.#filter, options, this.#onChange);
    return this.#followed;
  }

  /** Keeps the subscription open; returns why it ended. Never rejects. */
  async #keep(first: Followed): Promise<SubscriptionEnd> {
    let followed = first;
    for (;;) {
      const since = this.#session.clock.now();
      // It rejects when the subscription is stopped, and for nothing else.
      const dropped = await untilAborted("subscribe", followed.over, this.#stop.signal).catch(() => undefined);
      if (this.#stop.signal.aborted) {
        await followed.stop();
        return { reason: "closed" };
      }
      if (dropped === undefined && !this.#session.reopens) return { reason: "ended" };
      if (this.#session.clock.now() - since >= longestPause) this.#failures = 0;
      // A server that is deployed anew, or may hold a stream only for a while, ends its subscriptions properly.
      const next = await this.#reopen(dropped ?? new LocalError("closed", "the server ended the subscription"));
      if ("reason" in next) return next;
      followed = next;
      this.#onMissed();
      this.#onChange({ kind: "missed" });
    }
  }

  /** Reopens the subscription, until a further attempt would be useless. */
  async #reopen(dropped: Error): Promise<Followed | SubscriptionEnd> {
    const { clock, random } = this.#session;
    const { signal } = this.#stop;
    for (let error = dropped; ; ) {
      if (error instanceof RpcError && finalCodes.has(error.code)) return { reason: "failed", error };
      const longest = Math.min(longestPause, firstPause * 2 ** this.#failures);
      this.#failures += 1;
      await sleep(clock, longest * (1 - random() / 2), signal);
      if (signal.aborted) return { reason: "closed" };
      try {
        return await this.#follow({ signal });
      } catch (failure) {
        if (signal.aborted) return { reason: "closed" };
        error = failure instanceof Error ? failure : new Error("it could not be opened again", { cause: failure });
      }
    }
  }
}

/** Maximum unread changes. A server can report any number of parts of a resource; beyond the limit, changes are missed. */
const maxPending = 1_000;

/** Unread changes. Repeated changes of the same thing are merged. */
class ChangeQueue implements AsyncIterable<ServerChange> {
  readonly #pending = new Map<string, ServerChange>();
  #end: { readonly error: Error | undefined } | undefined;
  #news = deferred<undefined>();

  push(change: ServerChange): void {
    const isTooMuch = this.#pending.size >= maxPending;
    if (isTooMuch || change.kind === "missed") this.#pending.clear(); // "missed" covers all pending changes.
    const kept: ServerChange = isTooMuch ? { kind: "missed" } : change;
    this.#pending.set(keyOf(kept), kept);
    this.#wake();
  }

  /** Ends the queue. Pending changes can still be read. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** @throws the error of `end`, after the last change */
  async *[Symbol.asyncIterator](): AsyncGenerator<ServerChange> {
    for (;;) {
      const [oldest] = this.#pending;
      if (oldest !== undefined) {
        this.#pending.delete(oldest[0]);
        yield oldest[1];
      } else if (this.#end === undefined) {
        await this.#news.promise;
      } else {
        if (this.#end.error !== undefined) throw this.#end.error;
        return;
      }
    }
  }

  #wake(): void {
    const news = this.#news;
    this.#news = deferred();
    news.resolve(undefined);
  }
}

function keyOf(change: ServerChange): string {
  if (change.kind === "resource") return `resource ${change.uri}`;
  return change.kind === "list" ? `list ${change.list}` : change.kind;
}
