import { deferred } from "../base/deferred.js";
import { RequestBatch } from "./batch.js";
import type { Call } from "./call.js";
import { Caller, type CallerHost, longestTimer } from "./caller.js";
import type { Channel } from "./channel.js";
import { encodeRequest } from "./codec.js";
import { LocalError, methodNotFound, notJson } from "./errors.js";
import { InFlight, type InFlightCounts, type Phase } from "./in-flight.js";
import { Inbound, type Routing } from "./inbound.js";
import type { Id, Params } from "./message.js";
import { type CallOptions, defaultTimeouts, type OutgoingCall } from "./outgoing-call.js";
import type { Profile } from "./profile.js";
import { Responder, type ResponderHost } from "./responder.js";
import { type Terms, type TermsOptions, termsOf } from "./terms.js";

export interface ConnectionOptions extends TermsOptions, Routing {
  /** Runs what the peer calls. Default: every method is unknown. */
  readonly handle?: Call;
  /** Milliseconds without a sign of the peer after which a call fails. Default: 60,000. */
  readonly timeout?: number;
  /** Milliseconds after which a call fails whatever the peer does. Default: 600,000. */
  readonly totalTimeout?: number;
  /** Whom the carrier has authenticated; handlers see it on their exchange. */
  readonly principal?: string | undefined;
}

/** Why a connection is closed. */
export interface Closed {
  /** `closed`: by this side; `ended`: by the peer; `failed`: the carrier broke; `refused`: the peer broke a bound too often. */
  readonly reason: "closed" | "ended" | "failed" | "refused";
  readonly error?: Error;
}

/** How it stands with a connection. */
export interface ConnectionState {
  readonly phase: Phase;
  /** What is under way; all zero on a connection at rest. */
  readonly inFlight: InFlightCounts;
  /** Resolves when both directions have ended. Never rejects. */
  readonly closed: Promise<Closed>;
}

/** The far end: what may be called there, and what it may be told. */
export interface Remote {
  readonly call: Call;
  notify(method: string, params?: Params): void;
}

/**
 * Many calls, both ways, over one channel. It has no client and no server end: either side may call the other.
 *
 * Messages are handed over synchronously, in the order of their arrival. Every call has exactly one outcome: a result,
 * an `RpcError` of the peer, or a `LocalError`.
 */
export class Connection implements Remote, ConnectionState, AsyncDisposable {
  readonly closed: Promise<Closed>;
  readonly #channel: Channel;
  readonly #options: ConnectionOptions;
  readonly #terms: Terms;
  readonly #inFlight = new InFlight();
  readonly #caller: Caller;
  readonly #responder: Responder;
  readonly #ended = deferred<Closed>();
  #blocked: Promise<void> | undefined;
  #paused = false;

  /** Made by `openConnection`. */
  constructor(channel: Channel, options: ConnectionOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#terms = termsOf(options);
    this.closed = this.#ended.promise;
    this.#caller = new Caller(this.#callerHost());
    this.#responder = new Responder(this.#responderHost());
  }

  /** The rules of the conversation; set anew when the peers agree on narrower or wider ones. */
  get profile(): Profile {
    return this.#terms.profile;
  }

  set profile(profile: Profile) {
    this.#terms.profile = profile;
  }

  get phase(): Phase {
    return this.#inFlight.phase;
  }

  get inFlight(): InFlightCounts {
    return this.#inFlight.counts;
  }

  /**
   * Calls the peer. Usable as a `Call`, so one connection can serve another.
   * Params are serialised when they are written: do not alter them before the outcome.
   * @throws RpcError what the peer answered; LocalError `closed`, `timeout`, `cancelled`, `refused` or `protocol`
   */
  readonly call = (method: string, params?: Params, options: CallOptions = {}): Promise<unknown> =>
    this.#caller.call(method, params, options, (frame) => this.#write(frame));

  /**
   * Tells the peer something. It waits for nothing; `drained` does. On a closed connection it does nothing.
   * @throws LocalError `refused` when the params are not JSON
   */
  readonly notify = (method: string, params?: Params): void => {
    let frame: string;
    try {
      frame = encodeRequest(undefined, method, params);
    } catch (error) {
      throw notJson(method, error);
    }
    this.#write(frame);
  };

  /** An empty batch to fill and send. */
  batch(): RequestBatch {
    if (!this.#terms.profile.batches) {
      throw new LocalError("refused", "batches are not part of this protocol revision: send each call on its own");
    }
    return new RequestBatch(this.#caller, (frame) => this.#write(frame));
  }

  /** Resolves when the carrier can take more. */
  drained(): Promise<void> {
    return this.#channel.drained?.(undefined) ?? this.#blocked ?? Promise.resolve();
  }

  /**
   * Takes nothing new, lets what runs finish for at most `grace` milliseconds, then closes.
   * Requests that arrive meanwhile are answered with −32603.
   */
  async drain(grace: number): Promise<void> {
    await this.#finish(grace);
    await this.close();
  }

  /** Ends everything at once: calls of this side fail with `closed`, handlers see their signal abort. */
  close(): Promise<void> {
    return this.#end({ reason: "closed" });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal Starts delivery. */
  open(): this {
    const inbound = new Inbound({
      terms: this.#terms,
      options: this.#options,
      caller: this.#caller,
      responder: this.#responder,
      isClosed: () => this.phase === "closed",
      giveUp: (why) => void this.#end({ reason: "refused", error: new Error(why) }),
    });
    this.#channel.open({
      frame: (text, decoded) => inbound.frame(text, decoded),
      refuse: (refusal) => inbound.refuse(refusal),
      lost: (request, error) => this.#caller.lose(request, error),
      end: (error) => this.#inputEnded(error),
    });
    return this;
  }

