import { McpServer } from "@modelcontextprotocol/server";
import { serverInfo } from "../mcp.js";
import { standardSchema, tools } from "../work.js";

/** The official SDK takes a Standard Schema as it is. */
export function createSdkV2() {
  const server = new McpServer(serverInfo);
  for (const [name, tool] of tools) {
    server.registerTool(name, { inputSchema: standardSchema(tool) }, async (args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (tool.tells && progressToken !== undefined) {
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
      }
      return tool.run(args);
    });
  }
  return server;
}
