import { checkMembers, type MembersOf } from "../../base/check-members.js";
import { longestTimer, type Timer } from "../../base/clock.js";
import { isObject, kindOf } from "../../base/json.js";
import { onAbort } from "../abort-listeners.js";
import type { CallOptions, Exchange } from "../call.js";
import type { Channel } from "../channel.js";
import { type Problem, withinLimits } from "../codec/decode.js";
import { encodeRequest } from "../codec/encode.js";
import { type MisspeltResponse, misspeltResponses } from "../codec/misspelt-responses.js";
import { LocalError, type LocalReason, RpcError, thrownText } from "../errors.js";
import { guarded } from "../hooks.js";
import type { Id, Params, RpcResponse } from "../message.js";
import type { Outbound } from "../outbound.js";
import type { PeerSettings } from "../peer-settings.js";
import { describeReport, excerpt, type Report } from "../report.js";
import type { Cancellation } from "../routing.js";
import type { InFlight } from "./in-flight.js";
import { type Asker, type Outcome, OutgoingCall, type Timeouts } from "./outgoing-call.js";

/** The members of `CallOptions` and of `Exchange`, which is valid too, to detect unknown options. */
export const callMembers: MembersOf<CallOptions & Exchange> = {
  signal: ["object", "abortSignal"],
  notify: ["function", "onNotification"],
  timeout: ["number", "timeoutMs"],
  totalTimeout: ["number", "maxTotalTimeout"],
  tag: ["any"],
  cancellable: ["boolean"],
  partial: ["boolean"],
  id: ["any"],
  closing: ["object"],
  drained: ["function"],
  auth: ["any"],
  principal: ["string"],
  peer: ["string"],
  report: ["function"],
  release: ["function"],
  callback: ["function"],
};

/** The requests that this side sends: their outcomes, timeouts and cancellation. */
export class Caller {
  readonly #settings: PeerSettings;
  readonly #inFlight: InFlight<OutgoingCall>;
  readonly #timeouts: Timeouts;
  readonly #channel: Pick<Channel, "waiting" | "unfinished">;
  readonly #out: Outbound | undefined;
  readonly #cancellation: Cancellation | undefined;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** The latest invalid message. No call got it, but it often explains why a response is missing. */
  #complaint: string | undefined;

  /**
   * @param channel says what the calls wait for
   * @param out delays calls while the channel has no room. Undefined: `write` sends each call as a request of its own
   * @param cancellation the notification that cancels a call. Undefined: a cancelled call only stops waiting
   */
  constructor(
    settings: PeerSettings,
    inFlight: InFlight<OutgoingCall>,
    timeouts: Timeouts,
    channel: Pick<Channel, "waiting" | "unfinished">,
    out?: Outbound,
    cancellation?: Cancellation,
  ) {
    this.#settings = settings;
    this.#inFlight = inFlight;
    this.#timeouts = timeouts;
    this.#channel = channel;
    this.#out = out;
    this.#cancellation = cancellation;
  }

