import { longestTimer, type Timer } from "../../base/clock.js";
import { deferred } from "../../base/deferred.js";
import { isObject } from "../../base/json.js";
import { whenAborted } from "../../jsonrpc/abort-listeners.js";
import { LocalError } from "../../jsonrpc/errors.js";
import type { Params } from "../../jsonrpc/message.js";
import { metaKeys, readMeta } from "../../protocol/meta.js";
import { methods, notifications } from "../../protocol/methods.js";
import type { SubscriptionFilter } from "../../protocol/types/subscriptions.js";
import type { Change } from "../../session/change-feed.js";
import { type ReconnectingSession, untilAborted } from "../session/reconnecting-session.js";
import { type Follow, type Followed, type FollowOptions, readChange, readFilter } from "./follow.js";

/** Milliseconds to wait for the result of a subscription that the server ended with `notifications/cancelled`. */
const resultDelay = 1_000;

/**
 * Subscribes with `subscriptions/listen`: a call that stays open. Its notifications have the id of its request, which the client
 * learns from the acknowledgement; so it opens one subscription after the other, and an acknowledgement belongs to the pending one.
 * https://modelcontextprotocol.io/specification/latest/basic/patterns/subscriptions
 */
export function followByListening(session: ReconnectingSession): Follow {
  const ids = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  return (filter, options, onChange) => {
    const turn = untilAborted(methods.listen, last, options.signal);
    const opening = turn.then(() => new Listening(session, filter, onChange, ids).opened(options));
    last = Promise.allSettled([last, opening]); // The caller gets the error.
    return opening;
  };
}

class Listening implements Followed {
  readonly over: Promise<Error | undefined>;
  readonly #session: ReconnectingSession;
  readonly #filter: SubscriptionFilter;
  readonly #onChange: (change: Change) => void;
  /** The ids of all open subscriptions. */
  readonly #ids: Set<string>;
  readonly #stop = new AbortController();
  readonly #opening = deferred<Error | undefined>();
  #id: string | undefined;
  #honoured: SubscriptionFilter = {};
  /** Whether either side has ended the subscription: then the outcome of the call is not an error. */
  #isEnding = false;
  #resultTimer: Timer | undefined;

  constructor(
    session: ReconnectingSession,
    filter: SubscriptionFilter,
    onChange: (change: Change) => void,
    ids: Set<string>,
  ) {
    this.#session = session;
    this.#filter = filter;
    this.#onChange = onChange;
    this.#ids = ids;
    const forget = session.listen((method, params) => this.#receive(method, params));
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
  async opened({ signal, timeout = this.#session.timeout }: FollowOptions): Promise<this> {
    const { clock } = this.#session;
    const giveUp = (reason: LocalError["reason"], why: string): void =>
      this.#opening.resolve(new LocalError(reason, `${methods.listen}: ${why}`));
    // A longer timer would fire at once.
    const timer =
      timeout <= longestTimer
        ? clock.setTimer(() => giveUp("timeout", `not acknowledged within ${timeout} ms`), timeout)
        : undefined;
    const forget = signal && whenAborted(signal, () => giveUp("cancelled", "cancelled by the caller"));
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
      await this.#session.call(
        methods.listen,
        { notifications: this.#filter },
        { ...endless, signal: this.#stop.signal },
      );
      return undefined;
    } catch (error) {
      if (this.#isEnding) return undefined;
      return error instanceof Error ? error : new Error("the subscription failed", { cause: error });
    }
  }

  #receive(method: string, params: Params | undefined): void {
    if (method === notifications.acknowledged) this.#acknowledge(params);
    if (this.#id === undefined || this.#isEnding) return;
    if (method === notifications.cancelled) this.#cancelledByServer(params);
    const change = this.#isMine(params) ? readChange(method, params, this.#filter) : undefined;
    if (change !== undefined) this.#onChange(change);
  }

  #acknowledge(params: Params | undefined): void {
    const id = textOf(readMeta(params)?.[metaKeys.subscriptionId]);
    if (this.#id !== undefined || id === undefined || this.#ids.has(id)) return;
    this.#id = id;
    this.#ids.add(id);
    this.#honoured = readFilter(isObject(params) ? params.notifications : undefined);
    this.#opening.resolve(undefined);
  }

  /** A notification without the id of an open subscription belongs to all: some servers write ids in their own way. */
  #isMine(params: Params | undefined): boolean {
    const id = textOf(readMeta(params)?.[metaKeys.subscriptionId]);
    return id === undefined || id === this.#id || !this.#ids.has(id);
  }

  #cancelledByServer(params: Params | undefined): void {
    if (!isObject(params) || textOf(params.requestId) !== this.#id) return;
    this.#isEnding = true;
    this.#resultTimer = this.#session.clock.setTimer(() => this.#stop.abort(), resultDelay);
  }

  #end(): void {
    if (this.#id !== undefined) this.#ids.delete(this.#id);
    if (this.#resultTimer !== undefined) this.#session.clock.clearTimer(this.#resultTimer);
  }
}

/** An id as text, because some servers return a number as a string; undefined for other values. */
function textOf(id: unknown): string | undefined {
  return typeof id === "string" || typeof id === "number" ? String(id) : undefined;
}
