import { type MembersOf, requireFunction } from "../base/check-members.js";
import { longestTimer } from "../base/clock.js";
import { deferred } from "../base/deferred.js";
import { foreignMembers } from "../base/foreign-members.js";
import type { FrameRefusal } from "../base/framing.js";
import { kindOf } from "../base/json.js";
import { BatchResponse, RequestBatch } from "./batch.js";
import type { Authentication, Call, CallOptions } from "./call.js";
import { Caller } from "./calls/caller.js";
import { InFlight, type InFlightCounts, type Phase } from "./calls/in-flight.js";
import { defaultTimeouts, type OutgoingCall } from "./calls/outgoing-call.js";
import { type ConnectionParts, type IncomingCall, Responder } from "./calls/responder.js";
import type { Channel } from "./channel.js";
import { type Decoded, decode, limitProblem, Problem } from "./codec/decode.js";
import { SpreadMessage } from "./codec/misspelt-responses.js";
import { membersOf } from "./codec/scan.js";
import { codes, HookError, LocalError, methodNotFound } from "./errors.js";
import { answered, guarded, inHook } from "./hooks.js";
import type { Message, Params, RpcNotification } from "./message.js";
import { type LossyRule, Outbound } from "./outbound.js";
import { type PeerOptions, type PeerSettings, peerMembers, peerSettings } from "./peer-settings.js";
import type { Profile } from "./profile.js";
import { UnreadError } from "./queue-bounds.js";
import { faultOf } from "./report.js";
import { type Routing, realNames, routingMembers } from "./routing.js";

/** Options of a connection. */
export interface ConnectionOptions extends PeerOptions, Routing {
  /** Runs what the peer calls. Default: every method is unknown. */
  readonly handle?: Call;
  /** Milliseconds without a sign of the peer after which a call fails. Default: 60,000. */
  readonly timeout?: number;
  /** Milliseconds after which a call fails whatever the peer does. Default: 600,000. */
  readonly totalTimeout?: number;
  /**
   * Decides whether and how a notification of this side may be lost if the peer does not read: replaced by a later one with the same
   * `key`, or dropped (and reported) if 16 MiB are queued. No notification is lost while the peer keeps up. Default: none may be lost,
   * and a peer that does not read what its transport can hold is disconnected.
   */
  readonly lossy?: LossyRule;
  /** The peer, as its transport has authenticated it; handlers see it on their exchange. Default: undefined, a local peer. */
  readonly auth?: Authentication;
  /** The key that limits of the peer are counted by, across its connections; handlers see it on their exchange. Default: none. */
  readonly peer?: string | undefined;
}

/** The members of `ConnectionOptions`, for the check of options. */
export const connectionMembers: MembersOf<ConnectionOptions> = {
  ...peerMembers,
  ...routingMembers,
  handle: ["any", "handler", "call", "service", "onRequest", "method", "names"],
  timeout: ["number", "idleTimeout", "timeoutMs"],
  totalTimeout: ["number", "maxTotalTimeout"],
  auth: ["any", "principal", "identity"],
  peer: ["string"],
  lossy: ["function"],
};

/** Why a connection is closed. */
export type Closed = Readonly<{
  /** `closed`: by this side; `ended`: by the peer; `failed`: by a transport error; `refused`: the peer broke a bound too often. */
  reason: "closed" | "ended" | "failed" | "refused";
  /** The transport error, if the reason is `failed` or `refused`. */
  error?: Error;
}>;

/** The state of a connection. */
export interface ConnectionState {
  /** `open`, `closing` (no new calls; those in flight end) or `closed`. */
  readonly phase: Phase;
  /** Counts of calls in flight; all zero on an idle connection. */
  readonly inFlight: InFlightCounts;
  /** Bytes that are kept for the peer, as `limits.peerBytes` counts them; zero on a connection at rest. */
  readonly heldBytes: number;
  /** Resolves when both directions have ended. Never rejects. */
  readonly closed: Promise<Closed>;
}

/** The remote peer: call its methods and send it notifications. */
export interface Remote {
  /** Calls a method of the peer. Rejects with an `RpcError` or a `LocalError`. */
  readonly call: Call;
  /** Sends a notification; a closed connection drops it. Throws a `LocalError` `refused` if the params are not JSON. */
  notify(method: string, params?: Params): void;
}

