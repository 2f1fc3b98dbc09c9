import type { ByteBudget } from "../base/byte-budget.js";
import { inFlightProblem, joinAnswers, repeatedId } from "./answer.js";
import type { Call } from "./call.js";
import { Problem } from "./check.js";
import { encodeFailure } from "./codec.js";
import { codes, internalError } from "./errors.js";
import type { InFlight } from "./in-flight.js";
import { IncomingCall, type IncomingHost, type Reply } from "./incoming-call.js";
import { type ErrorObject, type Id, idKey, type RpcNotification, type RpcRequest } from "./message.js";
import type { Profile } from "./profile.js";
import { respond, runNotification } from "./respond.js";
import { answerToProblem, type Terms } from "./terms.js";
import { weightOfMessage, weightOfText } from "./weight.js";

/** What the answering half needs from its connection. */
export interface ResponderHost extends IncomingHost {
  readonly inFlight: InFlight;
  readonly terms: Terms;
  readonly handle: Call;
  /** Whether a call stays open until somebody ends it. */
  isLasting(method: string): boolean;
  /** False while so much waits for a peer that does not read that none of its requests is begun. */
  mayRun(): boolean;
  /** Writes the answer to a request of the peer, or to the batch that it came in. */
  answer(frame: string, request: Id | undefined): void;
  /** The peer has cancelled the request, and nothing answers it. */
  unanswered(request: Id): void;
  /** The error that answers a request that the peer has cancelled; undefined for silence. */
  readonly cancelled: ErrorObject | undefined;
}

/** The answer to a batch while the batch is read. */
export interface BatchReply {
  /** Takes the next request, or the next element that is not a message. */
  take(element: RpcRequest | Problem): void;
  /** There are no more. */
  end(): void;
}

/** The half of a connection that answers: admits, runs and cancels what the peer asks for. */
export class Responder {
  readonly #host: ResponderHost;
  #filling = false;

  constructor(host: ResponderHost) {
    this.#host = host;
  }

