// The features of servers on version 1 of the official SDK: one of everything, in the handshake era only.
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";

/** A server of its own for every conversation. */
export function createNotes() {
  const capabilities = { resources: { subscribe: true, listChanged: true }, logging: {} };
  const server = new McpServer({ name: "sdk-v1", version: "1.0.0" }, { capabilities });
  const text = (said) => ({ content: [{ type: "text", text: said }] });

  const config = { description: "Add two numbers", inputSchema: { a: z.number(), b: z.number() } };
  server.registerTool("add", config, ({ a, b }) => text(String(a + b)));
  server.registerTool("ask", {}, async () => {
    const properties = { name: { type: "string" }, seats: { type: "integer", default: 1 } };
    const requestedSchema = { type: "object", properties, required: ["name"] };
    const { action, content } = await server.server.elicitInput({ message: "Who?", requestedSchema });
    return text(`${action} ${content?.name} ${content?.seats}`);
  });
  server.registerTool("model", {}, async () => {
    const messages = [{ role: "user", content: { type: "text", text: "Hi" } }];
    return text((await server.server.createMessage({ messages, maxTokens: 5 })).model);
  });
  server.registerTool("roots", {}, async () => text((await server.server.listRoots()).roots[0].uri));
  server.registerTool("count", {}, async (extra) => {
    const { progressToken } = extra._meta ?? {};
    for (const progress of [1, 2]) {
      await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: 2 } });
    }
    await server.sendLoggingMessage({ level: "error", data: "counted" });
    return text("counted");
  });
  server.registerTool("later", {}, async (extra) => {
    extra.closeSSEStream?.(); // Whoever waits has to come back.
    await new Promise((resolve) => setTimeout(resolve, 50));
    return text("later");
  });
  server.registerTool("touch", {}, async () => {
    await server.server.sendResourceUpdated({ uri: "note:one" });
    return text("touched");
  });
  const contents = (uri) => ({ contents: [{ uri: uri.href, text: `text of ${uri.href}` }] });
  server.registerResource("one", "note:one", {}, contents);
  const family = new ResourceTemplate("note:{name}", { list: undefined, complete: { name: () => ["two"] } });
  server.registerResource("family", family, {}, contents);
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  const argsSchema = { topic: completable(z.string(), () => ["tea", "trains"]) };
  server.registerPrompt("write", { argsSchema }, ({ topic }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Write about ${topic}` } }],
  }));
  return server;
}
