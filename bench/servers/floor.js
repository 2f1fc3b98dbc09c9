import { serverInfo, stateless } from "../mcp.js";
import { callTool } from "../work.js";

/** @import { Kind } from "../types.d.ts" */

/**
 * The least that answers a message: parse, one look-up in a Map, serialise. What it does not know it takes for a
 * notification.
 * @param {Kind} kind
 * @returns {(text: string) => string | undefined}
 */
export function responder(kind) {
  /** @type {Map<string, (params: any) => object>} */
  const methods = new Map();
  methods.set("initialize", initialize);
  methods.set("tools/call", kind === "stateless" ? callStateless : callTool);
  return (text) => {
    const request = JSON.parse(text);
    const method = methods.get(request.method);
    if (method === undefined) return undefined;
    return JSON.stringify({ jsonrpc: "2.0", id: request.id, result: method(request.params) });
  };
}

/** @param {any} params */
function initialize({ protocolVersion }) {
  return { protocolVersion, capabilities: { tools: {} }, serverInfo };
}

/** @param {any} params */
function callStateless(params) {
  const { content } = callTool(params);
  const { resultType, _meta } = stateless.resultMembers;
  return { content, resultType, _meta };
}
