import { FastMCP } from "fastmcp";
import { serverInfo } from "../mcp.js";
import { standardSchema, tools } from "../work.js";

export function createFastMcp() {
  const server = new FastMCP({ name: serverInfo.name, version: "1.0.0" });
  for (const [name, tool] of tools) {
    server.addTool({
      name,
      parameters: standardSchema(tool),
      execute: async (args, { reportProgress }) => {
        if (tool.tells) await reportProgress({ progress: 1, total: 2 });
        return tool.run(args);
      },
    });
  }
  return server;
}