  /** The peer sends no more: its answers will never come, but ours can still go out. */
  #inputEnded(error?: Error): void {
    if (this.phase === "closed") return;
    const why = error === undefined ? "the peer closed the connection" : error.message;
    this.#caller.failAll(why, error);
    if (error !== undefined) void this.#end({ reason: "failed", error });
    else if (this.#inFlight.idle) void this.#end({ reason: "ended" });
    else void this.#finish(endGrace).then(() => this.#end({ reason: "ended" }));
  }

  /** Takes nothing new; resolves when nothing is under way, after `grace` milliseconds, or when the connection closes. */
  #finish(grace: number): Promise<void> {
    if (this.phase === "open") {
      this.#inFlight.change({ kind: "phase", phase: "closing" });
      this.#responder.closeAll();
    }
    const { clock } = this.#terms;
    return new Promise((resolve) => {
      const timer = clock.setTimer(resolve, Math.min(grace, longestTimer));
      const finished = (): void => {
        clock.clearTimer(timer);
        resolve();
      };
      void this.#inFlight.whenIdle().then(finished);
      void this.closed.then(finished);
    });
  }

  async #end(closed: Closed): Promise<void> {
    if (this.phase !== "closed") {
      this.#inFlight.change({ kind: "phase", phase: "closed" });
      const why = closed.error?.message ?? "the connection was closed";
      this.#caller.failAll(why, closed.error);
      this.#responder.cancelAll(why);
    }
    await this.#channel.close();
    this.#ended.resolve(closed);
  }

  #write(frame: string, relatedTo?: Id, isAnswer = false): void {
    if (this.phase === "closed") return;
    const pending = this.#channel.send(frame, relatedTo, isAnswer);
    if (pending === undefined) return;
    if (pending === this.#blocked) this.#balance();
    else void this.#waitForRoom(pending);
  }

  async #waitForRoom(pending: Promise<void>): Promise<void> {
    this.#blocked = pending;
    this.#balance();
    await pending;
    if (this.#blocked !== pending) return;
    this.#blocked = undefined;
    this.#balance();
  }

  /**
   * While the peer does not read, reading is paused, so it cannot make this side produce more; but not while this side
   * waits for an answer, or two peers that both wait to be read would wait for ever.
   */
  #balance(): void {
    const mustPause = this.#blocked !== undefined && this.#inFlight.calling === 0;
    if (mustPause === this.#paused) return;
    this.#paused = mustPause;
    if (mustPause) this.#channel.pause?.();
    else this.#channel.resume?.();
  }

  #cancelAtPeer({ id }: OutgoingCall, reason: string): void {
    const { cancellation } = this.#options;
    if (cancellation !== undefined) this.notify(cancellation.method, { [cancellation.idMember]: id, reason });
  }

  #callerHost(): CallerHost {
    const { timeout = defaultTimeouts.idle, totalTimeout = defaultTimeouts.total } = this.#options;
    return {
      inFlight: this.#inFlight,
      terms: this.#terms,
      timeouts: { idle: timeout, total: totalTimeout },
      blocked: () => {
        this.#balance();
        return this.#blocked;
      },
      cancelAtPeer: (call, reason) => this.#cancelAtPeer(call, reason),
    };
  }

  #responderHost(): ResponderHost {
    return {
      inFlight: this.#inFlight,
      terms: this.#terms,
      handle: this.#options.handle ?? unknownMethod,
      call: (method, params, options, relatedTo) =>
        this.#caller.call(method, params, options ?? {}, (frame) => this.#write(frame, relatedTo)),
      answer: (frame, request) => this.#write(frame, request, true),
      unanswered: (request) => {
        if (this.phase !== "closed") this.#channel.unanswered?.(request);
      },
      principal: this.#options.principal,
      release: (request, retry) => this.#channel.release?.(request, retry),
      tell: (method, params, relatedTo) => this.#tell(method, params, relatedTo),
      drained: (relatedTo) => this.#channel.drained?.(relatedTo) ?? this.drained(),
    };
  }

  /** A notification from inside a handler, which must not fail because of it. */
  #tell(method: string, params: Params | undefined, relatedTo: Id | undefined): void {
    try {
      this.#write(encodeRequest(undefined, method, params), relatedTo);
    } catch (error) {
      this.#terms.report({ kind: "fault", method, error });
    }
  }
}

/** Milliseconds that handlers have when the peer has ended its side: enough to answer what it asked before. */
const endGrace = 5_000;

const unknownMethod: Call = (method) => {
  throw methodNotFound(method);
};

/** Starts a conversation on a channel. */
export function openConnection(channel: Channel, options: ConnectionOptions = {}): Connection {
  return new Connection(channel, options).open();
}
