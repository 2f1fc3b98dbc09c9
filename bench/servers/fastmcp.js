import { FastMCP } from "fastmcp";
import { serverInfo } from "../mcp.js";
import { standardSchema, tools } from "../work.js";

export function createFastMcp() {
  const server = new FastMCP({ name: serverInfo.name, version: "1.0.0" });
  for (const [name, tool] of tools) {
    server.addTool({ name, parameters: standardSchema(tool), execute: async (args) => tool.run(args) });
  }
  return server;
}
