import { accepts, contentTypeFault, eventStream, json } from "../media-types.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "./request.js";
import { refusal } from "./responses.js";

/**
 * Checks the headers. Returns an error response, or undefined.
 * @param acceptsNothing whether the response to a POST is always empty
 */
export function preconditionOf(
  request: HttpRequest,
  methods: readonly string[],
  acceptsNothing: boolean,
): HttpResponse | undefined {
  if (!methods.includes(request.method)) {
    return refusal(405, `supported methods: ${methods.join(", ")}`, { allow: methods.join(", ") });
  }
  if (request.method === "GET" && !accepts(request.header("accept"), eventStream))
    return refusal(406, `Accept must have ${eventStream}`);
  return request.method === "POST" ? postPrecondition(request, acceptsNothing) : undefined;
}

function postPrecondition(request: HttpRequest, acceptsNothing: boolean): HttpResponse | undefined {
  const accept = request.header("accept");
  if (!acceptsNothing && accept !== bothTypes && !accepts(accept, json, eventStream))
    return refusal(406, `Accept must have ${json} and ${eventStream}`);
  const fault = bodyFault(request);
  return fault === undefined ? undefined : refusal(415, fault.reason, fault.headers);
}

/** A body that is rejected unread. */
export interface BodyRefusal {
  readonly reason: string;
  readonly headers?: HttpHeaders;
}

/** The fault of a body's headers, if any. */
export function bodyFault(request: HttpRequest): BodyRefusal | undefined {
  const fault = contentTypeFault(request.header("content-type"));
  if (fault !== undefined) return { reason: fault };
  const encoding = request.header("content-encoding");
  if (encoding === undefined || encoding.toLowerCase() === "identity") return undefined;
  const reason = "the body has a Content-Encoding: send it as it is";
  return { reason, headers: { "accept-encoding": "identity" } };
}

/** In the form that most clients send. */
const bothTypes = `${json}, ${eventStream}`;