/**
 * Many calls, both ways, over one channel. It has no client and no server end: either side may call the other.
 *
 * Messages are handed over synchronously, in the order of their arrival. Every call has exactly one outcome: a result,
 * an `RpcError` of the peer, or a `LocalError`.
 */
export class Connection implements Remote, ConnectionState, AsyncDisposable {
  /** Resolves when both directions have ended. Never rejects. */
  readonly closed: Promise<Closed>;
  readonly #channel: Channel;
  readonly #options: ConnectionOptions;
  /** @internal The settled settings: what the options come to. */
  readonly settings: PeerSettings;
  readonly #parts: ConnectionParts;
  readonly #inFlight = new InFlight<OutgoingCall, IncomingCall>();
  readonly #out: Outbound;
  readonly #caller: Caller;
  readonly #responder: Responder;
  readonly #ended = deferred<Closed>();
  /** The arrival times of the frames that were too long, of the last minute. */
  #oversizedAt: number[] = [];
  /** Frames without a kind or an id since the last message. */
  #unreadable = 0;
  /** Made on first use. */
  #spread: SpreadMessage | undefined;

  /** Made by `openConnection`. */
  constructor(channel: Channel, options: ConnectionOptions) {
    const { timeout = defaultTimeouts.idle, totalTimeout = defaultTimeouts.total, auth, peer } = options;
    const settings = peerSettings(options);
    const inFlight = this.#inFlight;
    this.#channel = channel;
    this.#options = options;
    this.settings = settings;
    this.closed = this.#ended.promise;
    const out = new Outbound(
      channel,
      settings,
      inFlight,
      options.lossy,
      (error) => void this.#end({ reason: "failed", error }), // Never rejects.
      () => this.#responder.runWaiting(),
    );
    const timeouts = { idle: timeout, total: totalTimeout };
    const caller = new Caller(settings, inFlight, timeouts, channel, out, options.cancellation);
    this.#parts = { settings, inFlight, out, caller, auth, peer };
    this.#out = out;
    this.#caller = caller;
    this.#responder = new Responder(this.#parts, options.handle ?? unknownMethod, options);
  }

  /** The rules of the conversation; set anew when the peers agree on narrower or wider ones. */
  get profile(): Profile {
    return this.settings.profile;
  }

  set profile(profile: Profile) {
    this.settings.profile = profile;
  }

  /** The peer, as its transport has authenticated its latest message. Calls that run keep the identity that they came with. */
  get auth(): Authentication {
    return this.#parts.auth;
  }

  set auth(auth: Authentication) {
    this.#parts.auth = auth;
  }

  /** `open`, `closing` (no new calls; those in flight end) or `closed`. */
  get phase(): Phase {
    return this.#inFlight.phase;
  }

  /** Counts of calls in flight; all zero on an idle connection. */
  get inFlight(): InFlightCounts {
    return this.#inFlight.counts;
  }

  /** Bytes that are kept for the peer, as `limits.peerBytes` counts them; zero on a connection at rest. */
  get heldBytes(): number {
    return this.settings.budget.held;
  }

  /**
   * Calls the peer. Usable as a `Call`, so one connection can serve another.
   * Params are serialised when they are written: do not alter them before the outcome.
   * @throws RpcError what the peer answered; LocalError `closed`, `timeout`, `cancelled`, `refused` or `protocol`
   */
  readonly call = (method: string, params?: Params, options: CallOptions = {}): Promise<unknown> =>
    this.#caller.call(method, params, options, (frame) => this.#out.write(frame));

  /**
   * Tells the peer something. It waits for nothing; `drained` does. On a closed connection it does nothing.
   * @throws LocalError `refused` when the params are not JSON
   */
  readonly notify = (method: string, params?: Params): void => this.#out.notify(method, params);

  /** @internal Pauses the idle timeout of the calls in flight while the peer waits for an answer of this side, until `cancelled` aborts. */
  whilePeerWaits<T>(answer: Promise<T>, cancelled: AbortSignal): Promise<T> {
    return this.#caller.whilePeerWaits(answer, cancelled);
  }

