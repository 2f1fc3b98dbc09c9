import { createServer } from "@parlance/mcp/server";
import { serverInfo } from "../mcp.js";
import { standardSchema, tools } from "../work.js";

/** The server of this project, with its limits and its checks on. */
export function createParlance() {
  const server = createServer(serverInfo);
  for (const [name, tool] of tools) {
    server.tool(name, { inputSchema: standardSchema(tool) }, (args, context) => {
      if (tool.tells) void context.progress(1, 2);
      return tool.run(args);
    });
  }
  return server;
}
