// A server on version 2 of the official SDK, on stdio, for either era.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "sdk-v2", version: "1.0.0" });
  const config = { description: "Add two numbers", inputSchema: z.object({ a: z.number(), b: z.number() }) };
  server.registerTool("add", config, ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
  return server;
});
