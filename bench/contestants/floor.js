import { stateless } from "../mcp.js";
import { callTool, ping } from "../work.js";

/** @import { Contestant } from "../types.d.ts" */

/**
 * The least that answers the same bytes: parse, one look-up in a Map, serialise. It checks nothing and survives nothing.
 * @type {Contestant}
 */
export const contestant = {
  kinds: ["call", "batch", "stateless"],
  open(kind) {
    /** @type {Map<string, (params: any) => object>} */
    const methods = new Map();
    methods.set("ping", ping);
    methods.set("tools/call", kind === "stateless" ? callStateless : callTool);

    /** @param {any} request */
    function respond(request) {
      const method = methods.get(request.method);
      if (method === undefined) throw new TypeError("Method not found");
      return { jsonrpc: "2.0", id: request.id, result: method(request.params) };
    }

    return {
      answer(text) {
        const message = JSON.parse(text);
        return JSON.stringify(Array.isArray(message) ? message.map(respond) : respond(message));
      },
    };
  },
};

/** @param {any} params */
function callStateless(params) {
  const { content } = callTool(params);
  const { resultType, _meta } = stateless.resultMembers;
  return { content, resultType, _meta };
}
