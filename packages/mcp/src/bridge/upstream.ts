import type { Clock } from "../base/clock.js";
import { inputCall } from "../client/input/input-call.js";
import type { InputResponder } from "../client/input/input-responder.js";
import { NotificationEmitter } from "../client/input/notification-emitter.js";
import type { ServerDescription } from "../client/session/client-session.js";
import type { OpenOptions, SessionOpener } from "../client/session/open-session.js";
import { ReconnectingSession, type Reopen } from "../client/session/reconnecting-session.js";
import { followByEra } from "../client/subscriptions/follow-by-era.js";
import { type Subscribe, subscribeWith } from "../client/subscriptions/subscription.js";
import { type CallOptions, defaultTimeouts } from "../jsonrpc/calls/outgoing-call.js";
import type { Closed } from "../jsonrpc/connection.js";
import { LocalError, RpcError } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import type { Reporter } from "../jsonrpc/report.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import type { Revision } from "../protocol/revisions/revision.js";
import type { Implementation } from "../protocol/types/implementation.js";
import type { LoggingLevel } from "../protocol/types/logging.js";
import type { ClientDescription, Operation } from "../server/servable.js";
import { sleep } from "../session/sleep.js";
import type { AskClient, ProxiedCall } from "./held-calls.js";
import { notAnswered, translateClientCapabilities, translateParams } from "./translate.js";

/** The settings for opening upstream sessions. */
export interface UpstreamHost {
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
  readonly revision: Revision;
  readonly client: ClientDescription;
  /** Handles an input request that arrives while no call is running. */
  readonly ask: AskClient;
  /** Handles an upstream notification that does not name its call. `call` is the latest running call, if any. */
  hear(method: string, params: JsonObject, call: Operation | undefined): void;
}

const patient = { timeout: Number.POSITIVE_INFINITY, totalTimeout: Number.POSITIVE_INFINITY } as const;

/** A session with the upstream server. The downstream side sets the time limits of calls. */
export class Upstream {
  readonly subscribe: Subscribe;
  readonly #conversation: ReconnectingSession;
  readonly #emitter: NotificationEmitter;
  readonly #clock: Clock;
  readonly #isLongLived: boolean;
  readonly #calls: Set<ProxiedCall>;
  #level: LoggingLevel | undefined;

  /** @throws the error of opening the session */
  static async open(host: UpstreamHost, downstream: Downstream, signal: AbortSignal): Promise<Upstream> {
    const calls = new Set<ProxiedCall>();
    const emitter = new NotificationEmitter(host.report, (method, params) =>
      downstream.hear(method, toldParams(params), [...calls].at(-1)?.round().operation),
    );
    const identity = {
      info: downstream.client.info ?? host.info,
      responder: answeringFor(downstream, calls, host.clock),
    };
    const onNotification: NotificationEmitter["emit"] = (method, params) => emitter.emit(method, params);
    const options: OpenOptions = {
      ...preferring(downstream.revision, host.options),
      exactNumbers: true,
      identity,
      onNotification,
    };
    const first = await host.open({ ...options, signal });
    const again: Reopen = (revision, serverHint, over) =>
      host.open({ ...options, revision, serverHint: serverHint, signal: over });
    const pacing = { clock: host.clock, random: options.random ?? Math.random };
    return new Upstream(host, new ReconnectingSession(first, pacing, host.reopen ? again : undefined), emitter, calls);
  }

  private constructor(
    host: UpstreamHost,
    conversation: ReconnectingSession,
    emitter: NotificationEmitter,
    calls: Set<ProxiedCall>,
  ) {
    const { clock, report, reopen } = host;
    this.#isLongLived = reopen;
    this.#conversation = conversation;
    this.#emitter = emitter;
    this.#clock = clock;
    this.#calls = calls;
    this.subscribe = subscribeWith({
      follow: followByEra(conversation, { emitter, clock, timeout: host.options.timeout ?? defaultTimeouts.idle }),
      offer: conversation,
      clock,
      random: host.options.random ?? Math.random,
      over: conversation.ended,
      missed: () => undefined,
      report,
    });
  }

  get revision(): Revision {
    return this.#conversation.revision;
  }

  get server(): ServerDescription {
    return this.#conversation.server;
  }

