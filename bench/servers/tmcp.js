import { McpServer } from "tmcp";
import { JsonSchemaAdapter } from "tmcp/adapter";
import { serverInfo } from "../mcp.js";
import { standardSchema, tools } from "../work.js";

/** @extends {JsonSchemaAdapter<any>} */
class BenchAdapter extends JsonSchemaAdapter {
  /**
   * @override
   * @param {any} schema
   */
  async toJsonSchema(schema) {
    return schema["~standard"].jsonSchema.input();
  }
}

export function createTmcp() {
  const server = new McpServer(serverInfo, { adapter: new BenchAdapter(), capabilities: { tools: {} } });
  for (const [name, tool] of tools) {
    /** @type {any} Its types take the schemas of the libraries that it has adapters for. */
    const schema = standardSchema(tool);
    server.tool({ name, description: name, schema }, (args) => {
      if (tool.tells) server.progress(1, 2);
      return tool.run(args);
    });
  }
  return server;
}
