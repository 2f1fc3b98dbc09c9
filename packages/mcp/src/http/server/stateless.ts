import { isObject } from "../../base/json.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import type { Call } from "../../jsonrpc/call.js";
import { codes, methodNotFound, RpcError } from "../../jsonrpc/errors.js";
import type { RpcRequest } from "../../jsonrpc/message.js";
import { specCodes } from "../../protocol/errors.js";
import { decodeHeaderValue, mcpHeaders, namedBy } from "../../protocol/http-headers.js";
import { metaKeys, readMeta } from "../../protocol/meta.js";
import { methods } from "../../protocol/methods.js";
import { isMirrored } from "../../protocol/mirrored-params.js";
import { readStateless } from "../../server/session/stateless-server.js";
import type { HttpCaller } from "./peers.js";
import type { PostedCalls } from "./posted-calls.js";
import type { HttpRequest, HttpResponse } from "./request.js";
import { closingResponse, errorResponse } from "./responses.js";

/**
 * Responds to a POST of a stateless revision, without keeping state. First compares its headers with its body: proxies may
 * route and filter by the headers. The order of the checks is that of the official conformance tests; the first fault is
 * the response.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata
 *
 * @param length the length of its body in characters
 */
export function answerStateless(
  calls: PostedCalls,
  request: HttpRequest,
  message: RpcRequest,
  length: number,
  caller: HttpCaller,
): MaybePromise<HttpResponse> {
  const { server, closing } = calls.endpoint;
  if (closing.aborted) return closingResponse();
  const { id, method } = message;
  const params = isObject(message.params) ? message.params : {};
  let call: Call;
  try {
    const version = request.header(mcpHeaders.protocolVersion);
    const declared = readMeta(params)?.[metaKeys.protocolVersion];
    if (version !== undefined && typeof declared === "string" && version !== declared)
      throw mismatch("MCP-Protocol-Version", version, "the protocolVersion of the body");
    const stateless = readStateless(server, method, params);
    if (version === undefined) throw mismatch("MCP-Protocol-Version", version, "the protocolVersion of the body");
    const named = request.header(mcpHeaders.method);
    if (named !== method) throw mismatch("Mcp-Method", named, "the method of the body");
    const member = namedBy.get(method);
    const name = member === undefined ? undefined : params[member];
    // The validation of the params reports a name of another type.
    if (typeof name === "string") {
      const header = request.header(mcpHeaders.name);
      const isPlain = header === name && !header.startsWith("=?"); // As most names.
      if (!isPlain && decodeName(header) !== name) throw mismatch("Mcp-Name", header, `params.${member}`);
    }
    const exists = method === methods.discover || (stateless.isDefined && server.hasMethod(method));
    if (!exists) throw methodNotFound(method);
    const mirroredParams = method === methods.callTool ? server.mirroredParams(params.name, caller.auth) : [];
    for (const mirrored of mirroredParams) {
      const header = request.header(mirrored.header.toLowerCase());
      if (isMirrored(mirrored, params.arguments, header)) continue;
      throw headerMismatch(mirrored.header, `does not mirror the argument ${mirrored.path.join(".")}`);
    }
    call = stateless.call;
  } catch (error) {
    if (error instanceof RpcError)
      return errorResponse(error.code === codes.methodNotFound ? 404 : 400, error.toJSON(), id);
    // A function of the application has failed: the call fails, and the fault is reported, as if a handler had thrown it.
    call = () => Promise.reject(error);
  }
  return calls.answer(request, message, length, caller, call);
}

/** @throws RpcError −32020 for a header that is marked as encoded, and is not */
function decodeName(header: string | undefined): string | undefined {
  const decoded = header === undefined ? undefined : decodeHeaderValue(header);
  if (header !== undefined && decoded === undefined)
    throw headerMismatch("Mcp-Name", "is marked as encoded, but is not UTF-8 in base64");
  return decoded;
}

/** The error for a header that is missing, or differs from its place in the body. */
function mismatch(header: string, value: string | undefined, place: string): RpcError {
  return headerMismatch(header, value === undefined ? "is missing" : `is not ${place}`);
}

function headerMismatch(header: string, fault: string): RpcError {
  return new RpcError(specCodes.headerMismatch, "Header mismatch", { header, reason: `${header} ${fault}` });
}
