import { markHandled } from "../../base/maybe-promise.js";
import type { RemoteCall } from "../../jsonrpc/call.js";
import { LocalError } from "../../jsonrpc/errors.js";
import { isObject } from "../../protocol/json.js";
import { isProtocolMethod } from "../../protocol/revisions/all.js";
import { type InputClient, requireClientCapability } from "./require-client-capability.js";

/**
 * Calls the client, with the same capability checks as `ctx.requestInput`.
 * Custom methods are not checked. A handler may ignore the returned promise.
 */
export function declaredCallback(callback: RemoteCall, asked: InputClient): RemoteCall {
  const call: RemoteCall = async (method, params, options) => {
    const { revision } = asked;
    const isRequest = revision.requests.server.has(method);
    if (isProtocolMethod(method) && !isRequest) {
      throw new LocalError("refused", `${method}: revision ${revision.version} has no such request of a server`);
    }
    if (isRequest) requireClientCapability({ [method]: { method, params: isObject(params) ? params : {} } }, asked);
    return callback(method, params, options);
  };
  return (method, params, options) => markHandled(call(method, params, options));
}
