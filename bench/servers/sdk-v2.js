import { McpServer } from "@modelcontextprotocol/server";
import { serverInfo } from "../mcp.js";
import { standardSchema, tools } from "../work.js";

/** The official SDK takes a Standard Schema as it is. */
export function createSdkV2() {
  const server = new McpServer(serverInfo);
  for (const [name, tool] of tools) server.registerTool(name, { inputSchema: standardSchema(tool) }, tool.run);
  return server;
}
