// A server on version 1 of the official SDK, on stdio: the handshake era only.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import * as z from "zod";

const server = new McpServer({ name: "sdk-v1", version: "1.0.0" });
const config = { description: "Add two numbers", inputSchema: { a: z.number(), b: z.number() } };
server.registerTool("add", config, ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
await server.connect(new StdioServerTransport());