  /** Resolves when the session is over. Never rejects. */
  get closed(): Promise<Closed> {
    return this.#conversation.closed;
  }

  /** Whether calls are possible, possibly after a reconnect. */
  get isUsable(): boolean {
    return this.#isLongLived || this.#conversation.connection.phase === "open";
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
      return await this.#answered(call)(method, this.#outgoing(call), this.#optionsOf(call));
    } finally {
      this.#calls.delete(call);
    }
  }

  notify(method: string, params: JsonObject): void {
    this.#conversation.notify(method, params);
  }

  close(): Promise<void> {
    return this.#conversation.close();
  }

  /** Within one era, input requests are forwarded unchanged; otherwise they are converted. */
  #answered({ ask, round }: ProxiedCall): ReconnectingSession["call"] {
    const { revision, ended } = this.#conversation;
    const { operation } = round();
    if (ask === undefined || revision.era === operation.revision.era) return this.#conversation.call;
    const responder: InputResponder = {
      capabilities: () => operation.client.capabilities,
      accept: (method, params) => (signal) => ask(method, params, signal),
    };
    const unhurried = {
      responder,
      clock: this.#clock,
      totalTimeout: patient.totalTimeout,
      over: ended,
      emitter: this.#emitter,
    };
    return inputCall(this.#conversation, unhurried);
  }

  #outgoing({ round }: ProxiedCall): JsonObject {
    const { params, operation } = round();
    const { logLevel } = operation;
    const isSaidWithCalls = this.revision.era === "stateless" && logLevel !== undefined;
    return translateParams(params, isSaidWithCalls ? { [metaKeys.logLevel]: logLevel } : {});
  }

  #optionsOf({ signal, round }: ProxiedCall): CallOptions {
    if (readMeta(round().params)?.[metaKeys.progressToken] === undefined) return { ...patient, signal };
    return {
      ...patient,
      signal,
      notify(method, related) {
        const { operation, params } = round();
        const progressToken = readMeta(params)?.[metaKeys.progressToken];
        if (progressToken !== undefined) operation.notify(method, { ...toldParams(related), progressToken });
      },
    };
  }

  /**
   * Sets the log level upstream before a call: stateless clients send it with each call, handshake servers need a
   * request.
   */
  async #setLevel({ logLevel, revision }: Operation): Promise<void> {
    const isSaidBefore = revision.era === "stateless" && this.revision.era === "handshake";
    if (!isSaidBefore || logLevel === undefined || logLevel === this.#level) return;
    if (this.server.capabilities.logging === undefined) return;
    try {
      await this.#conversation.setLogLevel(logLevel);
      this.#level = logLevel;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error; // A rejected level does not prevent the call.
    }
  }
}

/** Prefers the downstream client's era, because more can then be forwarded unchanged. */
function preferring({ era }: Revision, options: UpstreamHost["options"]): UpstreamHost["options"] {
  return era === "handshake" && options.serverHint === undefined ? { ...options, serverHint: { era } } : options;
}

/** Removes the subscription id from a notification, because it is the bridge's own. */
function toldParams(params: Params | undefined): JsonObject {
  return isObject(params) ? translateParams(params) : {};
}

/**
 * Milliseconds to wait before answering an input request of a cancelled call: the upstream server cancels its request
 * first, so that no response is needed.
 */
const withdrawal = 1_000;

function answeringFor(downstream: Downstream, calls: ReadonlySet<ProxiedCall>, clock: Clock): InputResponder {
  return {
    capabilities: (revision) =>
      translateClientCapabilities(downstream.client.capabilities, downstream.revision, revision),
    accept: (method, params) => (signal) => {
      const asking = [...calls].filter(({ ask }) => ask !== undefined);
      const { ask = downstream.ask, signal: theirs = signal } = asking.at(-1) ?? {};
      // With several running calls, the origin of an input request is unknown. With one it is certain, so cancelling
      // that call cancels the request.
      const wanted = asking.length === 1 ? AbortSignal.any([signal, theirs]) : signal;
      return ask(method, translateParams(params), wanted).catch(async (error: unknown) => {
        if (theirs.aborted) await sleep(clock, withdrawal, signal);
        throw error instanceof LocalError ? notAnswered(error) : error;
      });
    },
  };
}
