import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { Clock } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { onAbort } from "../../jsonrpc/abort-listeners.js";
import { codes, LocalError, RpcError } from "../../jsonrpc/errors.js";
import { guarded } from "../../jsonrpc/hooks.js";
import { excerpt, type Reporter } from "../../jsonrpc/report.js";
import { specCodes } from "../../protocol/errors.js";
import type { SubscriptionFilter } from "../../protocol/types/subscriptions.js";
import { sleep } from "../../session/sleep.js";
import { type AdvertisedServer, everyList, requireSubscribable } from "../advertised.js";
import type { ClientCallOptions } from "../verbs/verb-options.js";
import { ChangeQueue, type ServerChange } from "./change-queue.js";
import type { Follow, Followed, FollowOptions } from "./follow.js";

/** Options of a subscription. */
export interface SubscribeOptions extends FollowOptions, Pick<ClientCallOptions, "unadvertised"> {
  /** Takes every change as it comes. Default: they are kept until somebody iterates over the subscription. */
  readonly onChange?: (change: ServerChange) => unknown;
}

const subscribeMembers: MembersOf<SubscribeOptions> = {
  signal: ["abortSignal"],
  timeout: [],
  unadvertised: [],
  onChange: ["listener"],
};
const filterMembers: MembersOf<SubscriptionFilter> = {
  toolsListChanged: ["tools"],
  promptsListChanged: ["prompts"],
  resourcesListChanged: ["resources"],
  resourceSubscriptions: ["uris", "resource", "uri"],
};
const misplaced = { onChange: "it belongs into the options, the second argument" } as const;

/** @throws TypeError for a member of the filter or an option that does not exist */
export function checkSubscribe(filter: SubscriptionFilter | undefined, options: SubscribeOptions | undefined): void {
  checkMembers("subscribe", filter, filterMembers, misplaced);
  checkMembers("The options of subscribe", options, subscribeMembers);
}

/** Why a subscription is over. */
export interface SubscriptionEnd {
  /** `closed`: by this side, or with the conversation; `ended`: by the server, in order; `failed`: see `error`. */
  readonly reason: "closed" | "ended" | "failed";
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

/** What subscriptions need of their client. */
export interface SubscriptionHost {
  readonly follow: Follow;
  readonly offer: AdvertisedServer;
  readonly clock: Clock;
  /** From 0 to 1: spreads the attempts of many clients over time. */
  readonly random: () => number;
  /** Aborted when the session ends. */
  readonly over: AbortSignal;
  /** Told when a change may have been missed. */
  missed(): void;
  /** Takes what `onChange` throws or rejects with. */
  readonly report: Reporter;
}

/** Opens a subscription. */
export type Subscribe = (filter?: SubscriptionFilter, options?: SubscribeOptions) => Promise<Subscription>;

/** Without a filter, a subscription is about every list that the server tells of. */
export function subscribeWith(host: SubscriptionHost): Subscribe {
  return async (given, options = {}) => {
    const filter = given ?? everyList(host.offer, options);
    requireSubscribable(filter, host.offer, options);
    requireWanted(host.over, options);
    const subscription = new KeptSubscription(host, filter, options);
    await subscription.open();
    return subscription;
  };
}

/** Following lists needs no request in the handshake era, so there nothing else would notice. */
function requireWanted(over: AbortSignal, { signal, timeout = 0 }: FollowOptions): void {
  if (over.aborted) throw new LocalError("closed", "subscribe: the conversation is over");
  if (!(timeout >= 0)) throw new LocalError("refused", `subscribe: timeout must be 0 ms or more, got ${timeout}`);
  if (signal?.aborted !== true) return;
  throw new LocalError("cancelled", "subscribe: cancelled by the caller", { cause: signal.reason });
}

/** Milliseconds before a subscription that failed is opened again, the first time; then twice as long, up to a minute. */
const firstPause = 1_000;
const longestPause = 60_000;

/** What opening it again would not mend. */
const finalCodes: ReadonlySet<number> = new Set([
  codes.methodNotFound,
  codes.invalidParams,
  specCodes.missingRequiredClientCapability,
  specCodes.unsupportedProtocolVersion,
]);

/** What a filter asks for, in words. */
function wantedOf({ resourceSubscriptions = [], ...lists }: SubscriptionFilter): readonly string[] {
  const members = Object.entries(lists).flatMap(([member, wanted]) => (wanted === true ? [member] : []));
  return [...members, ...resourceSubscriptions.map(excerpt)];
}

/** A filter that no change passes. */
function isNothing({ resourceSubscriptions = [], ...lists }: SubscriptionFilter): boolean {
  return resourceSubscriptions.length === 0 && Object.values(lists).every((wanted) => wanted !== true);
}

class KeptSubscription implements Subscription {
  readonly closed: Promise<SubscriptionEnd>;
  readonly #host: SubscriptionHost;
  readonly #filter: SubscriptionFilter;
  readonly #options: FollowOptions;
  readonly #queue = new ChangeQueue();
  readonly #ended = deferred<SubscriptionEnd>();
  /** Aborted when nobody wants it any more. */
  readonly #stop = new AbortController();
  readonly #tell: (change: ServerChange) => void;
  #followed: Followed | undefined;
  /** Since it last held for a while: what drops at once is opened again at leisure. */
  #failures = 0;

  constructor(
    host: SubscriptionHost,
    filter: SubscriptionFilter,
    { onChange, unadvertised: _, ...options }: SubscribeOptions,
  ) {
    this.#host = host;
    this.#filter = filter;
    this.#options = options;
    this.#tell = (change) => {
      if (onChange === undefined) this.#queue.push(change);
      else guarded("onChange", () => onChange(change), host.report);
    };
    this.closed = this.#ended.promise;
  }

  get filter(): SubscriptionFilter {
    return this.#followed?.honoured ?? {};
  }

  async open(): Promise<void> {
    const { over } = this.#host;
    const followed = await this.#follow(this.#options);
    if (isNothing(followed.honoured)) {
      await followed.stop();
      const wanted = wantedOf(this.#filter).join(", ");
      throw new LocalError("refused", `subscribe: the server tells of nothing that was asked for: ${wanted}`);
    }
    const forget = onAbort(over, () => this.#stop.abort());
    if (over.aborted) this.#stop.abort();
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
    this.#followed = await this.#host.follow(this.#filter, options, this.#tell);
    return this.#followed;
  }

  /** Follows until it is over, and says why. Never rejects. */
  async #keep(first: Followed): Promise<SubscriptionEnd> {
    let followed = first;
    for (;;) {
      const since = this.#host.clock.now();
      const dropped = await this.#untilOver(followed);
      if (this.#stop.signal.aborted) {
        await followed.stop();
        return { reason: "closed" };
      }
      if (dropped === undefined) return { reason: "ended" };
      if (this.#host.clock.now() - since >= longestPause) this.#failures = 0;
      const next = await this.#reopen(dropped);
      if ("reason" in next) return next;
      followed = next;
      this.#tellMissed();
    }
  }

  #tellMissed(): void {
    this.#host.missed();
    this.#tell({ kind: "missed" });
  }

  async #untilOver(followed: Followed): Promise<Error | undefined> {
    const stopped = deferred<undefined>();
    const { signal } = this.#stop;
    const forget = onAbort(signal, () => stopped.resolve(undefined));
    if (signal.aborted) stopped.resolve(undefined);
    const dropped = await Promise.race([followed.over, stopped.promise]);
    forget();
    return dropped;
  }

  /** Opens it again, as often as that can help. */
  async #reopen(dropped: Error): Promise<Followed | SubscriptionEnd> {
    const { clock, random } = this.#host;
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
