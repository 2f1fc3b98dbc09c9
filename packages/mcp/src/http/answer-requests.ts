import { isPromise, type MaybePromise } from "../base/later.js";
import { joinAnswers } from "../jsonrpc/answer.js";
import { encodeFailure } from "../jsonrpc/codec.js";
import type { RpcRequest } from "../jsonrpc/message.js";
import { respond } from "../jsonrpc/respond.js";
import { fittingAnswer, unfinished } from "../jsonrpc/responder.js";
import { weightOfMessage, weightOfText } from "../jsonrpc/weight.js";
import type { Admission } from "./admission.js";
import { busyAnswer, noRoomAnswer } from "./answers.js";
import type { DoorHost } from "./door-host.js";
import type { HttpCaller } from "./peers.js";
import { PostExchange } from "./post-exchange.js";
import { Reply } from "./reply.js";
import type { HttpAnswer, HttpRequest } from "./request.js";

/** A POST that does not belong to a session. */
export interface PostedCall {
  readonly caller: HttpCaller;
  readonly admission: Admission;
  /** The length of the body in characters. */
  readonly length: number;
  call(message: RpcRequest, exchange: PostExchange): unknown;
}

/** Runs one request and responds to its POST. */
export function answerRequest(
  host: DoorHost,
  request: HttpRequest,
  message: RpcRequest,
  posted: PostedCall,
): MaybePromise<HttpAnswer> {
  const bytes = weightOfMessage(message, posted.length);
  return answerWith(host, request, message, posted, bytes, (exchange) => run(host, message, exchange, posted));
}

/** Runs the requests of a batch concurrently. `others` are the responses to its invalid elements. */
export function answerBatch(
  host: DoorHost,
  request: HttpRequest,
  batch: {
    readonly requests: readonly [RpcRequest, ...RpcRequest[]];
    readonly others: readonly (string | undefined)[];
  },
  posted: PostedCall,
): MaybePromise<HttpAnswer> {
  const [first] = batch.requests;
  const { budget } = posted.caller;
  const bytes = batch.requests.reduce((sum, each) => sum + weightOfMessage(each, Number.POSITIVE_INFINITY), 0);
  return answerWith(host, request, first, posted, bytes, async (exchange) => {
    const waiting = budget.child(); // Holds responses until the last one is ready.
    const answers = await Promise.all(
      batch.requests.map(async (each) => {
        const text = await run(host, each, exchange, posted);
        const answer = fittingAnswer(text, each.id, host.terms.profile, waiting);
        waiting.take(weightOfText(answer)); // A short response is sent even without room.
        return answer;
      }),
    );
    waiting.close();
    return joinAnswers([...answers, ...batch.others]) ?? "";
  });
}

function run(
  host: DoorHost,
  message: RpcRequest,
  exchange: PostExchange,
  { call }: PostedCall,
): string | Promise<string> {
  const { id, method, params } = message;
  return respond(() => call(message, exchange), id, method, params, exchange, host.terms);
}

function answerWith(
  host: DoorHost,
  request: HttpRequest,
  { id }: RpcRequest,
  { caller, admission }: PostedCall,
  bytes: number,
  work: (exchange: PostExchange) => string | Promise<string>,
): MaybePromise<HttpAnswer> {
  const { pulse, running } = host;
  const { principal, peer, budget } = caller;
  if (!admission.enter(caller)) return busyAnswer(id);
  if (!budget.take(bytes)) {
    admission.leave(caller);
    return noRoomAnswer(budget.parentFits(bytes), id);
  }
  const reply = new Reply(host.streams, budget);
  const exchange = new PostExchange(reply, host.terms, { id, principal, peer, closing: host.closing });
  const answer = work(exchange);
  const conclude = (text: string): void => {
    admission.leave(caller);
    budget.give(bytes);
    if (exchange.isCancelled) {
      reply.giveUp();
      return;
    }
    const answer = fittingAnswer(text, id, host.terms.profile, budget);
    reply.respond(answer, answer === text ? exchange.status : 503);
  };
  if (!isPromise(answer)) {
    conclude(answer);
    return reply.answer;
  }
  const end = (): void => {
    exchange.cancel("the server is closed");
    reply.respond(encodeFailure(id, unfinished, host.terms.profile), 503);
  };
  pulse.add(reply);
  running.add(end);
  request.onGone(() => {
    exchange.cancel("the client has closed the connection");
    pulse.delete(reply); // The handler may never finish.
  });
  // Never rejects: errors of the handler become error responses.
  void answer.then((text) => {
    pulse.delete(reply);
    running.delete(end);
    conclude(text);
  });
  return reply.answer;
}
