import type { Timer } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import type { MembersOf } from "../base/members.js";
import { RequestBatch } from "./batch.js";
import type { Call } from "./call.js";
import { Caller, type CallerHost, longestTimer } from "./caller.js";
import type { Channel } from "./channel.js";
import { encodeRequest } from "./codec.js";
import { HookError, LocalError, methodNotFound, notJson, RpcError } from "./errors.js";
import { answered, guarded, inHook } from "./hooks.js";
import { InFlight, type InFlightCounts, type Phase } from "./in-flight.js";
import { cancelledError, Inbound, type Routing, routingMembers } from "./inbound.js";
import type { Id, Params } from "./message.js";
import { type Lossy, type LossyNotification, Outbox } from "./outbox.js";
import { type CallOptions, defaultTimeouts, type OutgoingCall } from "./outgoing-call.js";
import type { Profile } from "./profile.js";
import { UnreadError } from "./queue-bounds.js";
import { faultOf } from "./report.js";
import { Responder, type ResponderHost } from "./responder.js";
import { type Terms, type TermsOptions, termsMembers, termsOf } from "./terms.js";

export interface ConnectionOptions extends TermsOptions, Routing {
  /** Runs what the peer calls. Default: every method is unknown. */
  readonly handle?: Call;
  /** Milliseconds without a sign of the peer after which a call fails. Default: 60,000. */
  readonly timeout?: number;
  /** Milliseconds after which a call fails whatever the peer does. Default: 600,000. */
  readonly totalTimeout?: number;
  /**
   * Says of a notification of this side whether, and how, it may be lost while it waits for a peer that does not read: replaced by a
   * later one that `tells` the same, or dropped (and reported) when 16 MiB wait. While the peer keeps up none is. Default: none may
   * be lost, and a peer that lets more wait than its carrier holds is given up.
   */
  readonly lossy?: (method: string, params: Params | undefined) => Lossy | undefined;
  /** Whom the carrier has authenticated; handlers see it on their exchange. */
  readonly principal?: string | undefined;
  /** What the limits of the peer are counted by, where it has other connections: handlers see it on their exchange. */
  readonly peer?: string | undefined;
}

