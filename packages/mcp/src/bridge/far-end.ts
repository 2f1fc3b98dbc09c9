import type { Clock } from "../base/clock.js";
import { followWith } from "../client/follow-either.js";
import { type Subscribe, subscribeWith } from "../client/subscription.js";
import type { Closed } from "../jsonrpc/connection.js";
import { LocalError, RpcError } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import { type CallOptions, defaultTimeouts } from "../jsonrpc/outgoing-call.js";
import type { Reporter } from "../jsonrpc/report.js";
import type { Answering } from "../lifecycle/answering.js";
import { answeringCall } from "../lifecycle/answering-call.js";
import { Heard } from "../lifecycle/heard.js";
import { type Again, LastingConversation } from "../lifecycle/lasting.js";
import type { Opening, OpenOptions } from "../lifecycle/open.js";
import type { ServerDescription } from "../lifecycle/opened.js";
import { pause } from "../lifecycle/pause.js";
import type { ClientDescription, Operation } from "../lifecycle/served.js";
import type { Implementation } from "../protocol/implementation.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import type { LoggingLevel } from "../protocol/logging.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import type { Revision } from "../revisions/revision.js";
import { crossedParams, declaredAcross, notAnswered } from "./crossing.js";
import type { Ask, CrossingCall } from "./held-calls.js";

/** The settings for opening upstream sessions. */
export interface FarEndHost {
  readonly open: Opening;
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
export interface NearEnd {
  readonly revision: Revision;
  readonly client: ClientDescription;
  /** Handles an input request that arrives while no call is running. */
  readonly ask: Ask;
  /** Handles an upstream notification that does not name its call. `call` is the latest running call, if any. */
  hear(method: string, params: JsonObject, call: Operation | undefined): void;
}

const patient = { timeout: Number.POSITIVE_INFINITY, totalTimeout: Number.POSITIVE_INFINITY } as const;

/** A session with the upstream server. The downstream side sets the time limits of calls. */
export class FarEnd {
  readonly subscribe: Subscribe;
  readonly #conversation: LastingConversation;
  readonly #heard: Heard;
  readonly #clock: Clock;
  readonly #isLasting: boolean;
  readonly #calls: Set<CrossingCall>;
  #level: LoggingLevel | undefined;

  /** @throws the error of opening the session */
  static async open(host: FarEndHost, near: NearEnd, signal: AbortSignal): Promise<FarEnd> {
    const calls = new Set<CrossingCall>();
    const heard = new Heard(host.report, (method, params) =>
      near.hear(method, toldParams(params), [...calls].at(-1)?.round().operation),
    );
    const identity = { info: near.client.info ?? host.info, answering: answeringFor(near, calls, host.clock) };
    const onNotification: Heard["tell"] = (method, params) => heard.tell(method, params);
    const options: OpenOptions = {
      ...preferring(near.revision, host.options),
      exactNumbers: true,
      identity,
      onNotification,
    };
    const first = await host.open({ ...options, signal });
    const again: Again = (revision, prior, over) => host.open({ ...options, revision, prior, signal: over });
    const pacing = { clock: host.clock, random: options.random ?? Math.random };
    return new FarEnd(host, new LastingConversation(first, pacing, host.reopen ? again : undefined), heard, calls);
  }

  private constructor(host: FarEndHost, conversation: LastingConversation, heard: Heard, calls: Set<CrossingCall>) {
    const { clock, report, reopen } = host;
    this.#isLasting = reopen;
    this.#conversation = conversation;
    this.#heard = heard;
    this.#clock = clock;
    this.#calls = calls;
    this.subscribe = subscribeWith({
      follow: followWith(conversation, { heard, clock, timeout: host.options.timeout ?? defaultTimeouts.idle }),
      offer: conversation,
      clock,
      random: host.options.random ?? Math.random,
      over: conversation.over,
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
    return this.#isLasting || this.#conversation.connection.phase === "open";
  }

  /** Whether calls are running. */
  get isBusy(): boolean {
    return this.#calls.size > 0;
  }

  /** Forwards a call. Input requests of the upstream server during the call go to its caller. */
  async call(method: string, call: CrossingCall): Promise<JsonObject> {
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
  #answered({ ask, round }: CrossingCall): LastingConversation["call"] {
    const { revision, over } = this.#conversation;
    const { operation } = round();
    if (ask === undefined || revision.era === operation.revision.era) return this.#conversation.call;
    const answering: Answering = {
      capabilities: () => operation.client.capabilities,
      accept: (method, params) => (signal) => ask(method, params, signal),
    };
    const unhurried = { answering, clock: this.#clock, totalTimeout: patient.totalTimeout, over, heard: this.#heard };
    return answeringCall(this.#conversation, unhurried);
  }

  #outgoing({ round }: CrossingCall): JsonObject {
    const { params, operation } = round();
    const { logLevel } = operation;
    const isSaidWithCalls = this.revision.era === "stateless" && logLevel !== undefined;
    return crossedParams(params, isSaidWithCalls ? { [metaKeys.logLevel]: logLevel } : {});
  }

  #optionsOf({ signal, round }: CrossingCall): CallOptions {
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
function preferring({ era }: Revision, options: FarEndHost["options"]): FarEndHost["options"] {
  return era === "handshake" && options.prior === undefined ? { ...options, prior: { era } } : options;
}

/** Removes the subscription id from a notification, because it is the bridge's own. */
function toldParams(params: Params | undefined): JsonObject {
  return isObject(params) ? crossedParams(params) : {};
}

/**
 * Milliseconds to wait before answering an input request of a cancelled call: the upstream server cancels its request
 * first, so that no response is needed.
 */
const withdrawal = 1_000;

function answeringFor(near: NearEnd, calls: ReadonlySet<CrossingCall>, clock: Clock): Answering {
  return {
    capabilities: (revision) => declaredAcross(near.client.capabilities, near.revision, revision),
    accept: (method, params) => (signal) => {
      const asking = [...calls].filter(({ ask }) => ask !== undefined);
      const { ask = near.ask, signal: theirs = signal } = asking.at(-1) ?? {};
      // With several running calls, the origin of an input request is unknown. With one it is certain, so cancelling
      // that call cancels the request.
      const wanted = asking.length === 1 ? AbortSignal.any([signal, theirs]) : signal;
      return ask(method, crossedParams(params), wanted).catch(async (error: unknown) => {
        if (theirs.aborted) await pause(clock, withdrawal, signal);
        throw error instanceof LocalError ? notAnswered(error) : error;
      });
    },
  };
}
