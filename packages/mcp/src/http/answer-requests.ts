import { isPromise, type MaybePromise } from "../base/later.js";
import { joinAnswers } from "../jsonrpc/answer.js";
import type { RpcRequest } from "../jsonrpc/message.js";
import { respond } from "../jsonrpc/respond.js";
import type { Admission } from "./admission.js";
import { busyAnswer } from "./answers.js";
import type { DoorHost } from "./door-host.js";
import { PostExchange } from "./post-exchange.js";
import { Reply } from "./reply.js";
import type { HttpAnswer, HttpRequest } from "./request.js";

/** What a POST asks for, where nothing of it is remembered. */
export interface PostedCall {
  readonly principal: string | undefined;
  readonly admission: Admission;
  call(message: RpcRequest, exchange: PostExchange): unknown;
}

/** Runs one request, and answers its POST. */
export function answerRequest(
  host: DoorHost,
  request: HttpRequest,
  message: RpcRequest,
  posted: PostedCall,
): MaybePromise<HttpAnswer> {
  return answerWith(host, request, message, posted, (exchange) => run(host, message, exchange, posted));
}

/** Runs the requests of a batch side by side; `others` are the answers to what was no request. */
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
  return answerWith(host, request, first, posted, async (exchange) => {
    const answers = await Promise.all(batch.requests.map((each) => run(host, each, exchange, posted)));
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
  { principal, admission }: PostedCall,
  work: (exchange: PostExchange) => string | Promise<string>,
): MaybePromise<HttpAnswer> {
  const { pulse, running } = host;
  if (!admission.enter(principal)) return busyAnswer(id);
  const reply = new Reply(host.streams);
  const exchange = new PostExchange(reply, host.terms, { id, principal, closing: host.closing });
  const answer = work(exchange);
  const conclude = (text: string): void => {
    admission.leave(principal);
    if (exchange.isCancelled) reply.giveUp();
    else reply.respond(text, exchange.status);
  };
  if (!isPromise(answer)) {
    conclude(answer);
    return reply.answer;
  }
  const end = (): void => {
    exchange.cancel("the server is closed");
    reply.giveUp();
  };
  pulse.add(reply);
  running.add(end);
  request.onGone(() => {
    exchange.cancel("the client has closed the connection");
    pulse.delete(reply); // The handler may never end.
  });
  // Never rejects: what a handler throws is an answer.
  void answer.then((text) => {
    pulse.delete(reply);
    running.delete(end);
    conclude(text);
  });
  return reply.answer;
}