/** The members of `ConnectionOptions`, for the check of options. */
export const connectionMembers: MembersOf<ConnectionOptions> = {
  ...termsMembers,
  ...routingMembers,
  handle: ["handler", "call", "service", "onRequest"],
  timeout: ["idleTimeout", "timeoutMs"],
  totalTimeout: ["maxTotalTimeout"],
  principal: [],
  peer: [],
  lossy: [],
};

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
  /** Bytes that are kept for the peer, as `limits.peerBytes` counts them; zero on a connection at rest. */
  readonly heldBytes: number;
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
  /** @internal The settled terms: what the options come to. */
  readonly terms: Terms;
  readonly #inFlight = new InFlight();
  readonly #caller: Caller;
  readonly #responder: Responder;
  readonly #ended = deferred<Closed>();
  #blocked: Promise<void> | undefined;
  /** What waits until the carrier has room. */
  readonly #outbox: Outbox<WaitingFrame>;
  #paused = false;
  /** Characters of long messages that were refused, as they are forgotten, and when that was counted. */
  #refused = 0;
  #refusedAt = 0;
  /** Runs while a peer that has sent too many of them is not read. */
  #slowed: Timer | undefined;

  /** Made by `openConnection`. */
  constructor(channel: Channel, options: ConnectionOptions) {
    this.#channel = channel;
    this.#options = options;
    this.terms = termsOf(options);
    this.closed = this.#ended.promise;
    this.#outbox = new Outbox(mostLossyWaiting, this.terms.budget, (method) =>
      this.terms.report({ kind: "dropped", method, unread: true }),
    );
    this.#caller = new Caller(this.#callerHost());
    this.#responder = new Responder(this.#responderHost());
  }

  /** The rules of the conversation; set anew when the peers agree on narrower or wider ones. */
  get profile(): Profile {
    return this.terms.profile;
  }

  set profile(profile: Profile) {
    this.terms.profile = profile;
  }

  get phase(): Phase {
    return this.#inFlight.phase;
  }

  get inFlight(): InFlightCounts {
    return this.#inFlight.counts;
  }

  get heldBytes(): number {
    return this.terms.budget.held;
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
    this.#write(frame, undefined, false, this.#lossy(method, params));
  };

  /** An empty batch to fill and send. */
  batch(): RequestBatch {
    if (!this.terms.profile.batches) {
      throw new LocalError("refused", "batches are not part of this protocol revision: send each call on its own");
    }
    return new RequestBatch(this.#caller, (frame) => this.#write(frame));
  }

  /** Resolves when the carrier can take more. */
  drained(): Promise<void> {
    return this.#drained(undefined);
  }

  /** Never rejects: what fails is reported, and a channel that breaks ends the connection by itself. */
  async #drained(relatedTo: Id | undefined): Promise<void> {
    try {
      await inHook("Channel.drained", () => this.#channel.drained?.(relatedTo) ?? this.#unblocked());
    } catch (error) {
      this.terms.report(faultOf("Channel.drained", error));
    }
  }

  /**
   * Takes nothing new, lets what runs finish for at most `grace` milliseconds, then closes.
   * Requests that arrive meanwhile are answered with −32603, and so are those that are not finished in time.
   */
  async drain(grace: number): Promise<void> {
    await this.#finish(grace);
    this.#failAll("the connection was closed");
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
      terms: this.terms,
      options: this.#options,
      caller: this.#caller,
      responder: this.#responder,
      isClosed: () => this.phase === "closed",
      refused: (length) => this.#slowDown(length),
      giveUp: (why) => void this.#end({ reason: "refused", error: new Error(why) }),
    });
    this.#channel.open({
      budget: this.terms.budget,
      frame: (text, decoded, cause) => inbound.frame(text, decoded, cause),
      refuse: (refusal) => inbound.refuse(refusal),
      lost: (request, error) => this.#caller.lose(request, error),
      end: (error) => this.#inputEnded(error),
    });
    return this;
  }

  /** The peer sends no more: its answers will never come, but ours can still go out. */
  #inputEnded(error?: Error): void {
    if (this.phase === "closed") return;
    if (error instanceof HookError) this.terms.report(faultOf("Channel", error));
    const why = error === undefined ? "the peer closed the connection" : error.message;
    this.#caller.failAll(why, error);
    if (error instanceof UnreadError) this.terms.report({ kind: "given-up", error });
    if (error !== undefined) void this.#end({ reason: "failed", error });
    else if (this.#inFlight.idle && this.#outbox.isEmpty) void this.#end({ reason: "ended" });
    else void this.#finish(endGrace).then(() => this.#outlast(why));
  }

  /** The peer may still read: it is told which of its calls were not finished. */
  #outlast(why: string): Promise<void> {
    this.#failAll(why);
    return this.#end({ reason: "ended" });
  }

  /** Calls of this side first: a handler whose signal aborts would otherwise cancel, at the peer, what it has called there. */
  #failAll(why: string): void {
    this.#caller.failAll(why);
    this.#responder.failAll(why);
  }

  /** Takes nothing new; resolves when nothing is under way or waits to be sent, after `grace` milliseconds, or at the close. */
  #finish(grace: number): Promise<void> {
    if (this.phase === "open") {
      this.#inFlight.change({ kind: "phase", phase: "closing" });
      this.#responder.closeAll();
    }
    const { clock } = this.terms;
    return new Promise((resolve) => {
      const timer = clock.setTimer(resolve, Math.min(grace, longestTimer));
      const finished = (): void => {
        clock.clearTimer(timer);
        resolve();
      };
      void this.#inFlight
        .whenIdle()
        .then(() => this.#unblocked())
        .then(finished);
      void this.closed.then(finished);
    });
  }

  async #end(closed: Closed): Promise<void> {
    if (this.phase !== "closed") {
      // The channel may still get out what waits, as it closes; one that has failed cannot.
      const isOpen = (): boolean => this.phase !== "closed";
      if (closed.reason !== "failed") this.#outbox.flush((waiting) => this.#send(waiting), isOpen);
      this.#inFlight.change({ kind: "phase", phase: "closed" });
      this.#speedUp();
      const why = closed.error?.message ?? "the connection was closed";
      this.#caller.failAll(why, closed.error);
      this.#responder.cancelAll(why);
    }
    try {
      await inHook("Channel.close", () => this.#channel.close());
    } catch (error) {
      this.terms.report(faultOf("Channel.close", error));
    }
    this.#ended.resolve(closed);
  }

  /** While the carrier has no room, answers wait: they are no fault of the peer. Of other frames its carrier judges. */
  #write(frame: string, relatedTo?: Id, isAnswer = false, lossy?: LossyNotification): void {
    if (this.phase === "closed") return;
    if (this.#blocked !== undefined && (isAnswer || lossy !== undefined)) {
      this.#outbox.push({ frame, relatedTo, isAnswer }, lossy);
      this.#balance();
    } else {
      if (!this.#outbox.isEmpty) this.#outbox.flush((waiting) => this.#send(waiting), always);
      this.#send({ frame, relatedTo, isAnswer }, lossy);
    }
  }

  #send({ frame, relatedTo, isAnswer }: WaitingFrame, lossy?: LossyNotification): void {
    let pending: void | Promise<void>;
    try {
      pending = this.#channel.send(frame, relatedTo, isAnswer, lossy);
    } catch (error) {
      this.#broken("send", error);
      return;
    }
    if (pending === undefined) return;
    if (pending === this.#blocked) this.#balance();
    else void this.#waitForRoom(pending);
  }

  /** A frame is lost, or nothing comes in any more: either side would wait for ever. */
  #broken(method: "send" | "resume", thrown: unknown): void {
    if (this.phase === "closed") return;
    this.terms.report(faultOf(`Channel.${method}`, thrown));
    const error = new HookError(`Channel.${method}`, thrown);
    void this.#end({ reason: "failed", error }); // Never rejects.
  }

  async #waitForRoom(pending: Promise<void>): Promise<void> {
    this.#blocked = pending;
    this.#balance();
    try {
      await pending;
    } catch (error) {
      this.#broken("send", error);
    }
    if (this.#blocked !== pending) return;
    this.#blocked = undefined;
    if (this.phase !== "closed") this.#outbox.flush((waiting) => this.#send(waiting), this.#hasRoom);
    this.#responder.runWaiting();
    this.#balance();
  }

  readonly #hasRoom = (): boolean => this.#blocked === undefined;

  /** Resolves when nothing waits for the carrier. */
  async #unblocked(): Promise<void> {
    while (this.#blocked !== undefined) await this.#blocked;
  }

  #lossy(method: string, params: Params | undefined, relatedTo?: Id): LossyNotification | undefined {
    // A carrier with more than one stream lets each wait for itself.
    const mayWait = this.#blocked !== undefined || this.#channel.drained !== undefined;
    const { lossy: decide } = this.#options;
    const lossy =
      mayWait && decide !== undefined ? answered("lossy", () => decide(method, params), this.terms.report) : undefined;
    if (lossy?.tells === undefined) return lossy && { method };
    return { method, tells: `${typeof relatedTo} ${String(relatedTo)} ${lossy.tells}` };
  }

  /**
   * While the peer does not read, reading is paused, so it cannot make this side produce more; but not while this side
   * waits for an answer, or two peers that both wait to be read would wait for ever.
   */
  #balance(): void {
    const mustPause = this.#slowed !== undefined || (this.#blocked !== undefined && this.#inFlight.calling === 0);
    if (mustPause === this.#paused) return;
    this.#paused = mustPause;
    if (mustPause) guarded("Channel.pause", () => this.#channel.pause?.(), this.terms.report);
    else
      guarded(
        "Channel.resume",
        () => this.#channel.resume?.(),
        ({ error }) => this.#broken("resume", error),
      );
  }

  /**
   * Reading and parsing long messages that are refused takes time from all other peers. A peer that sends many of them is not read
   * for about twenty times as long as they took, so that they take no more than 5 % of the time.
   */
  #slowDown(length: number): void {
    if (length < freeRefusalLength || this.phase === "closed") return;
    const { clock } = this.terms;
    const now = clock.now();
    this.#refused = Math.max(0, this.#refused - (now - this.#refusedAt) * refusedPerMillisecond) + length;
    this.#refusedAt = now;
    const excess = this.#refused - refusedAtOnce;
    if (excess <= 0) return;
    if (this.#slowed !== undefined) clock.clearTimer(this.#slowed);
    this.#slowed = clock.setTimer(() => this.#speedUp(), Math.ceil(excess / refusedPerMillisecond));
    this.#balance();
  }

  #speedUp(): void {
    if (this.#slowed === undefined) return;
    this.terms.clock.clearTimer(this.#slowed);
    this.#slowed = undefined;
    if (this.phase !== "closed") this.#balance();
  }

  #cancelAtPeer({ id }: OutgoingCall, reason: string): void {
    const { cancellation } = this.#options;
    if (cancellation === undefined) return;
    if (cancellation.error !== null) this.#caller.expectLate(id);
    this.notify(cancellation.method, { [cancellation.idMember]: id, reason });
  }

  #callerHost(): CallerHost {
    const { timeout = defaultTimeouts.idle, totalTimeout = defaultTimeouts.total } = this.#options;
    return {
      inFlight: this.#inFlight,
      terms: this.terms,
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
      terms: this.terms,
      handle: this.#options.handle ?? unknownMethod,
      isLasting: (method) => this.#options.lasting?.has(method) === true,
      call: (method, params, options, relatedTo) =>
        this.#caller.call(method, params, options ?? {}, (frame) => this.#write(frame, relatedTo)),
      answer: (frame, request) => this.#write(frame, request, true),
      unanswered: (request) => {
        if (this.phase === "closed") return;
        guarded("Channel.unanswered", () => this.#channel.unanswered?.(request), this.terms.report);
      },
      cancelled: this.#options.cancellation && cancelledError(this.#options.cancellation),
      principal: this.#options.principal,
      peer: this.#options.peer,
      report: this.terms.report,
      failed: (request, thrown) =>
        guarded("Channel.failed", () => this.#channel.failed?.(request, causeOf(thrown)), this.terms.report),
      release: (request, retry) =>
        guarded("Channel.release", () => this.#channel.release?.(request, retry), this.terms.report),
      mayRun: () => this.#outbox.length < mostAnswersWaiting,
      tell: (method, params, relatedTo) => this.#tell(method, params, relatedTo),
      drained: (relatedTo) => this.#drained(relatedTo),
    };
  }

  /** A notification from inside a handler, which must not fail because of it. */
  #tell(method: string, params: Params | undefined, relatedTo: Id | undefined): void {
    try {
      this.#write(encodeRequest(undefined, method, params), relatedTo, false, this.#lossy(method, params, relatedTo));
    } catch (error) {
      this.terms.report({ kind: "fault", method, error });
    }
  }
}

/** A refused message of fewer characters costs its sender nothing. */
const freeRefusalLength = 64 * 1024;

/** Characters of long messages that may be refused before their sender is slowed down, and those of them forgotten in a millisecond. */
const refusedAtOnce = 16 * 1024 * 1024;
const refusedPerMillisecond = 16 * 1024;

interface WaitingFrame {
  readonly frame: string;
  readonly relatedTo: Id | undefined;
  readonly isAnswer: boolean;
}

/** Characters that wait for a peer that does not read, from which on lossy notifications are dropped. */
const mostLossyWaiting = 16 * 1024 * 1024;

/** The same, from which on none of its requests is begun. */
const mostAnswersWaiting = 8 * 1024 * 1024;

const always = (): boolean => true;

/** What lies behind an error on the wire: what a handler or a hook has thrown, or the cause that it has given its own error. */
function causeOf(thrown: unknown): unknown {
  return thrown instanceof HookError || thrown instanceof RpcError ? thrown.cause : thrown;
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
