import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { Timer } from "../../base/clock.js";
import { isObject } from "../../base/json.js";
import { longestTimer } from "../../base/settles-within.js";
import type { Exchange } from "../call.js";
import { withinBounds } from "../codec/bounds.js";
import type { Problem } from "../codec/check-message.js";
import { encodeRequest } from "../codec/codec.js";
import { type MisspeltResponse, misspeltResponses } from "../codec/misspelt-responses.js";
import { LocalError, type LocalReason, RpcError, thrownText } from "../errors.js";
import { guarded } from "../hooks.js";
import type { Id, Params, RpcResponse } from "../message.js";
import type { PeerSettings } from "../peer-settings.js";
import { describeReport, type Report } from "../report.js";
import type { InFlight } from "./in-flight.js";
import { type CallOptions, type Outcome, OutgoingCall, type Timeouts } from "./outgoing-call.js";

/** What the calling half needs from its connection. */
export interface CallerHost {
  readonly inFlight: InFlight<OutgoingCall>;
  readonly terms: PeerSettings;
  readonly timeouts: Timeouts;
  /** Pending while the transport holds more than it likes to. A call waits for it before it is serialised; reading goes on. */
  blocked(): Promise<void> | undefined;
  /** Asks the peer to stop working on a call. */
  cancelAtPeer(call: OutgoingCall, reason: string): void;
}

/** The members of `CallOptions` and of an `Exchange`, which fits, for the check of options. */
export const callMembers: MembersOf<CallOptions & Exchange> = {
  signal: ["abortSignal"],
  notify: ["onNotification"],
  timeout: ["timeoutMs"],
  totalTimeout: ["maxTotalTimeout"],
  tag: [],
  cancellable: [],
  partial: [],
  id: [],
  closing: [],
  drained: [],
  principal: [],
  peer: [],
  report: [],
  release: [],
  callback: [],
};

/** The half of a connection that calls: numbers requests, pairs responses, keeps deadlines. */
export class Caller {
  readonly #host: CallerHost;
  #lastId = 0;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** The last thing the peer sent that no call could be told of: it often explains the silence. */
  #complaint: string | undefined;
  /** Cancelled calls that the peer still answers: what it answers is no fault of it. Made on first use. */
  #late: Set<number> | undefined;

  constructor(host: CallerHost) {
    this.#host = host;
  }

