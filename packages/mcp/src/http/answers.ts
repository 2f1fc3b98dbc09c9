import type { Problem } from "../jsonrpc/check.js";
import { encodeFailure } from "../jsonrpc/codec.js";
import { codes } from "../jsonrpc/errors.js";
import type { ErrorObject, Id } from "../jsonrpc/message.js";
import { mcpProfile } from "../jsonrpc/profile.js";
import { tooManyBytes } from "../jsonrpc/responder.js";
import { problemError } from "../jsonrpc/terms.js";
import type { EventStream } from "./event-stream.js";
import type { BodyFault, HttpAnswer, HttpHeaders } from "./request.js";

const jsonHeaders: HttpHeaders = { "content-type": "application/json" };
const noHeaders: HttpHeaders = {};

/** Intermediaries must neither cache nor buffer a stream. */
const streamHeaders: HttpHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export function jsonAnswer(status: number, body: HttpAnswer["body"], headers: HttpHeaders = jsonHeaders): HttpAnswer {
  return { status, headers, body };
}

export function emptyAnswer(status: number, headers: HttpHeaders = noHeaders): HttpAnswer {
  return { status, headers, body: undefined };
}

export function streamAnswer(body: EventStream): HttpAnswer {
  return { status: 200, headers: streamHeaders, body };
}

/** The response to a body that is not a valid message. */
export function problemAnswer(problem: Problem): HttpAnswer {
  return errorAnswer(400, problemError(problem), problem.subject === "response" ? undefined : problem.id);
}

/** The response to a request over the concurrency limit. The request was not run. */
export function busyAnswer(id?: Id): HttpAnswer {
  const data = { reason: "too many requests are in flight: wait for responses, then retry" };
  return errorAnswer(429, { code: codes.tooManyRequests, message: "Too many requests", data }, id, retryLater);
}

/** The response if the memory budget is exhausted. The request was not run. */
export function noRoomAnswer(isPeerFull: boolean, id?: Id): HttpAnswer {
  return errorAnswer(isPeerFull ? 429 : 503, tooManyBytes, id, retryLater);
}

/** The response to a body that could not be read. */
export function bodyFaultAnswer({ status, message }: BodyFault): HttpAnswer {
  if (status === 400 || status === 413) return refusal(status, message);
  return errorAnswer(status, { ...tooManyBytes, data: { reason: message } }, undefined, retryLater);
}

/** In seconds. */
const retryLater: HttpHeaders = { "retry-after": "1" };

/** The response while the server is shutting down. */
export function closingAnswer(): HttpAnswer {
  return refusal(503, "this side is shutting down: send it again elsewhere or later", retryLater);
}

/** Adds headers to a response. */
export function withHeaders(answer: HttpAnswer, headers: HttpHeaders): HttpAnswer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** A JSON-RPC error response. `id` is that of the message, if it could be read. */
export function errorAnswer(status: number, error: ErrorObject, id?: Id, headers?: HttpHeaders): HttpAnswer {
  const body = encodeFailure(id, error, mcpProfile);
  return jsonAnswer(status, body, headers === undefined ? jsonHeaders : { ...jsonHeaders, ...headers });
}

/** An error response for a request that was rejected before its message was read. */
export function refusal(status: number, reason: string, headers?: HttpHeaders): HttpAnswer {
  // Most programs display only the message, so it includes the reason.
  const error = { code: codes.invalidRequest, message: `Invalid Request: ${reason}`, data: { reason } };
  return errorAnswer(status, error, undefined, headers);
}
