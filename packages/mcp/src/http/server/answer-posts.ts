import { weightOfMessage, weightOfText } from "../../base/byte-budget.js";
import { isPromise, type MaybePromise } from "../../base/maybe-promise.js";
import { joinResponses, runRequest } from "../../jsonrpc/answerer.js";
import { fittingResponse, unfinished } from "../../jsonrpc/calls/responder.js";
import { encodeFailure } from "../../jsonrpc/codec/encode.js";
import type { RpcRequest } from "../../jsonrpc/message.js";
import type { ConcurrencyLimit } from "./concurrency-limit.js";
import type { HandlerState } from "./handler-state.js";
import type { HttpCaller } from "./peers.js";
import { PostExchange } from "./post-exchange.js";
import { PostResponse } from "./post-response.js";
import type { HttpRequest, HttpResponse } from "./request.js";
import { busyResponse, overloadedResponse } from "./responses.js";

/** A POST that does not belong to a session. */
export interface PostedCall {
  readonly caller: HttpCaller;
  readonly admission: ConcurrencyLimit;
  /** The length of the body in characters. */
  readonly length: number;
  call(message: RpcRequest, exchange: PostExchange): unknown;
}

/** Runs one request and responds to its POST. */
export function answerRequest(
  host: HandlerState,
  request: HttpRequest,
  message: RpcRequest,
  posted: PostedCall,
): MaybePromise<HttpResponse> {
  const bytes = weightOfMessage(message, posted.length);
  return answerWith(host, request, message, posted, bytes, (exchange) => run(host, message, exchange, posted));
}

/** Runs the requests of a batch concurrently. `others` are the responses to its invalid elements. */
export function answerBatch(
  host: HandlerState,
  request: HttpRequest,
  batch: {
    readonly requests: readonly [RpcRequest, ...RpcRequest[]];
    readonly others: readonly (string | undefined)[];
  },
  posted: PostedCall,
): MaybePromise<HttpResponse> {
  const [first] = batch.requests;
  const { budget } = posted.caller;
  const bytes = batch.requests.reduce((sum, each) => sum + weightOfMessage(each, Number.POSITIVE_INFINITY), 0);
  return answerWith(host, request, first, posted, bytes, async (exchange) => {
    const waiting = budget.child(); // Holds responses until the last one is ready.
    const answers = await Promise.all(
      batch.requests.map(async (each) => {
        const text = await run(host, each, exchange, posted);
        const answer = fittingResponse(text, each.id, host.terms.profile, waiting);
        waiting.take(weightOfText(answer)); // A short response is sent even without room.
        return answer;
      }),
    );
    waiting.close();
    return joinResponses([...answers, ...batch.others]) ?? "";
  });
}

function run(
  host: HandlerState,
  message: RpcRequest,
  exchange: PostExchange,
  { call }: PostedCall,
): string | Promise<string> {
  const { id, method, params } = message;
  return runRequest(() => call(message, exchange), id, method, params, exchange, host.terms);
}

function answerWith(
  host: HandlerState,
  request: HttpRequest,
  { id }: RpcRequest,
  { caller, admission }: PostedCall,
  bytes: number,
  work: (exchange: PostExchange) => string | Promise<string>,
): MaybePromise<HttpResponse> {
  const { pulse, running } = host;
  const { principal, peer, budget } = caller;
  if (!admission.enter(caller)) return busyResponse(id);
  if (!budget.take(bytes)) {
    admission.leave(caller);
    return overloadedResponse(budget.parentFits(bytes), id);
  }
  const reply = new PostResponse(host.streams, budget);
  const exchange = new PostExchange(reply, host.terms, { id, principal, peer, closing: host.closing });
  const answer = work(exchange);
  const conclude = (text: string): void => {
    admission.leave(caller);
    budget.give(bytes);
    if (exchange.isCancelled) {
      reply.giveUp();
      return;
    }
    const answer = fittingResponse(text, id, host.terms.profile, budget);
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