  /**
   * @param write puts the frame of the call on the transport, when that has room for it
   * @throws TypeError for an option that does not exist
   */
  call(
    method: string,
    params: Params | undefined,
    options: CallOptions,
    write: (frame: string, call: OutgoingCall) => void,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      checkMembers(method, options, callMembers);
      const call = this.begin(this.nextId(), method, options, (outcome) => {
        if (outcome.ok) resolve(outcome.result);
        else reject(outcome.error);
      });
      if (call === undefined) return;
      this.whenWritable(() => {
        const frame = this.encode(call, params);
        if (frame !== undefined) write(frame, call);
      });
    });
  }

  /** Monotonic, so no id is ever used twice on a connection. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Registers a call that is still to be written; undefined if it has its outcome already. */
  begin(
    id: number,
    method: string,
    options: CallOptions,
    settle: (outcome: Outcome) => void,
  ): OutgoingCall | undefined {
    const { inFlight, terms, timeouts } = this.#host;
    const call = new OutgoingCall(id, method, options, terms.clock.now(), timeouts, settle);
    if (inFlight.phase !== "open") {
      call.fail("closed", "the connection is closed");
    } else if (options.signal?.aborted === true) {
      call.fail("cancelled", "cancelled before it was sent", options.signal.reason);
    } else if (!(call.idle >= 0 && call.total >= 0)) {
      // No clock comes to NaN: the call would never end.
      call.fail("refused", `timeout and totalTimeout must be 0 ms or more, got ${call.idle} and ${call.total}`);
    } else {
      inFlight.change({ kind: "call", call });
      call.listen(() => this.#stop(call, "cancelled", "cancelled by the caller", options.signal?.reason));
      this.#watch(call);
      return call;
    }
    return undefined;
  }

  /** Runs `write` now, or when the transport has room again: a peer that does not read holds callers back. */
  whenWritable(write: () => void): void {
    const blocked = this.#host.blocked();
    if (blocked === undefined) write();
    else void blocked.then(() => this.whenWritable(write)); // Never rejects: a broken transport ends the connection instead.
  }

  /** The frame of a call about to be written; undefined if the call ended while it waited, or cannot be written. */
  encode(call: OutgoingCall, params: Params | undefined): string | undefined {
    if (!this.isPending(call)) return undefined;
    try {
      const frame = encodeRequest(call.id, call.method, params);
      call.sent = true;
      return frame;
    } catch (error) {
      this.settle(call, {
        ok: false,
        error: call.error("refused", `params are not JSON: ${thrownText(error)}`, error),
      });
      return undefined;
    }
  }

  /** True while the call has no outcome. */
  isPending(call: OutgoingCall): boolean {
    return this.#host.inFlight.outgoing(call.id) === call;
  }

  /** The only way to an outcome for a registered call. */
  settle(call: OutgoingCall, outcome: Outcome): void {
    this.#host.inFlight.change({ kind: "outcome", call });
    if (this.#host.inFlight.calling === 0) this.#timer?.unref?.();
    call.settle(outcome);
  }

  /** A response of the peer. `cause`: see `ChannelReceiver.frame`. */
  receive(response: RpcResponse, cause?: unknown): void {
    const call = this.#host.inFlight.outgoing(response.id);
    if (call === undefined && this.#late?.delete(response.id as number) === true) return; // Any other id is not in it.
    if (call === undefined || !call.sent) {
      const { tolerance } = this.#host.terms;
      const outcome = "error" in response ? { error: response.error } : { result: response.result };
      const reason = `id must be that of the request, got ${JSON.stringify(response.id)}`;
      const isMeant = typeof response.id === "string" && tolerance !== undefined;
      if (!(isMeant && this.#take({ id: response.id, outcome, reason })))
        this.complain({ kind: "unmatched", response });
    } else if ("error" in response) {
      const { code, message, data } = response.error;
      const error = new RpcError(code, message, data, cause === undefined ? {} : { cause });
      this.settle(call, { ok: false, error });
    } else {
      this.settle(call, { ok: true, result: response.result });
    }
  }

  /** The peer answers a call although it was cancelled. A peer that does not may make this side remember only so many. */
  expectLate(id: number): void {
    this.#late ??= new Set();
    this.#late.add(id);
    const [oldest] = this.#late;
    if (this.#late.size > maxLate && oldest !== undefined) this.#late.delete(oldest);
  }

  /** Something that is not a message but carries the id of a call: its call fails. False if there is none. */
  receiveProblem(problem: Problem): boolean {
    const call = problem.subject === "request" ? undefined : this.#host.inFlight.outgoing(problem.id);
    if (call === undefined || !call.sent) return false;
    if (call.options.partial === true) {
      const result = withinBounds(problem.parsed, this.#host.terms.limits);
      if (result !== undefined) {
        this.settle(call, { ok: true, result });
        return true;
      }
    }
    const where = problem.pointer === "" ? "" : ` at ${problem.pointer}`;
    this.settle(call, {
      ok: false,
      error: call.error("protocol", `the answer is not a response${where}: ${problem.reason}`),
    });
    return true;
  }

  /**
   * A text that is no message: what it was meant to answer is taken, or fails at once, as the terms have it. False if that is no
   * call of this side.
   */
  receiveMeant(text: string): boolean {
    const { tolerance, limits } = this.#host.terms;
    if (tolerance === undefined) return false;
    // Each of them is for a call of its own.
    return misspeltResponses(text, limits).filter((answer) => this.#take(answer)).length > 0;
  }

  #take({ id, outcome, reason }: MisspeltResponse): boolean {
    const call = this.#meantBy(id, outcome);
    if (call === undefined || !call.sent) return false;
    if (this.#host.terms.tolerance !== "accept") {
      this.settle(call, { ok: false, error: call.error("protocol", `the answer is not a response: ${reason}`) });
      return true;
    }
    this.#host.terms.report({ kind: "tolerated", method: call.method, reason });
    if ("error" in outcome) {
      const { code, message, data } = outcome.error;
      this.settle(call, { ok: false, error: new RpcError(code, message, data) });
    } else {
      this.settle(call, { ok: true, result: outcome.result });
    }
    return true;
  }

  /**
   * A result without an id answers the one call that there is; an error without one, and a result that says nothing, may be about a
   * notification.
   */
  #meantBy(id: unknown, outcome: MisspeltResponse["outcome"]): OutgoingCall | undefined {
    const { inFlight } = this.#host;
    if (typeof id === "number") return inFlight.outgoing(id);
    if (typeof id === "string") return /^\d{1,15}$/.test(id) ? inFlight.outgoing(Number(id)) : undefined;
    const saysSomething = "result" in outcome && isObject(outcome.result) && Object.keys(outcome.result).length > 0;
    const [only, ...others] = inFlight.outgoingCalls();
    return (id === undefined || id === null) && saysSomething && others.length === 0 ? only : undefined;
  }

  /** The transport has found out that a call gets no answer. */
  lose(id: Id, error: Error): void {
    const call = this.#host.inFlight.outgoing(id);
    if (call === undefined) return;
    const isUnexplained = error.constructor === LocalError && this.#complaint !== undefined;
    this.settle(call, { ok: false, error: isUnexplained ? this.#explained(error as LocalError) : error });
  }

  /** @param error was made by the transport, which does not know what came before */
  #explained({ reason, message, cause }: LocalError): LocalError {
    return new LocalError(reason, this.#explain(message), cause === undefined ? {} : { cause });
  }

  /** A notification that belongs to a call of this side; false if the call is not there. */
  receiveRelated(tag: string | number, method: string, params: Params | undefined): boolean {
    const call = this.#host.inFlight.tagged(tag);
    if (call === undefined) return false;
    this.touch(call);
    guarded("notify", () => call.options.notify?.(method, params), this.#host.terms.report);
    return true;
  }

  /** The peer has given a sign for a call. */
  touch(call: OutgoingCall): void {
    call.touch(this.#host.terms.clock.now());
  }

  /** Reports what no call can be told of, and remembers it for the next call that fails. */
  complain(report: Report): void {
    this.#complaint = describeReport(report);
    this.#host.terms.report(report);
  }

  /** Ends every call without an outcome. */
  failAll(why: string, cause?: Error): void {
    for (const call of [...this.#host.inFlight.outgoingCalls()]) {
      this.fail(call, "closed", why, cause);
    }
    if (this.#timer !== undefined) this.#host.terms.clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  /** Ends a call that gets no answer, telling with it what went wrong before. */
  fail(call: OutgoingCall, reason: LocalReason, why: string, cause?: unknown): void {
    this.settle(call, { ok: false, error: call.error(reason, this.#explain(why), cause) });
  }

  #stop(call: OutgoingCall, reason: LocalReason, why: string, cause?: unknown): void {
    if (!this.isPending(call)) return;
    const error = call.error(reason, reason === "timeout" ? this.#explain(why) : why, cause);
    this.settle(call, { ok: false, error });
    if (call.sent && call.options.cancellable !== false) this.#host.cancelAtPeer(call, cancelReason(error));
  }

  #explain(why: string): string {
    return this.#complaint === undefined ? why : `${why}; before that, this side ${this.#complaint}`;
  }

  // One timer serves all calls: most calls have the same timeout, so the first one armed is nearly always the next due.

  #watch(call: OutgoingCall): void {
    if (call.dueAt < this.#timerAt) this.#arm(call.dueAt);
    this.#timer?.ref?.();
  }

  #arm(at: number): void {
    const { clock } = this.#host.terms;
    if (this.#timer !== undefined) clock.clearTimer(this.#timer);
    this.#timerAt = at;
    const milliseconds = Math.min(Math.max(0, Math.ceil(at - clock.now())), longestTimer);
    this.#timer = clock.setTimer(() => this.#expire(), milliseconds);
  }

  #expire(): void {
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#host.terms.clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const call of [...this.#host.inFlight.outgoingCalls()]) {
      if (call.dueAt <= now) this.#stop(call, "timeout", timeoutReason(call, now));
      else next = Math.min(next, call.dueAt);
    }
    if (next < this.#timerAt) this.#arm(next);
  }
}

/** Cancelled calls whose answers are still expected; an answer to an older one is reported. */
const maxLate = 1_000;

function timeoutReason(call: OutgoingCall, now: number): string {
  return call.totalAt <= now
    ? `no answer within ${call.total} ms in all`
    : `no answer and no sign of one for ${call.idle} ms`;
}

function cancelReason(error: LocalError): string {
  return error.reason === "timeout"
    ? "timeout"
    : error.cause instanceof Error
      ? error.cause.message
      : "cancelled by the caller";
}
