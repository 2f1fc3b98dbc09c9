import type { Clock } from "../base/clock.js";
import { isObject, type JsonObject } from "../base/json.js";
import { inputCall } from "../client/input/input-call.js";
import type { InputResponder, SessionCall } from "../client/session/client-session.js";
import type { OpenOptions, SessionOpener } from "../client/session/open-session.js";
import { ReconnectingSession } from "../client/session/reconnecting-session.js";
import { type SubscribeOptions, type Subscription, subscribeWith } from "../client/subscriptions/subscription.js";
import type { CallOptions } from "../jsonrpc/call.js";
import { LocalError, RpcError } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import type { Reporter } from "../jsonrpc/report.js";
import { sleep } from "../jsonrpc/sleep.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { isAdvertised } from "../protocol/method-capabilities.js";
import { notifications } from "../protocol/methods.js";
import type { Revision } from "../protocol/revisions/revision.js";
import type { Implementation } from "../protocol/types/implementation.js";
import type { LoggingLevel } from "../protocol/types/logging.js";
import { changingLists, filterOf, type SubscriptionFilter } from "../protocol/types/subscriptions.js";
import type { ClientHello, Operation } from "../server/servable.js";
import { declaredIn, readDeclared } from "../session/input-methods.js";
import type { ProxiedCall, RequestInput, Round } from "./held-calls.js";
import { internalErrorFor, translateParams } from "./translate.js";

/** Settings of all upstream sessions of a bridge. */
export interface UpstreamSettings {
  readonly open: SessionOpener;
  /** Whether to reconnect when the connection breaks. */
  readonly reopen: boolean;
  readonly options: Omit<OpenOptions, "identity" | "signal" | "onNotification">;
  readonly info: Implementation;
  /** Whether downstream clients see transport and process errors of the upstream server. */
  readonly isCandid: boolean;
  readonly clock: Clock;
  readonly report: Reporter;
}

/** The downstream client that an upstream session serves. */
export interface Downstream {
  readonly client: ClientHello;
  /** Handles an input request that arrives while no call is running. */
  readonly requestInput: RequestInput;
  /** Handles an upstream notification that does not name its call. `call` is the latest running call, if any. */
  receive(method: string, params: JsonObject, call: Operation | undefined): void;
  /** Handles a call of the client. */
  call(method: string, round: Round, upstream: Upstream): Promise<JsonObject>;
  /** Handles a notification of the client. */
  onNotification?(method: string, params: Params | undefined, upstream: Upstream): void;
}

/** Notifications about requests of the bridge itself. */
const ofUpstream: ReadonlySet<string> = new Set([
  notifications.acknowledged,
  notifications.cancelled,
  notifications.progress,
]);

const unlimited = { timeout: Number.POSITIVE_INFINITY, totalTimeout: Number.POSITIVE_INFINITY } as const;

/** Sends a notification to the downstream client. */
export type Notify = (method: string, params: JsonObject) => void;

/** A session with the upstream server. The downstream side sets the time limits of calls. */
export class Upstream {
  readonly session: ReconnectingSession;
  readonly #calls: Set<ProxiedCall>;
  readonly #subscribe: ReturnType<typeof subscribeWith>;
  #level: LoggingLevel | undefined;

  /** @throws the error of opening the session */
  static async open(
    { open, options, info, clock, reopen }: UpstreamSettings,
    downstream: Downstream,
    signal: AbortSignal,
  ): Promise<Upstream> {
    const calls = new Set<ProxiedCall>();
    const opening: OpenOptions = {
      ...preferring(downstream.client.revision, options),
      exactNumbers: true,
      identity: {
        info: downstream.client.info ?? info,
        responder: responderOf(downstream, calls, clock),
      },
      onNotification(method, params) {
        if (ofUpstream.has(method)) return;
        downstream.receive(method, receivedParams(params), [...calls].at(-1)?.round().operation);
      },
      signal,
    };
    return new Upstream(await ReconnectingSession.open(open, opening, reopen), calls);
  }

  private constructor(session: ReconnectingSession, calls: Set<ProxiedCall>) {
    this.session = session;
    this.#calls = calls;
    this.#subscribe = subscribeWith(session, () => undefined);
  }

  /** Whether calls are possible, possibly after a reconnect. */
  get isUsable(): boolean {
    return this.session.reopens || this.session.connection.phase === "open";
  }

  /** Whether calls are running. */
  get isBusy(): boolean {
    return this.#calls.size > 0;
  }

  /** Forwards a call. Input requests of the upstream server during the call go to its caller. */
  async call(method: string, call: ProxiedCall): Promise<JsonObject> {
    this.#calls.add(call);
    try {
      await this.#setLevel(call.round().operation);
      return await this.#callWithInput(call)(method, this.#paramsOf(call), this.#optionsOf(call));
    } finally {
      this.#calls.delete(call);
    }
  }

