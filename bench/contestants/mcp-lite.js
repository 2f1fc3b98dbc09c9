import { isJsonRpcRequest } from "mcp-lite";
import { earlierHandshake, initialize, initialized } from "../mcp.js";
import { createMcpLite } from "../servers/mcp-lite.js";

/** @import { Contestant } from "../types.d.ts" */

/**
 * Its only public door is HTTP, so what stands behind that door is measured: the parse, its own check of the envelope,
 * and its dispatch. It takes batches only through HTTP, and knows no stateless revision.
 * @type {Contestant}
 */
export const contestant = {
  package: "mcp-lite",
  kinds: ["call"],
  async open() {
    const server = createMcpLite();
    await server._dispatch(initialize(earlierHandshake));
    await server._dispatch(initialized);
    return {
      async answer(text) {
        const message = JSON.parse(text);
        if (!isJsonRpcRequest(message)) throw new TypeError("Not a request");
        return JSON.stringify(await server._dispatch(message));
      },
    };
  },
};
