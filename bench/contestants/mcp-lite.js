import { isJsonRpcRequest, McpServer } from "mcp-lite";
import { initialize, initialized, serverInfo } from "../mcp.js";
import { standardSchema, tools } from "../work.js";

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
    const server = new McpServer({ ...serverInfo, schemaAdapter: (schema) => jsonSchemaOf(schema) });
    for (const [name, tool] of tools) server.tool(name, { inputSchema: standardSchema(tool), handler: tool.run });
    await server._dispatch(initialize("2025-06-18"));
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

/** @param {any} schema */
function jsonSchemaOf(schema) {
  return schema["~standard"].jsonSchema.input();
}
