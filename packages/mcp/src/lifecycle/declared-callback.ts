import { handled } from "../base/later.js";
import type { RemoteCall } from "../jsonrpc/call.js";
import { LocalError } from "../jsonrpc/errors.js";
import { isObject } from "../protocol/json.js";
import { isProtocolMethod } from "../protocol/methods.js";
import { type Asked, requireAnswerable } from "./answerable.js";

/**
 * A way back to the client that asks only what `ctx.ask` would: what the revision has, and the client has declared.
 * A method that the protocol does not know is anybody's. A handler need not await the answer.
 */
export function declaredCallback(callback: RemoteCall, asked: Asked): RemoteCall {
  const call: RemoteCall = async (method, params, options) => {
    const { revision } = asked;
    const isRequest = revision.requests.server.has(method);
    if (isProtocolMethod(method) && !isRequest) {
      throw new LocalError("refused", `${method}: revision ${revision.version} has no such request of a server`);
    }
    if (isRequest) requireAnswerable({ [method]: { method, params: isObject(params) ? params : {} } }, asked);
    return callback(method, params, options);
  };
  return (method, params, options) => handled(call(method, params, options));
}
