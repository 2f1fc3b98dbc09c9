import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { serverInfo } from "../mcp.js";
import { tools } from "../work.js";
import { zodSchemas } from "./zod-schemas.js";

/** The official SDK as it was before: it takes zod's schemas and no others. */
export function createSdkV1() {
  const server = new McpServer(serverInfo);
  for (const [name, tool] of tools) server.registerTool(name, { inputSchema: zodSchemas[name] ?? {} }, tool.run);
  return server;
}
