import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { serverInfo } from "../mcp.js";
import { tools } from "../work.js";
import { zodSchemas } from "./zod-schemas.js";

/** The official SDK as it was before: it takes zod's schemas and no others. */
export function createSdkV1() {
  const server = new McpServer(serverInfo);
  for (const [name, tool] of tools) {
    server.registerTool(name, { inputSchema: zodSchemas[name] ?? {} }, async (args, { _meta, sendNotification }) => {
      const progressToken = _meta?.progressToken;
      if (tool.tells && progressToken !== undefined) {
        await sendNotification({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
      }
      return tool.run(args);
    });
  }
  return server;
}
