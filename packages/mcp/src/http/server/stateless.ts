import type { MaybePromise } from "../../base/maybe-promise.js";
import { codes, methodNotFound, RpcError } from "../../jsonrpc/errors.js";
import type { Id, RpcRequest } from "../../jsonrpc/message.js";
import { isObject, type JsonObject } from "../../protocol/json.js";
import { readProtocolVersion } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import type { Servable } from "../../server/servable.js";
import {
  callStateless,
  hasStatelessMethod,
  readStateless,
  type StatelessTerms,
} from "../../server/session/stateless-server.js";
import { answerRequest } from "./answer-posts.js";
import type { HandlerState } from "./handler-state.js";
import type { HttpCaller } from "./peers.js";
import type { HttpRequest, HttpResponse } from "./request.js";
import { closingResponse, errorResponse } from "./responses.js";
import { requireParameterHeaders, requireSameVersion, requireStandardHeaders } from "./standard-headers.js";

/**
 * Responds to a POST of a stateless revision, without keeping state. `length`: the length of its body in characters.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export function answerStateless(
  host: HandlerState,
  request: HttpRequest,
  message: RpcRequest,
  length: number,
  caller: HttpCaller,
): MaybePromise<HttpResponse> {
  const { id, method } = message;
  if (host.closing.aborted) return closingResponse();
  const params = isObject(message.params) ? message.params : {};
  let terms: StatelessTerms;
  try {
    terms = admit(host.served, request, method, params);
  } catch (error) {
    return refuse(error, id);
  }
  return answerRequest(host, request, message, {
    caller,
    length,
    admission: method === methods.listen ? host.subscriptions : host.calls,
    call: (_, exchange) => callStateless(host.served, method, params, exchange, terms),
  });
}

/**
 * Runs the checks in the order that the official conformance tests expect; the first fault is reported.
 * @throws RpcError
 */
function admit(served: Servable, request: HttpRequest, method: string, params: JsonObject): StatelessTerms {
  requireSameVersion(request, readProtocolVersion(params));
  const terms = readStateless(params);
  requireStandardHeaders(request, method, params);
  if (!hasStatelessMethod(served, method, terms.revision)) throw methodNotFound(method);
  requireParameterHeaders(request, served, method, params);
  return terms;
}

function refuse(error: unknown, id: Id): HttpResponse {
  if (!(error instanceof RpcError)) throw error;
  return errorResponse(error.code === codes.methodNotFound ? 404 : 400, error.toJSON(), id);
}
