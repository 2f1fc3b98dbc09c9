import type { ByteBudget } from "../../base/byte-budget.js";
import { inFlightProblem, joinResponses, repeatedId } from "../answerer.js";
import type { Call } from "../call.js";
import { Problem } from "../codec/check-message.js";
import { encodeFailure } from "../codec/codec.js";
import { weightOfMessage, weightOfText } from "../codec/weight.js";
import { codes, internalError } from "../errors.js";
import { type ErrorObject, type Id, idKey, type RpcNotification, type RpcRequest } from "../message.js";
import { responseToProblem } from "../peer-settings.js";
import type { Profile } from "../profile.js";
import { cancelledError, type Routing } from "../routing.js";
import { type ConnectionParts, IncomingCall, type SendResponse } from "./incoming-call.js";
import { runNotification, runRequest } from "./run-request.js";

/** The answer to a batch while the batch is read. */
export interface BatchResponse {
  /** Takes the next request, or the next element that is not a message. */
  take(element: RpcRequest | Problem): void;
  /** There are no more. */
  end(): void;
}

/** The half of a connection that answers: admits, runs and cancels what the peer asks for. */
export class Responder {
  readonly #parts: ConnectionParts;
  readonly #handle: Call;
  /** Methods of calls that stay open until one side ends them. */
  readonly #longLived: ReadonlySet<string> | undefined;
  /** The error that answers a request that the peer has cancelled; undefined for silence. */
  readonly #cancelled: ErrorObject | undefined;
  #filling = false;

  constructor(parts: ConnectionParts, handle: Call, { longLived, cancellation }: Routing) {
    this.#parts = parts;
    this.#handle = handle;
    this.#longLived = longLived;
    this.#cancelled = cancellation && cancelledError(cancellation);
  }

