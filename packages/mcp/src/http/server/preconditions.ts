import { accepts, contentTypeFault, eventStream, json } from "../media-types.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "./request.js";
import { refusal } from "./responses.js";

/**
 * Checks the headers of a request for MCP. Returns an error response, or undefined.
 * @param acceptsNothing whether the response to a POST is always empty
 */
export function preconditionOf(request: HttpRequest, acceptsNothing: boolean): HttpResponse | undefined {
  const { method } = request;
  const accept = request.header("accept");
  if (method === "GET" && !accepts(accept, eventStream)) return refusal(406, `Accept must have ${eventStream}`);
  if (method !== "POST") return undefined;
  if (!acceptsNothing && accept !== bothTypes && !accepts(accept, json, eventStream))
    return refusal(406, `Accept must have ${json} and ${eventStream}`);
  const fault = bodyFault(request);
  return fault === undefined ? undefined : refusal(415, fault.reason, fault.headers);
}

/** In the form that most clients send. */
const bothTypes = `${json}, ${eventStream}`;

/** A body that is rejected unread. */
export interface BodyRefusal {
  readonly reason: string;
  readonly headers?: HttpHeaders;
}

/** The fault of a body's headers, if any. */
export function bodyFault(request: HttpRequest): BodyRefusal | undefined {
  const contentType = request.header("content-type");
  const fault = contentType === json ? undefined : contentTypeFault(contentType);
  if (fault !== undefined) return { reason: fault };
  const encoding = request.header("content-encoding");
  if (encoding === undefined || encoding.toLowerCase() === "identity") return undefined;
  const reason = "the body has a Content-Encoding: send it as it is";
  return { reason, headers: { "accept-encoding": "identity" } };
}
