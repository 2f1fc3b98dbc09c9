import { McpServer } from "mcp-lite";
import { serverInfo } from "../mcp.js";
import { standardSchema, tools } from "../work.js";

export function createMcpLite() {
  const server = new McpServer({ ...serverInfo, schemaAdapter: (schema) => jsonSchemaOf(schema) });
  for (const [name, tool] of tools) {
    server.tool(name, {
      inputSchema: standardSchema(tool),
      handler: async (args, { progress }) => {
        if (tool.tells) await progress?.({ progress: 1, total: 2 });
        return tool.run(args);
      },
    });
  }
  return server;
}

/** @param {any} schema */
function jsonSchemaOf(schema) {
  return schema["~standard"].jsonSchema.input();
}