  /**
   * Runs a request, or lets it wait for a place. False if it is refused before it runs.
   * @param length the characters of its frame
   * @param reply takes the answer of a request in a batch
   */
  request(request: RpcRequest, length: number, reply?: SendResponse): boolean {
    const { inFlight, terms } = this.#parts;
    const { id, method, params } = request;
    const call = new IncomingCall(this.#parts, id, method, params, reply);
    if (inFlight.incoming(call.key) !== undefined) {
      this.#answer(call, responseToProblem(inFlightProblem(id), terms.profile));
      return false;
    }
    const verdict = inFlight.phase === "open" ? this.#admit(call, weightOfMessage(request, length)) : shuttingDown;
    if (verdict === "run") this.#run(call);
    else if (verdict === "wait") inFlight.change({ kind: "wait", call });
    else this.#answer(call, encodeFailure(id, verdict, terms.profile));
    return typeof verdict === "string";
  }

  /** @param length the characters of its frame */
  notification(message: RpcNotification, length: number): void {
    const call = new IncomingCall(this.#parts, undefined, message.method, message.params, undefined);
    const verdict = this.#admit(call, weightOfMessage(message, length));
    if (verdict === "run") this.#run(call);
    else if (verdict === "wait") this.#parts.inFlight.change({ kind: "wait", call });
    else this.#parts.terms.report({ kind: "dropped", method: message.method });
  }

  /** Answers something that is not a message, unless it deserves no answer. */
  problem(problem: Problem): void {
    const answer = responseToProblem(problem, this.#parts.terms.profile);
    if (answer !== undefined) this.#parts.out.write(answer, problem.id, true);
  }

  /** Takes what a batch asks for: run side by side, answered in one array, or not at all when nothing is owed. */
  batch(): BatchResponse {
    const { budget } = this.#parts.terms;
    const answers: (string | undefined)[] = [];
    let held = 0; // By the answers that wait for the last one.
    const ids = new Set<unknown>();
    let pending = 1; // The batch itself, until its end has been read.
    let first: Id | undefined;
    const reply: SendResponse = (answer) => {
      answers.push(answer);
      pending -= 1;
      if (pending > 0) {
        const bytes = answer === undefined ? 0 : weightOfText(answer);
        if (budget.take(bytes)) held += bytes;
        return;
      }
      budget.give(held);
      const joined = joinResponses(answers);
      if (joined !== undefined) this.#parts.out.write(joined, first, true);
      else if (first !== undefined) this.#parts.out.unanswered(first);
    };
    return {
      take: (element) => {
        pending += 1;
        const problem = element instanceof Problem ? element : repeatedId(element, ids);
        if (problem !== undefined) return reply(responseToProblem(problem, this.#parts.terms.profile));
        const request = element as RpcRequest;
        first ??= request.id;
        this.request(request, Number.POSITIVE_INFINITY, reply); // The length of the whole frame says nothing of its part.
      },
      end: () => reply(undefined),
    };
  }

  /** Stops the request `id` of the peer, and answers it as the peers have agreed. False if it is not in flight. */
  cancel(id: Id, reason: string): boolean {
    const { inFlight, terms } = this.#parts;
    const cancelled = this.#cancelled;
    const call = inFlight.incoming(idKey(id));
    if (call === undefined) return false;
    const answer = cancelled && call.id !== undefined ? encodeFailure(call.id, cancelled, terms.profile) : undefined;
    this.#cancel(call, reason, answer);
    return true;
  }

  /** Lets calls that have no end of their own know that the connection waits for them. */
  closeAll(): void {
    for (const call of [...this.#parts.inFlight.incomingCalls()]) call.close();
  }

  /** Stops everything that the peer asked for, and answers it with an error: it was not finished in time. */
  failAll(reason: string): void {
    const { inFlight, terms } = this.#parts;
    for (const call of [...inFlight.incomingCalls()]) {
      const answer = call.id === undefined ? undefined : encodeFailure(call.id, unfinished, terms.profile);
      this.#cancel(call, reason, answer);
    }
  }

  /** Stops everything that the peer asked for. */
  cancelAll(reason: string): void {
    for (const call of [...this.#parts.inFlight.incomingCalls()]) this.#cancel(call, reason);
  }

  /** A handler that does not heed its signal keeps its place, so cancelling buys a peer no more of them. */
  #cancel(call: IncomingCall, reason: string, answer?: string): void {
    const { inFlight, terms } = this.#parts;
    if (inFlight.isWaiting(call)) terms.budget.give(call.bytes);
    inFlight.change({ kind: "over", call });
    call.cancel(reason);
    this.#answer(call, answer);
  }

  /** Charges the budget of the peer for a call: whether it runs, waits for a place, or is refused, because too many wait or too much is kept. */
  #admit(call: IncomingCall, bytes: number): "run" | "wait" | ErrorObject {
    const { inFlight, terms, out } = this.#parts;
    const { limits } = terms;
    call.isLongLived = this.#longLived?.has(call.method) === true;
    if (call.isLongLived && inFlight.longLived >= limits.listening) return tooManyRequests;
    const mayRun = call.isLongLived || (inFlight.running < limits.running && inFlight.waiting === 0 && out.mayAnswer);
    if (!mayRun && inFlight.waiting >= limits.waiting) return tooManyRequests;
    if (!terms.budget.take(bytes)) return tooManyBytes;
    call.bytes = bytes;
    return mayRun ? "run" : "wait";
  }

  #run(call: IncomingCall): void {
    const { inFlight, terms } = this.#parts;
    inFlight.change({ kind: "run", call });
    const answer =
      call.id === undefined
        ? runNotification(this.#handle, call.method, call.params, call, terms)
        : runRequest(this.#handle, call.id, call.method, call.params, call, terms);
    if (typeof answer === "object")
      void answer.then((text) => this.#finish(call, text)); // Never rejects.
    else this.#finish(call, answer);
  }

  #finish(call: IncomingCall, answer: string | undefined): void {
    const { inFlight, terms } = this.#parts;
    terms.budget.give(call.bytes);
    if (!call.over) {
      // Free the id before writing: the peer may reuse it as soon as it sees the answer.
      inFlight.change({ kind: "over", call });
      call.over = true;
      const isShort = answer === undefined || answer.length <= freeAnswerLength;
      this.#answer(call, isShort ? answer : fittingResponse(answer, call.id, terms.profile, terms.budget));
    }
    inFlight.change({ kind: "settle", call });
    if (inFlight.waiting > 0) this.runWaiting();
  }

  /** Writes the answer of a request, or adds it to that of its batch; undefined where nothing answers it. */
  #answer({ id, reply }: IncomingCall, answer: string | undefined): void {
    if (reply !== undefined) reply(answer);
    else if (answer !== undefined) this.#parts.out.write(answer, id, true);
    else if (id !== undefined) this.#parts.out.unanswered(id);
  }

  /** Begins what waits, as far as there are places for it. A loop, not a recursion: any number of waiting calls may be answered at once. */
  runWaiting(): void {
    const { inFlight, terms, out } = this.#parts;
    if (this.#filling || inFlight.waiting === 0) return;
    this.#filling = true;
    for (let next = inFlight.nextWaiting(); next !== undefined; next = inFlight.nextWaiting()) {
      if (inFlight.running >= terms.limits.running || !out.mayAnswer) break;
      this.#run(next);
    }
    this.#filling = false;
  }
}

/** The answer to a call that runs longer than the end of its server waits for it. */
export const unfinished: ErrorObject = {
  ...internalError,
  data: { reason: "this side is shutting down, and the call was not finished: it may have had effects" },
};

const shuttingDown: ErrorObject = {
  ...internalError,
  data: { reason: "this side is shutting down: send it again elsewhere or later" },
};

/** Answers up to this length go out whatever is queued: each place of a call has room for one. */
const freeAnswerLength = 64 * 1024;

/** The answer, or an error in its place where the budget of the peer has no room to queue it. */
export function fittingResponse(answer: string, id: Id | undefined, profile: Profile, budget: ByteBudget): string {
  if (answer.length <= freeAnswerLength || budget.fits(weightOfText(answer))) return answer;
  return encodeFailure(id, noRoomForAnswer, profile);
}

/** The call has run. */
const noRoomForAnswer: ErrorObject = {
  ...internalError,
  data: { reason: "no room to queue the answer: read what was sent before, or ask for less" },
};

/** Refused before anything of it is kept. */
export const tooManyBytes: ErrorObject = {
  code: codes.tooManyRequests,
  message: "Too many requests",
  data: { reason: "too many bytes are in flight: read and wait for responses, then retry" },
};

const tooManyRequests: ErrorObject = {
  code: codes.tooManyRequests,
  message: "Too many requests",
  data: { reason: "too many requests are in flight: wait for responses, then retry" },
};
