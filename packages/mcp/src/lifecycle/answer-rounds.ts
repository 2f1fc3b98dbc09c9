import type { Clock } from "../base/clock.js";
import { onAbort } from "../jsonrpc/abort-listeners.js";
import { longestTimer } from "../jsonrpc/caller.js";
import { LocalError, RpcError, thrownText } from "../jsonrpc/errors.js";
import type { CallOptions } from "../jsonrpc/outgoing-call.js";
import { excerpt } from "../jsonrpc/report.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import type { Revision } from "../revisions/revision.js";
import type { AcceptedQuestion, Answering } from "./answering.js";
import { asksForInput, type InputQuestion, readRequiredInput } from "./input-required.js";
import type { Opened, OpenedCall } from "./opened.js";
import { pause } from "./pause.js";

/** What answers the results that ask for input, and what bounds it. */
export interface RoundsHost {
  readonly answering: Answering;
  readonly clock: Clock;
  /** Milliseconds for all rounds of a call that says nothing else; the time in which a person answers counts. */
  readonly totalTimeout: number;
  /** Aborted when the conversation is over. */
  readonly over: AbortSignal;
}

/** More rounds than a person answers, and fewer than a loop needs to hurt. */
const maxRounds = 10;

/** Milliseconds before a call is made again that the server wants again without asking; doubled from round to round. */
const firstPause = 100;

/**
 * Calls that answer what their results ask: the very same call is made again with the answers and with the state of the
 * last round, until its result is complete. Neither goes out with any other call.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export function answeringCall(opened: Pick<Opened, "call" | "revision">, host: RoundsHost): OpenedCall {
  const { call, revision } = opened;
  return async (method, params = {}, options = {}) => {
    const { totalTimeout = host.totalTimeout } = options;
    const endsAt = host.clock.now() + totalTimeout;
    const first = await call(method, params, options);
    if (!asksForInput(first)) return first;
    return new AnsweredCall(call, revision, host, { method, params, options, endsAt }).run(first);
  };
}

interface MadeCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: CallOptions;
  /** On the clock. */
  readonly endsAt: number;
}

class AnsweredCall {
  readonly #call: OpenedCall;
  readonly #revision: Revision;
  readonly #host: RoundsHost;
  readonly #made: MadeCall;
  /** The params without what belongs to a round. */
  readonly #original: JsonObject;

  constructor(call: OpenedCall, revision: Revision, host: RoundsHost, made: MadeCall) {
    this.#call = call;
    this.#revision = revision;
    this.#host = host;
    this.#made = made;
    const { inputResponses, requestState, ...original } = made.params;
    this.#original = original;
  }

  async run(first: JsonObject): Promise<JsonObject> {
    const { method, options } = this.#made;
    let result = first;
    for (let round = 1; asksForInput(result); round += 1) {
      if (round >= maxRounds) throw this.#error("protocol", `the server still asks in round ${maxRounds}`);
      const { questions, requestState } = readRequiredInput(method, result);
      const accepted = questions.map((question) => this.#accept(question));
      const inputResponses = await this.#within((signal) =>
        accepted.length > 0 ? answerAll(accepted, signal) : this.#pause(round, signal),
      );
      const params = {
        ...this.#original,
        ...(inputResponses === undefined ? {} : { inputResponses }),
        ...(requestState === undefined ? {} : { requestState }),
      };
      result = await this.#call(method, params, { ...options, totalTimeout: this.#left() });
    }
    return result;
  }

  /** What was not offered is not answered, and what cannot be answered bothers nobody. */
  #accept({ key, method, params }: InputQuestion): (signal: AbortSignal) => Promise<readonly [string, JsonObject]> {
    const { answering } = this.#host;
    const revision = this.#revision;
    let ask: AcceptedQuestion;
    try {
      if (!revision.inputRequests.has(method)) throw new Error(`a server may not ask for ${excerpt(method)}`);
      ask = answering.accept(method, params, revision);
    } catch (error) {
      throw this.#error("protocol", `the server asks for what this client cannot answer: ${causeOf(error)}`, error);
    }
    return async (signal) => {
      try {
        return [key, await ask(signal)];
      } catch (error) {
        // There is no word for it on the wire: a call whose question is not answered is not made again.
        const why = `its question ${excerpt(key)} (${method}) was not answered: ${causeOf(error)}`;
        throw this.#error("refused", why, error);
      }
    };
  }

  async #pause(round: number, signal: AbortSignal): Promise<undefined> {
    await pause(this.#host.clock, firstPause * 2 ** (round - 1), signal);
  }

  #left(): number {
    return Math.max(0, this.#made.endsAt - this.#host.clock.now());
  }

  /** Waits for `work`, but not longer than the call may take, its caller wants it, or the conversation lasts. */
  #within<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const { clock, over } = this.#host;
    const { signal } = this.#made.options;
    const stop = new AbortController();
    return new Promise((resolve, reject) => {
      const releases: (() => void)[] = [];
      const release = (): void => {
        for (const each of releases.splice(0)) each();
      };
      const fail = (error: unknown): void => {
        release();
        reject(error);
        stop.abort(error); // Whoever still answers can stop.
      };
      const cancelled = (): void => fail(this.#error("cancelled", "cancelled by the caller", signal?.reason));
      const closed = (): void => fail(this.#error("closed", "the connection was closed"));
      if (signal?.aborted === true) return cancelled();
      if (over.aborted) return closed();
      if (signal !== undefined) releases.push(onAbort(signal, cancelled));
      releases.push(onAbort(over, closed), this.#watch(clock, fail));
      work(stop.signal).then((value) => {
        release();
        resolve(value);
      }, fail);
    });
  }

  /** Gives back what ends the watch. */
  #watch(clock: Clock, fail: (error: LocalError) => void): () => void {
    const { totalTimeout = this.#host.totalTimeout } = this.#made.options;
    if (this.#left() > longestTimer) return () => undefined; // Nobody waits for weeks.
    const timer = clock.setTimer(
      () => fail(this.#error("timeout", `no answer within ${totalTimeout} ms in all`)),
      this.#left(),
    );
    return () => clock.clearTimer(timer);
  }

  #error(reason: LocalError["reason"], why: string, cause?: unknown): LocalError {
    return new LocalError(reason, `${this.#made.method}: ${why}`, cause === undefined ? {} : { cause });
  }
}

async function answerAll(
  accepted: readonly ((signal: AbortSignal) => Promise<readonly [string, JsonObject]>)[],
  signal: AbortSignal,
): Promise<JsonObject> {
  return Object.fromEntries(await Promise.all(accepted.map((ask) => ask(signal))));
}

/** What went wrong, and where if that is known. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return thrownText(error);
  const faults = error instanceof RpcError && isObject(error.data) ? error.data.errors : undefined;
  const [first] = Array.isArray(faults) ? (faults as readonly unknown[]) : [];
  return isObject(first) ? `${error.message}: ${thrownText(first.path)} ${thrownText(first.message)}` : error.message;
}
