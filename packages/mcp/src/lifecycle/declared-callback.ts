import type { RemoteCall } from "../jsonrpc/call.js";
import { LocalError } from "../jsonrpc/errors.js";
import type { Params } from "../jsonrpc/message.js";
import type { ClientCapabilities } from "../protocol/capabilities.js";
import { isObject, type JsonObject } from "../protocol/json.js";
import { isProtocolMethod, methods } from "../protocol/methods.js";
import { involvesTools } from "../protocol/sampling-faults.js";
import { type Asked, requireAnswerable } from "./input.js";

/** What the client must have declared to be asked so, by method. */
const needs: ReadonlyMap<string, (params: JsonObject) => ClientCapabilities> = new Map<
  string,
  (params: JsonObject) => ClientCapabilities
>([
  [methods.listRoots, () => ({ roots: {} })],
  [methods.createMessage, (params) => ({ sampling: involvesTools(params) ? { tools: {} } : {} })],
  [methods.elicit, ({ mode }) => ({ elicitation: mode === "url" ? { url: {} } : { form: {} } })],
]);

/**
 * A way back to the client that asks only what `ctx.ask` would: what the revision has, and the client has declared.
 * A method that the protocol does not know is anybody's.
 */
export function declaredCallback(callback: RemoteCall, asked: Asked): RemoteCall {
  return async (method, given, options) => {
    const { revision } = asked;
    if (isProtocolMethod(method) && !revision.requests.server.has(method)) {
      throw new LocalError("refused", `${method}: revision ${revision.version} has no such request of a server`);
    }
    const params = paramsOf(given);
    const requires = needs.get(method)?.(params);
    if (requires !== undefined) requireAnswerable({ [method]: { method, params, requires } }, asked);
    return callback(method, given, options);
  };
}

/** Nothing in MCP has params by position. */
function paramsOf(params: Params | undefined): JsonObject {
  return isObject(params) ? params : {};
}
