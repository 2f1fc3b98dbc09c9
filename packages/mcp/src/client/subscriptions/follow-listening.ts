import type { Clock, Timer } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { longestTimer } from "../../base/settles-within.js";
import { onAbort } from "../../jsonrpc/abort-listeners.js";
import { LocalError } from "../../jsonrpc/errors.js";
import type { Params } from "../../jsonrpc/message.js";
import { isObject } from "../../protocol/json.js";
import { metaKeys, readMeta } from "../../protocol/meta.js";
import { methods, notifications } from "../../protocol/methods.js";
import type { SubscriptionFilter } from "../../protocol/types/subscriptions.js";
import type { Change } from "../../session/change-feed.js";
import type { NotificationEmitter } from "../input/notification-emitter.js";
import type { SessionCall } from "../session/client-session.js";
import { untilAborted } from "../session/until-aborted.js";
import { type Follow, type Followed, type FollowOptions, readChange, readFilter } from "./follow.js";

export interface ListeningHost {
  readonly call: SessionCall;
  readonly emitter: NotificationEmitter;
  readonly clock: Clock;
  /** Milliseconds to wait for the acknowledgement. */
  readonly timeout: number;
}

/** Milliseconds: a server that ends a subscription says so twice, and the second word is the result. */
const resultDelay = 1_000;

/**
 * Follows with `subscriptions/listen`: a call that stays open. What it tells names it by the id of the request, which is
 * learnt from the acknowledgement; so one after the other is opened, and the one that waits is the one that is meant.
 * https://modelcontextprotocol.io/specification/latest/basic/patterns/subscriptions
 */
export function followByListening(host: ListeningHost): Follow {
  const ids = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  return (filter, options, tell) => {
    const turn = untilAborted(methods.listen, last, options.signal);
    const opening = turn.then(() => new Listening(host, filter, tell, ids).opened(options));
    last = Promise.allSettled([last, opening]); // Whoever opens it hears how that ended.
    return opening;
  };
}

class Listening implements Followed {
  readonly over: Promise<Error | undefined>;
  readonly #host: ListeningHost;
  readonly #filter: SubscriptionFilter;
  readonly #tell: (change: Change) => void;
  /** Of all that are open. */
  readonly #ids: Set<string>;
  readonly #stop = new AbortController();
  readonly #opening = deferred<Error | undefined>();
  #id: string | undefined;
  #honoured: SubscriptionFilter = {};
  /** Either side has said that it ends: how the call ends then is no fault. */
  #isEnding = false;
  #resultTimer: Timer | undefined;

  constructor(host: ListeningHost, filter: SubscriptionFilter, tell: (change: Change) => void, ids: Set<string>) {
    this.#host = host;
    this.#filter = filter;
    this.#tell = tell;
    this.#ids = ids;
    const forget = host.emitter.listen((method, params) => this.#hear(method, params));
    this.over = this.#listen().then((outcome) => {
      forget();
      this.#end();
      return outcome;
    });
  }

  get honoured(): SubscriptionFilter {
    return this.#honoured;
  }

  /** Waits for the acknowledgement. */
  async opened({ signal, timeout = this.#host.timeout }: FollowOptions): Promise<this> {
    const { clock } = this.#host;
    const giveUp = (reason: LocalError["reason"], why: string): void =>
      this.#opening.resolve(new LocalError(reason, `${methods.listen}: ${why}`));
    const cancel = (): void => giveUp("cancelled", "cancelled by the caller");
    // A longer one would fire at once, and nobody waits for weeks.
    const timer =
      timeout <= longestTimer
        ? clock.setTimer(() => giveUp("timeout", `not acknowledged within ${timeout} ms`), timeout)
        : undefined;
    const forget = signal === undefined ? undefined : onAbort(signal, cancel);
    if (signal?.aborted === true) cancel();
    void this.over.then((error) =>
      this.#opening.resolve(error ?? new LocalError("protocol", `${methods.listen}: it ended before it began`)),
    );
    const error = await this.#opening.promise;
    if (timer !== undefined) clock.clearTimer(timer);
    forget?.();
    if (error === undefined) return this;
    await this.stop();
    throw error;
  }

  async stop(): Promise<void> {
    this.#isEnding = true;
    this.#stop.abort(new Error("the subscription is closed"));
    await this.over;
  }

  async #listen(): Promise<Error | undefined> {
    const endless = { timeout: Number.POSITIVE_INFINITY, totalTimeout: Number.POSITIVE_INFINITY };
    try {
      await this.#host.call(methods.listen, { notifications: this.#filter }, { ...endless, signal: this.#stop.signal });
      return undefined;
    } catch (error) {
      if (this.#isEnding) return undefined;
      return error instanceof Error ? error : new Error("the subscription failed", { cause: error });
    }
  }

  #hear(method: string, params: Params | undefined): void {
    if (method === notifications.acknowledged) this.#acknowledge(params);
    if (this.#id === undefined || this.#isEnding) return;
    if (method === notifications.cancelled) this.#cancelledByServer(params);
    const change = this.#isMine(params) ? readChange(method, params, this.#filter) : undefined;
    if (change !== undefined) this.#tell(change);
  }

  #acknowledge(params: Params | undefined): void {
    const id = textOf(readMeta(params)?.[metaKeys.subscriptionId]);
    if (this.#id !== undefined || id === undefined || this.#ids.has(id)) return;
    this.#id = id;
    this.#ids.add(id);
    this.#honoured = readFilter(isObject(params) ? params.notifications : undefined);
    this.#opening.resolve(undefined);
  }

  /** What names nobody who is open, because its server writes names in its own way, is for whoever wants it. */
  #isMine(params: Params | undefined): boolean {
    const id = textOf(readMeta(params)?.[metaKeys.subscriptionId]);
    return id === undefined || id === this.#id || !this.#ids.has(id);
  }

  #cancelledByServer(params: Params | undefined): void {
    if (!isObject(params) || textOf(params.requestId) !== this.#id) return;
    this.#isEnding = true;
    this.#resultTimer = this.#host.clock.setTimer(() => this.#stop.abort(), resultDelay);
  }

  #end(): void {
    if (this.#id !== undefined) this.#ids.delete(this.#id);
    if (this.#resultTimer !== undefined) this.#host.clock.clearTimer(this.#resultTimer);
  }
}

/** An id as text: some servers repeat a number as a string. Undefined for what is none. */
function textOf(id: unknown): string | undefined {
  return typeof id === "string" || typeof id === "number" ? String(id) : undefined;
}