  /** False if it is refused before it runs. `length`: the characters of its frame. */
  request(message: RpcRequest, length: number): boolean {
    return this.#request(message, length, (answer) => {
      if (answer === undefined) this.#host.unanswered(message.id);
      else this.#host.answer(answer, message.id);
    });
  }

  /** `length`: the characters of its frame. */
  notification(message: RpcNotification, length: number): void {
    const call = new IncomingCall(this.#host, undefined, message.method, message.params, () => undefined);
    if (this.#admit(call, weightOfMessage(message, length)) !== undefined) {
      this.#host.terms.report({ kind: "dropped", method: message.method });
    }
  }

  /** Answers something that is not a message, unless it deserves no answer. */
  problem(problem: Problem): void {
    const answer = answerToProblem(problem, this.#host.terms.profile);
    if (answer !== undefined) this.#host.answer(answer, problem.id);
  }

  /** Takes what a batch asks for: run side by side, answered in one array, or not at all when nothing is owed. */
  batch(): BatchReply {
    const { budget } = this.#host.terms;
    const answers: (string | undefined)[] = [];
    let held = 0; // By the answers that wait for the last one.
    const ids = new Set<unknown>();
    let pending = 1; // The batch itself, until its end has been read.
    let first: Id | undefined;
    const reply: Reply = (answer) => {
      answers.push(answer);
      pending -= 1;
      if (pending > 0) {
        const bytes = answer === undefined ? 0 : weightOfText(answer);
        if (budget.take(bytes)) held += bytes;
        return;
      }
      budget.give(held);
      const joined = joinAnswers(answers);
      if (joined !== undefined) this.#host.answer(joined, first);
      else if (first !== undefined) this.#host.unanswered(first);
    };
    return {
      take: (element) => {
        pending += 1;
        const problem = element instanceof Problem ? element : repeatedId(element, ids);
        if (problem !== undefined) return reply(answerToProblem(problem, this.#host.terms.profile));
        const request = element as RpcRequest;
        first ??= request.id;
        this.#request(request, Number.POSITIVE_INFINITY, reply); // The length of the whole frame says nothing of its part.
      },
      end: () => reply(undefined),
    };
  }

  /** Stops the request `id` of the peer, and answers it as the peers have agreed. False if it is not in flight. */
  cancel(id: Id, reason: string): boolean {
    const { inFlight, cancelled, terms } = this.#host;
    const call = inFlight.incoming(idKey(id));
    if (call === undefined) return false;
    const answer = cancelled && call.id !== undefined ? encodeFailure(call.id, cancelled, terms.profile) : undefined;
    this.#cancel(call, reason, answer);
    return true;
  }

  /** Lets calls that have no end of their own know that the connection waits for them. */
  closeAll(): void {
    for (const call of [...this.#host.inFlight.incomingCalls()]) call.close();
  }

  /** Stops everything that the peer asked for, and answers it with an error: it was not finished in time. */
  failAll(reason: string): void {
    const { inFlight, terms } = this.#host;
    for (const call of [...inFlight.incomingCalls()]) {
      const answer = call.id === undefined ? undefined : encodeFailure(call.id, unfinished, terms.profile);
      this.#cancel(call, reason, answer);
    }
  }

  /** Stops everything that the peer asked for. */
  cancelAll(reason: string): void {
    for (const call of [...this.#host.inFlight.incomingCalls()]) this.#cancel(call, reason);
  }

  /** A handler that does not heed its signal keeps its place, so cancelling buys a peer no more of them. */
  #cancel(call: IncomingCall, reason: string, answer?: string): void {
    const { inFlight, terms } = this.#host;
    if (inFlight.isWaiting(call)) terms.budget.give(call.bytes);
    inFlight.change({ kind: "over", call });
    call.cancel(reason);
    call.reply(answer);
  }

  #request(request: RpcRequest, length: number, reply: Reply): boolean {
    const { inFlight, terms } = this.#host;
    const { id, method, params } = request;
    if (inFlight.incoming(idKey(id)) !== undefined) reply(answerToProblem(inFlightProblem(id), terms.profile));
    else if (inFlight.phase !== "open") reply(encodeFailure(id, shuttingDown, terms.profile));
    else {
      const call = new IncomingCall(this.#host, id, method, params, reply);
      const refused = this.#admit(call, weightOfMessage(request, length));
      if (refused === undefined) return true;
      reply(encodeFailure(id, refused, terms.profile));
    }
    return false;
  }

  /** Starts a call, or lets it wait for a place; an error if too many wait, or too much is kept. */
  #admit(call: IncomingCall, bytes: number): ErrorObject | undefined {
    const { inFlight, terms } = this.#host;
    call.isLasting = this.#host.isLasting(call.method);
    if (call.isLasting && inFlight.lasting >= terms.limits.listening) return tooManyRequests;
    const mayRun =
      call.isLasting || (inFlight.running < terms.limits.running && inFlight.waiting === 0 && this.#host.mayRun());
    if (!mayRun && inFlight.waiting >= terms.limits.waiting) return tooManyRequests;
    if (!terms.budget.take(bytes)) return tooManyBytes;
    call.bytes = bytes;
    if (mayRun) this.#run(call);
    else inFlight.change({ kind: "wait", call });
    return undefined;
  }

  #run(call: IncomingCall): void {
    const { inFlight, terms, handle } = this.#host;
    inFlight.change({ kind: "run", call });
    const answer =
      call.id === undefined
        ? runNotification(handle, call.method, call.params, call, terms)
        : respond(handle, call.id, call.method, call.params, call, terms);
    if (typeof answer === "object")
      void answer.then((text) => this.#finish(call, text)); // Never rejects.
    else this.#finish(call, answer);
  }

  #finish(call: IncomingCall, answer: string | undefined): void {
    const { inFlight, terms } = this.#host;
    terms.budget.give(call.bytes);
    if (!call.over) {
      // The id is freed before the answer is written: the peer may use it again as soon as it sees the answer.
      inFlight.change({ kind: "over", call });
      call.end();
      call.reply(answer === undefined ? undefined : fittingAnswer(answer, call.id, terms.profile, terms.budget));
    }
    inFlight.change({ kind: "settle", call });
    this.runWaiting();
  }

  /** Begins what waits, as far as there are places for it. A loop, not a recursion: any number of waiting calls may be answered at once. */
  runWaiting(): void {
    const { inFlight, terms } = this.#host;
    if (this.#filling || inFlight.waiting === 0) return;
    this.#filling = true;
    for (let next = inFlight.nextWaiting(); next !== undefined; next = inFlight.nextWaiting()) {
      if (inFlight.running >= terms.limits.running || !this.#host.mayRun()) break;
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
export function fittingAnswer(answer: string, id: Id | undefined, profile: Profile, budget: ByteBudget): string {
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
  data: { reason: "more bytes in flight than this side holds: read and wait for answers, then retry" },
};

const tooManyRequests: ErrorObject = {
  code: codes.tooManyRequests,
  message: "Too many requests",
  data: { reason: "more requests in flight than this side holds: wait for answers, then retry" },
};