  /** The part of a filter that the upstream server supports. */
  supported(filter: SubscriptionFilter): SubscriptionFilter {
    const { capabilities } = this.session.server;
    return filterOf(
      ({ member, capability }) => filter[member] === true && isAdvertised(capability, capabilities),
      isAdvertised("resources.subscribe", capabilities) ? filter.resourceSubscriptions : [],
    );
  }

  /**
   * Subscribes at the upstream server. Its change notifications are forwarded as they arrive; if some may have been missed,
   * `notify` gets one for everything in the filter.
   * @throws as `Client.subscribe`
   */
  subscribe(
    filter: SubscriptionFilter,
    notify: Notify,
    options: Pick<SubscribeOptions, "signal"> = {},
  ): Promise<Subscription> {
    return this.#subscribe(filter, {
      ...options,
      onChange({ kind }) {
        if (kind !== "missed") return;
        for (const { member, notification } of changingLists) if (filter[member] === true) notify(notification, {});
        for (const uri of filter.resourceSubscriptions ?? []) notify(notifications.resourceUpdated, { uri });
      },
    });
  }

  /** Within one era, input requests are forwarded unchanged; otherwise they are converted. */
  #callWithInput({ requestInput, round }: ProxiedCall): SessionCall {
    const { operation } = round();
    if (requestInput === undefined || this.session.revision.era === operation.revision.era) return this.session.call;
    return inputCall(this.session, {
      capabilities: () => operation.client.capabilities,
      accept: (method, params) => (signal) => requestInput(method, params, signal),
    });
  }

  #paramsOf({ round }: ProxiedCall): JsonObject {
    const { params, operation } = round();
    const { logLevel } = operation;
    const isInMeta = this.session.revision.era === "stateless" && logLevel !== undefined;
    return translateParams(params, isInMeta ? { [metaKeys.logLevel]: logLevel } : {});
  }

  #optionsOf({ signal, round }: ProxiedCall): CallOptions {
    if (readMeta(round().params)?.[metaKeys.progressToken] === undefined) return { ...unlimited, signal };
    return {
      ...unlimited,
      signal,
      notify(method, related) {
        const { operation, params } = round();
        const progressToken = readMeta(params)?.[metaKeys.progressToken];
        if (progressToken !== undefined) operation.notify(method, { ...receivedParams(related), progressToken });
      },
    };
  }

  /**
   * Sets the log level upstream before a call: stateless clients send it with each call, handshake servers need a
   * request.
   */
  async #setLevel({ logLevel, revision }: Operation): Promise<void> {
    const needsRequest = revision.era === "stateless" && this.session.revision.era === "handshake";
    if (!needsRequest || logLevel === undefined || logLevel === this.#level) return;
    if (this.session.server.capabilities.logging === undefined) return;
    try {
      await this.session.setLogLevel(logLevel);
      this.#level = logLevel;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error; // A rejected level does not prevent the call.
    }
  }
}

/** Prefers the downstream client's era, because more can then be forwarded unchanged. */
function preferring({ era }: Revision, options: UpstreamSettings["options"]): UpstreamSettings["options"] {
  return era === "handshake" && options.serverHint === undefined ? { ...options, serverHint: { era } } : options;
}

/** Removes the subscription id from a notification, because it is the bridge's own. */
function receivedParams(params: Params | undefined): JsonObject {
  return isObject(params) ? translateParams(params) : {};
}

/**
 * Milliseconds to wait before answering an input request of a cancelled call: the upstream server cancels its request
 * first, so that no response is needed.
 */
const withdrawal = 1_000;

function responderOf(downstream: Downstream, calls: ReadonlySet<ProxiedCall>, clock: Clock): InputResponder {
  const { client } = downstream;
  return {
    capabilities: (revision) => declaredIn(revision, readDeclared(client.revision, client.capabilities)),
    accept: (method, params) => (signal) => {
      const candidates = [...calls].filter(({ requestInput }) => requestInput !== undefined);
      const { requestInput = downstream.requestInput, signal: callSignal = signal } = candidates.at(-1) ?? {};
      // With several running calls, the origin of an input request is unknown. With one it is certain, so cancelling
      // that call cancels the request.
      const either = candidates.length === 1 ? AbortSignal.any([signal, callSignal]) : signal;
      return requestInput(method, translateParams(params), either).catch(async (error: unknown) => {
        if (callSignal.aborted) await sleep(clock, withdrawal, signal);
        throw error instanceof LocalError ? internalErrorFor("the client did not respond", error) : error;
      });
    },
  };
}