  /** An empty batch to fill and send. */
  batch(): RequestBatch {
    if (!this.settings.profile.batches) {
      throw new LocalError("refused", "batches are not part of this protocol revision: send each call on its own");
    }
    return new RequestBatch(this.#parts);
  }

  /** Resolves when the channel can take more. */
  drained(): Promise<void> {
    return this.#out.drained(undefined);
  }

  /**
   * Stops accepting calls, waits up to `grace` ms for running ones, then closes.
   * Requests that arrive meanwhile are answered with −32603, and so are those that are not finished in time.
   */
  async drain(grace: number): Promise<void> {
    await this.#finish(grace);
    this.#failAll("this side is shutting down");
    await this.close();
  }

  /** Ends everything at once: calls of this side fail with `closed`, handlers see their signal abort. */
  close(): Promise<void> {
    return this.#end({ reason: "closed" });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * @internal The id of its latest call, if a new connection that begins after that id can take its place: nothing is in flight, waits
   * or is counted against the peer. Then it is to be let go of, without being closed.
   */
  rest(): number | undefined {
    const isClean = this.#oversizedAt.length === 0 && this.#unreadable === 0 && this.#spread === undefined;
    const isAtRest = this.phase === "open" && this.#inFlight.isAtRest && this.#out.isAtRest && this.heldBytes === 0;
    if (!isClean || !isAtRest) return undefined;
    this.#caller.rest();
    return this.#inFlight.lastId;
  }

  /** @internal Continues after the latest id of a connection that it takes the place of. */
  continueAfter(id: number): void {
    this.#inFlight.lastId = id;
  }

  /** @internal Starts delivery. */
  open(): this {
    this.#channel.open({
      budget: this.settings.budget,
      frame: this.#frame.bind(this),
      refuse: (refusal) => this.#refuse(refusal),
      lost: (request, error) => this.#caller.lose(request, error),
      end: (error, isClosed) => this.#inputEnded(error, isClosed),
    });
    return this;
  }

  /** The peer sends no more: its answers will never come, but ours can still go out unless the channel `isClosed`. */
  #inputEnded(error?: Error, isClosed = false): void {
    if (this.phase === "closed") return;
    if (error instanceof HookError) this.settings.report(faultOf("Channel", error));
    const why = error === undefined ? closedByPeer : error.message;
    this.#caller.failAll(why, error);
    if (error instanceof UnreadError) this.settings.report({ kind: "given-up", error });
    if (error !== undefined) void this.#end({ reason: "failed", error });
    else if (isClosed || (this.#inFlight.idle && this.#out.isEmpty)) void this.#end({ reason: "ended" });
    else void this.#finish(answerGrace).then(() => this.#outlast(why));
  }

  /** The peer may still read: it is told which of its calls were not finished. */
  #outlast(why: string): Promise<void> {
    this.#failAll(why);
    return this.#end({ reason: "ended" });
  }

