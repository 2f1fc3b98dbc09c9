import { tooManyBytes } from "../../jsonrpc/calls/responder.js";
import type { Problem } from "../../jsonrpc/codec/decode.js";
import { encodeFailure } from "../../jsonrpc/codec/encode.js";
import { codes } from "../../jsonrpc/errors.js";
import type { ErrorObject, Id } from "../../jsonrpc/message.js";
import { problemError } from "../../jsonrpc/peer-settings.js";
import { mcpProfile } from "../../jsonrpc/profile.js";
import type { NoRoom } from "./peers.js";
import type { BodyFault, HttpHeaders, HttpResponse } from "./request.js";
import type { EventStream } from "./streams/event-stream.js";

export const jsonHeaders: HttpHeaders = { "content-type": "application/json" };
const noHeaders: HttpHeaders = {};

/** Intermediaries must neither cache nor buffer a stream. */
const streamHeaders: HttpHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export function jsonResponse(
  status: number,
  body: HttpResponse["body"],
  headers: HttpHeaders = jsonHeaders,
): HttpResponse {
  return { status, headers, body };
}

export function emptyResponse(status: number, headers: HttpHeaders = noHeaders): HttpResponse {
  return { status, headers, body: undefined };
}

export function streamResponse(body: EventStream): HttpResponse {
  return { status: 200, headers: streamHeaders, body };
}

/** The response to a body that is not a valid message. */
export function problemResponse(problem: Problem): HttpResponse {
  return errorResponse(400, problemError(problem), problem.subject === "response" ? undefined : problem.id);
}

/** The response to a request that there is no room for. The request was not run. */
export function noRoomResponse(full: NoRoom, id: Id): HttpResponse {
  if (full !== "place") return overloadedResponse(full === "peer bytes", id);
  const data = { reason: "too many requests are in flight: wait for responses, then retry" };
  return errorResponse(429, { code: codes.tooManyRequests, message: "Too many requests", data }, id, retryLater);
}

/** The response if the memory budget is exhausted. The request was not run. */
export function overloadedResponse(isPeerFull: boolean, id?: Id): HttpResponse {
  return errorResponse(isPeerFull ? 429 : 503, tooManyBytes, id, retryLater);
}

/** The response to a body that could not be read. */
export function bodyFaultResponse({ status, message }: BodyFault): HttpResponse {
  if (status === 400 || status === 413) return refusal(status, message);
  return errorResponse(status, { ...tooManyBytes, data: { reason: message } }, undefined, retryLater);
}

/** In seconds. */
export const retryLater: HttpHeaders = { "retry-after": "1" };

/** The response while the server is shutting down. */
export function closingResponse(): HttpResponse {
  return refusal(503, "the server is shutting down: send it again elsewhere or later", retryLater);
}

/** Adds headers to a response. */
export function withHeaders(answer: HttpResponse, headers: HttpHeaders): HttpResponse {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** A JSON-RPC error response. `id` is that of the message, if it could be read. */
export function errorResponse(status: number, error: ErrorObject, id?: Id, headers?: HttpHeaders): HttpResponse {
  const body = encodeFailure(id, error, mcpProfile);
  return jsonResponse(status, body, headers === undefined ? jsonHeaders : { ...jsonHeaders, ...headers });
}

/** An error response for a request that was rejected before its message was read. */
export function refusal(status: number, reason: string, headers?: HttpHeaders): HttpResponse {
  // Most programs display only the message, so it includes the reason.
  const error = { code: codes.invalidRequest, message: `Invalid Request: ${reason}`, data: { reason } };
  return errorResponse(status, error, undefined, headers);
}
