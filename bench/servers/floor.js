import { serverInfo, stateless } from "../mcp.js";
import { callTool } from "../work.js";

/**
 * The least that answers a message: one look-up in a Map, and its text. What it does not know it takes for a notification.
 * @param {"handshake" | "stateless"} era
 * @returns {(request: any) => string | undefined}
 */
export function responder(era) {
  /** @type {Map<string, (params: any) => object>} */
  const methods = new Map();
  methods.set("initialize", initialize);
  methods.set("tools/call", era === "stateless" ? callStateless : callTool);
  return (request) => {
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