  /** Handlers first: what they have called at the peer is cancelled there, so that no question stays open in front of its user. */
  #failAll(why: string): void {
    this.#responder.failAll(why);
    this.#caller.failAll(why);
  }

  /** Takes nothing new; resolves when nothing is under way or waits to be sent, after `grace` milliseconds, or at the close. */
  #finish(grace: number): Promise<void> {
    if (this.phase === "open") {
      this.#inFlight.enter("closing");
      this.#responder.closeAll();
    }
    const { clock } = this.settings;
    return new Promise((resolve) => {
      const timer = clock.setTimer(resolve, Math.min(grace, longestTimer));
      const finished = (): void => {
        clock.clearTimer(timer);
        resolve();
      };
      void this.#inFlight
        .whenIdle()
        .then(() => this.#out.unblocked())
        .then(finished);
      void this.closed.then(finished);
    });
  }

  async #end(closed: Closed): Promise<void> {
    if (this.phase !== "closed") {
      // A channel writes what it has when it closes; one that has failed cannot.
      if (closed.reason !== "failed") this.#out.flush();
      this.#inFlight.enter("closed");
      this.#out.speedUp();
      const why = closed.error?.message ?? (closed.reason === "ended" ? closedByPeer : "the connection was closed");
      this.#caller.failAll(why, closed.error);
      this.#responder.cancelAll(why);
    }
    try {
      await inHook("Channel.close", () => this.#channel.close());
    } catch (error) {
      this.settings.report(faultOf("Channel.close", error));
    }
    this.#ended.resolve(closed);
  }

  /** A whole frame. `known`: what it holds, from a channel that had to look. `cause`: see `ChannelReceiver.frame`. */
  #frame(text: string, known?: Decoded, cause?: unknown): void {
    if (this.#inFlight.phase === "closed") return;
    const { profile, limits, exactNumbers } = this.settings;
    const decoded = (known ?? decode(text, profile, limits, exactNumbers)) as Decoded; // As the compiler narrows it.
    if (decoded instanceof Problem) {
      if (this.#isMeant(decoded, text)) return;
      if (this.#isOwed(decoded, text)) this.#responder.problem(decoded);
      this.#out.refused(text.length);
      return;
    }
    this.#unreadable = 0;
    if (!("jsonrpc" in decoded)) this.#batchFrame(decoded, text);
    else if (!("method" in decoded)) this.#caller.receive(decoded, cause);
    else if (!("id" in decoded)) this.#notification(decoded, text, undefined);
    else if (!this.settings.profile.answersRequests)
      this.settings.report({ kind: "unanswerable", method: decoded.method, id: decoded.id });
    else {
      const { aliases } = this.#options;
      const request = aliases === undefined ? decoded : realNames(decoded, aliases);
      if (!this.#responder.request(request, text.length)) this.#out.refused(text.length);
    }
  }

  #batchFrame(elements: readonly (Message | Problem)[], frame: string): void {
    const { aliases } = this.#options;
    const reply = new BatchResponse(this.#responder, this.#parts);
    for (const [index, element] of elements.entries()) {
      if (this.phase === "closed") break; // By what an earlier element set off.
      if (element instanceof Problem) {
        if (this.#isOwed(element, frame)) reply.take(element);
      } else if (!("method" in element)) this.#caller.receive(element);
      else if (!("id" in element)) this.#notification(element, frame, index);
      else reply.take(aliases === undefined ? element : realNames(element, aliases));
    }
    reply.end();
  }

  /** True for what is no message, but an answer that breaks a rule: its call has its outcome. */
  #isMeant(problem: Problem, text: string): boolean {
    const { settings } = this;
    const fails = problem.id !== undefined && problem.subject !== "request"; // By itself, with a better reason.
    if (settings.tolerance === undefined || (settings.tolerance === "explain" && fails)) return false;
    this.#spread ??= new SpreadMessage(settings.limits.frameBytes);
    const whole = this.#spread.push(text);
    return this.#caller.receiveMeant(whole ?? text);
  }

  /** True for something that is no message, if this side owes it an answer; a call that waits for it fails of it. */
  #isOwed(problem: Problem, frame: string): boolean {
    if (this.#caller.receiveProblem(problem)) return false;
    this.#caller.complain({ kind: "invalid", problem, frame });
    return this.#answers(problem, frame);
  }

  /**
   * Whether this side answers what is no message. Not so for a parse error of the peer, nor if the peer has sent nothing else for long:
   * it may have another framing, and the two would answer each other for ever.
   */
  #answers({ subject }: Problem, frame: string): boolean {
    if (!this.settings.profile.answersRequests) return false;
    if (subject === "request") return true;
    this.#unreadable += 1;
    const mayAnswer = this.#options.answersUnreadable !== false && this.#unreadable <= mostUnreadable;
    return mayAnswer && !parseErrorOfPeer.test(frame);
  }

  /** @param index the place of the notification in its batch */
  #notification(received: RpcNotification, frame: string, index: number | undefined): void {
    const { aliases, cancellation, onNotification } = this.#options;
    const message = aliases === undefined ? received : realNames(received, aliases);
    if (message.method === cancellation?.method) {
      this.#responder.cancelRequested(cancellation, message.params, frame, index);
      return;
    }
    const tag = this.#tagOf(message);
    if (tag !== undefined && this.#caller.receiveRelated(tag, message.method, message.params)) return;
    if (onNotification === undefined) this.#responder.notification(message, frame.length);
    else guarded("onNotification", () => onNotification(message.method, message.params), this.settings.report);
  }

  #tagOf({ method, params }: RpcNotification): string | number | undefined {
    const { relatedTo } = this.#options;
    return relatedTo && answered("relatedTo", () => relatedTo(method, params), this.settings.report);
  }

  /** Bytes that did not become a frame. */
  #refuse(refusal: FrameRefusal): void {
    if (this.phase === "closed") return;
    if (refusal.reason === "not-utf8" && refusal.raw !== undefined && this.settings.tolerance === "accept") {
      this.settings.report({ kind: "refused", refusal });
      this.#frame(new TextDecoder("windows-1252").decode(refusal.raw));
      return;
    }
    this.#caller.complain({ kind: "refused", refusal });
    if (refusal.reason === "truncated") return; // The end follows and says it all.
    this.#out.refused(refusal.bytes);
    const { profile, limits } = this.settings;
    const oversized = refusal.reason === "too-long";
    const boundCode = boundCodes.get(refusal.reason);
    const problem =
      boundCode === undefined
        ? new Problem(codes.parseError, refusal.message, "", undefined, hasMethod(refusal.head) ? "request" : "unknown")
        : limitProblem(refusal.message, refusal.head, profile, limits, boundCode);
    if (this.settings.tolerance !== undefined && refusal.reason === "not-utf8") {
      const answer = limitProblem(refusal.message, refusal.head, profile, limits);
      if (this.#caller.receiveProblem(answer)) return;
    }
    if (!this.#caller.receiveProblem(problem) && this.#answers(problem, refusal.head)) this.#responder.problem(problem);
    if (oversized && this.#isTooMuch()) void this.#end({ reason: "refused", error: new Error(refusal.message) });
  }

  #isTooMuch(): boolean {
    const { clock, limits } = this.settings;
    if (limits.oversizedPerMinute === Number.POSITIVE_INFINITY) return false; // Nothing is kept of what is not counted.
    const now = clock.now();
    this.#oversizedAt = [...this.#oversizedAt.filter((at) => at > now - 60_000), now];
    return this.#oversizedAt.length >= limits.oversizedPerMinute;
  }
}

const closedByPeer = "the peer closed the connection";

/** Milliseconds that handlers have when the peer has ended its side: enough to answer what it asked before. */
const answerGrace = 5_000;

const parseErrorOfPeer = /"error" *: *\{ *"code" *: *-32700\b/;

/** Unreadable frames in a row that are answered. */
const mostUnreadable = 20;

/** Codes of what was refused for its length: it is JSON for all that is known, and its id may stand at its beginning. */
const boundCodes: ReadonlyMap<FrameRefusal["reason"], number> = new Map([
  ["too-long", codes.invalidRequest],
  ["no-room", codes.tooManyRequests],
]);

function hasMethod(head: string): boolean {
  return membersOf(head).has("method");
}

const unknownMethod: Call = (method) => {
  throw methodNotFound(method);
};

/**
 * Opens a JSON-RPC connection on a channel.
 * @throws TypeError for an option that does not exist, a `handle` that is not a function, or an object that is not a channel
 */
export function openConnection(channel: Channel, options: ConnectionOptions = {}): Connection {
  if (typeof channel?.open !== "function") {
    const remedy = `write openConnection(channel, ${servesService})`;
    throw new TypeError(`openConnection needs a channel, got ${kindOf(channel)}: ${remedy}`);
  }
  if (options.handle !== undefined)
    requireFunction("openConnection: handle", options.handle, `write openConnection(channel, ${servesService})`);
  return new Connection(channel, options).open();
}

const servesService = "{ handle: service.call }";
const handles = `openConnection(channel, ${servesService}) handles what the peer calls`;
const ended = "connection.closed is a promise for the end of the connection";

// Methods that connections of other libraries have, and what takes their place.
Object.setPrototypeOf(
  Connection.prototype,
  foreignMembers("connection", {
    request: "connection.call(method, params) calls the peer",
    sendRequest: "connection.call(method, params) calls the peer",
    sendNotification: "connection.notify(method, params) notifies the peer",
    onRequest: handles,
    onNotification: handles,
    listen: "openConnection(channel) returns a connection that is open",
    on: ended,
    onClose: ended,
    dispose: "connection.close() ends the connection",
  }),
);