  /**
   * @param write sends the frame of the call; called when the transport has room
   * @param asker the request of the peer that the call belongs to: while it is open, a cancellation goes the same way
   * @throws TypeError for an option that does not exist
   */
  call(
    method: string,
    params: Params | undefined,
    options: CallOptions,
    write: (frame: string, call: OutgoingCall) => void,
    asker?: Asker,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      requireCallable(method, params);
      checkMembers(method, options, callMembers);
      const call = this.begin(this.#inFlight.nextId(), method, options, (outcome) => {
        if (outcome.ok) resolve(outcome.result);
        else reject(outcome.error);
      });
      if (call === undefined) return;
      call.asker = asker;
      this.whenWritable(() => {
        const frame = this.encode(call, params);
        if (frame !== undefined) write(frame, call);
      });
    });
  }

  /** Registers a call before it is written; undefined if it has already failed. */
  begin(
    id: number,
    method: string,
    options: CallOptions,
    settle: (outcome: Outcome) => void,
  ): OutgoingCall | undefined {
    const call = new OutgoingCall(id, method, options, this.#settings.clock.now(), this.#timeouts, settle);
    if (this.#inFlight.phase !== "open") {
      call.fail("closed", "the connection is closed");
    } else if (options.signal?.aborted === true) {
      call.fail("cancelled", "cancelled before it was sent", options.signal.reason);
    } else if (!(call.idle >= 0 && call.total >= 0)) {
      // With NaN, the call would never time out.
      call.fail("refused", `timeout and totalTimeout must be 0 ms or more, got ${call.idle} and ${call.total}`);
    } else {
      this.#inFlight.call(call);
      call.listen(() => this.#stop(call, "cancelled", "cancelled by the caller", options.signal?.reason));
      this.#watch(call);
      return call;
    }
    return undefined;
  }

  /** Runs `write` when the transport has room, which may be at once. */
  whenWritable(write: () => void): void {
    const blocked = this.#out?.blocked();
    if (blocked === undefined) write();
    else void blocked.then(() => this.whenWritable(write)); // Never rejects: a broken transport ends the connection.
  }

  /** The frame of a call; undefined if the call has ended while it waited, or its params are not JSON. */
  encode(call: OutgoingCall, params: Params | undefined): string | undefined {
    if (!this.isPending(call)) return undefined;
    try {
      const frame = encodeRequest(call.id, call.method, params);
      call.sent = true;
      return frame;
    } catch (error) {
      this.#reject(call, call.error("refused", `params are not JSON: ${thrownText(error)}`, error));
      return undefined;
    }
  }

  /** True while the call has no outcome. */
  isPending(call: OutgoingCall): boolean {
    return this.#inFlight.outgoing(call.id) === call;
  }

  /** Ends a registered call. Every outcome passes through here. */
  settle(call: OutgoingCall, outcome: Outcome): void {
    this.#inFlight.outcome(call);
    if (this.#inFlight.calling === 0) this.#timer?.unref?.();
    call.settle(outcome);
  }

  #reject(call: OutgoingCall, error: Error): void {
    this.settle(call, { ok: false, error });
  }

  #settleAs(call: OutgoingCall, response: MisspeltResponse["outcome"], cause?: unknown): void {
    if ("error" in response) {
      const { code, message, data } = response.error;
      this.#reject(call, new RpcError(code, message, data, cause === undefined ? {} : { cause }));
    } else {
      this.settle(call, { ok: true, result: response.result });
    }
  }

  /** A response of the peer. `cause`: see `ChannelReceiver.frame`. */
  receive(response: RpcResponse, cause?: unknown): void {
    const call = this.#inFlight.outgoing(response.id);
    if (call === undefined && this.#inFlight.isLate(response.id)) return;
    if (call === undefined || !call.sent) {
      const { tolerance } = this.#settings;
      const outcome = "error" in response ? { error: response.error } : { result: response.result };
      const reason = `id must be that of the request, got ${JSON.stringify(response.id)}`;
      const isMeant = typeof response.id === "string" && tolerance !== undefined;
      if (!(isMeant && this.#take({ id: response.id, outcome, reason })))
        this.complain({ kind: "unmatched", response });
    } else {
      this.#settleAs(call, response, cause);
    }
  }

  /** Fails the call whose id an invalid message has. False if there is no such call. */
  receiveProblem(problem: Problem): boolean {
    const call = problem.subject === "request" ? undefined : this.#inFlight.outgoing(problem.id);
    if (call === undefined || !call.sent) return false;
    if (call.options.partial === true) {
      const result = withinLimits(problem.parsed, this.#settings.limits);
      if (result !== undefined) {
        this.settle(call, { ok: true, result });
        return true;
      }
    }
    const where = problem.pointer === "" ? "" : ` at ${problem.pointer}`;
    this.#reject(call, call.error("protocol", `the answer is not a response${where}: ${problem.reason}`));
    return true;
  }

  /**
   * Handles a text that is not a message but looks like a response: depending on the tolerance, its call gets the result or fails
   * at once. False if it responds to no call.
   */
  receiveMeant(text: string): boolean {
    const { tolerance, limits } = this.#settings;
    if (tolerance === undefined) return false;
    // No early exit: each response belongs to another call.
    return misspeltResponses(text, limits).filter((answer) => this.#take(answer)).length > 0;
  }

  #take({ id, outcome, reason }: MisspeltResponse): boolean {
    // An error or an empty result without an id may belong to a notification.
    const saysSomething = "result" in outcome && isObject(outcome.result) && Object.keys(outcome.result).length > 0;
    const call = this.#inFlight.meantBy(id, saysSomething);
    if (call === undefined || !call.sent) return false;
    if (this.#settings.tolerance !== "accept") {
      this.#reject(call, call.error("protocol", `the answer is not a response: ${reason}`));
    } else {
      this.#settings.report({ kind: "tolerated", method: call.method, reason });
      this.#settleAs(call, outcome);
    }
    return true;
  }

  /** Fails a call that the transport knows to get no response. */
  lose(id: Id, error: Error): void {
    const call = this.#inFlight.outgoing(id);
    if (call === undefined) return;
    const isUnexplained = error.constructor === LocalError && this.#complaint !== undefined;
    this.#reject(call, isUnexplained ? this.#explained(error as LocalError) : error);
  }

  /** Adds the latest invalid message to an error of the transport. */
  #explained({ reason, message, cause }: LocalError): LocalError {
    return new LocalError(reason, this.#explain(message), cause === undefined ? {} : { cause });
  }

  /**
   * Passes a notification to the call of this side that it belongs to; false if that is not in flight.
   * @param only the call that the stream of the notification is for
   */
  receiveRelated(tag: string | number, method: string, params: Params | undefined, only?: OutgoingCall): boolean {
    const call = this.#inFlight.tagged(tag) ?? this.#meantByText(tag, method);
    if (call === undefined || call !== (only ?? call)) return false;
    this.touch(call);
    guarded("notify", () => call.options.notify?.(method, params), this.#settings.report);
    return true;
  }

  /** The call whose tag is a number that the peer made a text of. Reported once for each call. */
  #meantByText(tag: string | number, method: string): OutgoingCall | undefined {
    if (this.#settings.tolerance === undefined || typeof tag !== "string") return undefined;
    const number = Number(tag);
    const call = String(number) === tag ? this.#inFlight.tagged(number) : undefined;
    if (call === undefined || call.hasTextTag) return call;
    call.hasTextTag = true;
    const reason = `its token for ${call.method} must be the number ${number}, got the string ${JSON.stringify(tag)}`;
    this.#settings.report({ kind: "tolerated", method, reason });
    return call;
  }

  /** Restarts the idle timeout of a call. */
  touch(call: OutgoingCall): void {
    call.touch(this.#settings.clock.now());
  }

  /**
   * Pauses the idle timeout of the calls that are in flight until `answer` has settled, or the peer has cancelled its request: the peer
   * may be silent because it waits for this answer. `totalTimeout` goes on.
   *
   * @param cancelled aborts when the peer no longer waits
   */
  whilePeerWaits<T>(answer: Promise<T>, cancelled: AbortSignal): Promise<T> {
    const paused = [...this.#inFlight.outgoingCalls()];
    for (const call of paused) call.pause(this.#settings.clock.now());
    let isOver = false;
    const resume = (): void => {
      if (isOver) return;
      isOver = true;
      forget();
      for (const call of paused) {
        call.resume(this.#settings.clock.now());
        if (this.isPending(call)) this.#watch(call);
      }
    };
    const forget = onAbort(cancelled, resume);
    if (cancelled.aborted) resume();
    else void answer.then(resume, resume);
    return answer;
  }

  /** Reports an event that belongs to no call, and adds it to the message of the next call that fails. */
  complain(report: Report): void {
    this.#complaint = describeReport(report);
    this.#settings.report(report);
  }

  /** Clears the timer, which may outlast the calls that it was set for. */
  rest(): void {
    if (this.#timer !== undefined) this.#settings.clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  /** Fails every call in flight. */
  failAll(why: string, cause?: Error): void {
    for (const call of [...this.#inFlight.outgoingCalls()]) {
      this.fail(call, "closed", why, cause);
    }
    this.rest();
  }

  /** Fails a call, with the latest invalid message in the error. */
  fail(call: OutgoingCall, reason: LocalReason, why: string, cause?: unknown): void {
    this.#reject(call, call.error(reason, this.#explain(why), cause));
  }

  #stop(call: OutgoingCall, reason: LocalReason, why: string, cause?: unknown): void {
    if (!this.isPending(call)) return;
    const error = call.error(reason, reason === "timeout" ? this.#explain(why) : why, cause);
    this.#reject(call, error);
    if (call.sent && call.options.cancellable !== false) this.#cancelAtPeer(call, cancelReason(error));
  }

  /** Sends the notification that cancels a call, on a transport that has one. */
  #cancelAtPeer({ id, asker }: OutgoingCall, reason: string): void {
    if (this.#cancellation === undefined) return;
    const { method, idMember, error } = this.#cancellation;
    if (error !== null) this.#inFlight.expectLate(id);
    this.#out?.notifyRelated(method, { [idMember]: id, reason }, asker?.over === false ? asker.id : undefined);
  }

  #explain(why: string): string {
    if (this.#complaint !== undefined) return `${why}; before that, this side ${this.#complaint}`;
    const { unfinished } = this.#channel;
    if (unfinished === undefined) return why;
    const { bytes, head, missing } = unfinished;
    return `${why}; the peer has sent ${bytes} bytes of a message, without ${missing}: ${excerpt(head)}`;
  }

  // One timer serves all calls: most calls have the same timeout, so the oldest is nearly always the next to expire.

  #watch(call: OutgoingCall): void {
    if (call.dueAt < this.#timerAt) this.#arm(call.dueAt);
    this.#timer?.ref?.();
  }

  #arm(at: number): void {
    const { clock } = this.#settings;
    if (this.#timer !== undefined) clock.clearTimer(this.#timer);
    this.#timerAt = at;
    const milliseconds = Math.min(Math.max(0, Math.ceil(at - clock.now())), longestTimer);
    this.#timer = clock.setTimer(() => this.#expire(), milliseconds);
  }

  #expire(): void {
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const { waiting } = this.#channel;
    if (waiting !== undefined) {
      void waiting.then(() => this.#restart());
      return;
    }
    const now = this.#settings.clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const call of [...this.#inFlight.outgoingCalls()]) {
      if (call.dueAt <= now) this.#stop(call, "timeout", timeoutReason(call, now));
      else next = Math.min(next, call.dueAt);
    }
    if (next < this.#timerAt) this.#arm(next);
  }

  #restart(): void {
    for (const call of this.#inFlight.outgoingCalls()) this.touch(call);
    this.#expire();
  }
}

function timeoutReason(call: OutgoingCall, now: number): string {
  return call.totalAt <= now
    ? `no response within ${call.total} ms (totalTimeout)`
    : `no response or notification for ${call.idle} ms`;
}

function cancelReason(error: LocalError): string {
  return error.reason === "timeout"
    ? "timeout"
    : error.cause instanceof Error
      ? error.cause.message
      : "cancelled by the caller";
}

/** @throws TypeError for a call that no peer could accept: JavaScript lets it through, and the peer answers *Invalid Request* */
function requireCallable(method: unknown, params: unknown): void {
  if (typeof method !== "string") {
    const remedy = "write connection.call(method, params)";
    throw new TypeError(`connection.call: the method must be a string, got ${kindOf(method)}: ${remedy}`);
  }
  if (params === undefined || typeof params === "object") return;
  throw new TypeError(`${method}: params must be an object or an array, got ${kindOf(params)}`);
}
