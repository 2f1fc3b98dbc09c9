import { inFlightProblem, joinAnswers, repeatedId } from "./answer.js";
import type { Call } from "./call.js";
import { Problem } from "./check.js";
import { encodeFailure } from "./codec.js";
import { codes, internalError } from "./errors.js";
import type { InFlight } from "./in-flight.js";
import { IncomingCall, type IncomingHost, type Reply } from "./incoming-call.js";
import { type ErrorObject, type Id, idKey, type RpcNotification, type RpcRequest } from "./message.js";
import { respond, runNotification } from "./respond.js";
import { answerToProblem, type Terms } from "./terms.js";

/** What the answering half needs from its connection. */
export interface ResponderHost extends IncomingHost {
  readonly inFlight: InFlight;
  readonly terms: Terms;
  readonly handle: Call;
  /** Writes the answer to a request of the peer, or to the batch that it came in. */
  answer(frame: string, request: Id | undefined): void;
  /** The peer has cancelled the request: nothing answers it. */
  unanswered(request: Id): void;
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

  request(message: RpcRequest): void {
    this.#request(message, (answer) => {
      if (answer === undefined) this.#host.unanswered(message.id);
      else this.#host.answer(answer, message.id);
    });
  }

  notification(message: RpcNotification): void {
    this.#admit(new IncomingCall(this.#host, undefined, message.method, message.params, () => undefined));
  }

  /** Answers something that is not a message, unless it deserves no answer. */
  problem(problem: Problem): void {
    const answer = answerToProblem(problem, this.#host.terms.profile);
    if (answer !== undefined) this.#host.answer(answer, problem.id);
  }

  /** Takes what a batch asks for: run side by side, answered in one array, or not at all when nothing is owed. */
  batch(): BatchReply {
    const answers: (string | undefined)[] = [];
    const ids = new Set<unknown>();
    let pending = 1; // The batch itself, until its end has been read.
    let first: Id | undefined;
    const reply: Reply = (answer) => {
      answers.push(answer);
      pending -= 1;
      if (pending > 0) return;
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
        this.#request(request, reply);
      },
      end: () => reply(undefined),
    };
  }

  /** Stops the request `id` of the peer; it gets no answer. False if it is not in flight. */
  cancel(id: Id, reason: string): boolean {
    const { inFlight } = this.#host;
    const call = inFlight.incoming(idKey(id));
    if (call !== undefined) this.#cancel(call, reason);
    return call !== undefined;
  }

  /** Lets calls that have no end of their own know that the connection waits for them. */
  closeAll(): void {
    for (const call of [...this.#host.inFlight.incomingCalls()]) call.close();
  }

  /** Stops everything that the peer asked for. */
  cancelAll(reason: string): void {
    for (const call of [...this.#host.inFlight.incomingCalls()]) this.#cancel(call, reason);
  }

  /** A handler that does not heed its signal keeps its place, so cancelling buys a peer no more of them. */
  #cancel(call: IncomingCall, reason: string): void {
    this.#host.inFlight.change({ kind: "over", call });
    call.cancel(reason);
    call.reply(undefined);
  }

  #request({ id, method, params }: RpcRequest, reply: Reply): void {
    const { inFlight, terms } = this.#host;
    if (inFlight.incoming(idKey(id)) !== undefined) reply(answerToProblem(inFlightProblem(id), terms.profile));
    else if (inFlight.phase !== "open") reply(encodeFailure(id, shuttingDown, terms.profile));
    else if (!this.#admit(new IncomingCall(this.#host, id, method, params, reply))) {
      reply(encodeFailure(id, tooManyRequests, terms.profile));
    }
  }

  /** Starts a call, or lets it wait for a place; false if too many wait. */
  #admit(call: IncomingCall): boolean {
    const { inFlight, terms } = this.#host;
    if (inFlight.running < terms.limits.running && inFlight.waiting === 0) {
      this.#run(call);
      return true;
    }
    if (inFlight.waiting >= terms.limits.waiting) {
      if (call.id === undefined) terms.report({ kind: "dropped", method: call.method });
      return false;
    }
    inFlight.change({ kind: "wait", call });
    return true;
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
    const { inFlight } = this.#host;
    if (!call.over) {
      // The id is freed before the answer is written: the peer may use it again as soon as it sees the answer.
      inFlight.change({ kind: "over", call });
      call.end();
      call.reply(answer);
    }
    inFlight.change({ kind: "settle" });
    this.#runWaiting();
  }

  /** A loop, not a recursion: any number of waiting calls may be answered at once. */
  #runWaiting(): void {
    const { inFlight, terms } = this.#host;
    if (this.#filling || inFlight.waiting === 0) return;
    this.#filling = true;
    for (let next = inFlight.nextWaiting(); next !== undefined; next = inFlight.nextWaiting()) {
      if (inFlight.running >= terms.limits.running) break;
      this.#run(next);
    }
    this.#filling = false;
  }
}

const shuttingDown: ErrorObject = {
  ...internalError,
  data: { reason: "this side is shutting down: send it again elsewhere or later" },
};

const tooManyRequests: ErrorObject = {
  code: codes.tooManyRequests,
  message: "Too many requests",
  data: { reason: "more requests in flight than this side holds: wait for answers, then retry" },
};
