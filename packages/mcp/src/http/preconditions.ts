import { refusal } from "./answers.js";
import { accepts, contentTypeFault, eventStream, json } from "./media-types.js";
import type { HttpAnswer, HttpRequest } from "./request.js";

/**
 * What the headers alone are turned away for.
 * @param acceptsNothing whether the answer to a POST is empty in any case
 */
export function preconditionOf(
  request: HttpRequest,
  methods: readonly string[],
  acceptsNothing: boolean,
): HttpAnswer | undefined {
  if (!methods.includes(request.method)) {
    return refusal(405, `${methods.join(", ")} are understood here`, { allow: methods.join(", ") });
  }
  if (request.method === "GET" && !accepts(request.header("accept"), eventStream))
    return refusal(406, `Accept must have ${eventStream}`);
  return request.method === "POST" ? postPrecondition(request, acceptsNothing) : undefined;
}

function postPrecondition(request: HttpRequest, acceptsNothing: boolean): HttpAnswer | undefined {
  const accept = request.header("accept");
  if (!acceptsNothing && accept !== bothTypes && !accepts(accept, json, eventStream))
    return refusal(406, `Accept must have ${json} and ${eventStream}`);
  const fault = contentTypeFault(request.header("content-type"));
  if (fault !== undefined) return refusal(415, fault);
  const encoding = request.header("content-encoding");
  if (encoding === undefined || encoding.toLowerCase() === "identity") return undefined;
  return refusal(415, "the body has a Content-Encoding: send it as it is", { "accept-encoding": "identity" });
}

/** As most clients write it. */
const bothTypes = `${json}, ${eventStream}`;
