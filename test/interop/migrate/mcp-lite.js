import { McpServer, StreamableHttpTransport } from "mcp-lite";
import * as z from "zod";

const notes = new Map([["tea", "Buy green tea"]]);
const server = new McpServer({
  name: "notes",
  version: "1.0.0",
  schemaAdapter: (schema) => z.toJSONSchema(schema),
});

server.tool("add_note", {
  description: "Add a note",
  inputSchema: z.object({ name: z.string(), text: z.string() }),
  handler: ({ name, text }) => {
    notes.set(name, text);
    return { content: [{ type: "text", text: `${notes.size} notes` }] };
  },
});

server.resource("note:///{name}", { name: "note", mimeType: "text/plain" }, (uri, { name }) => ({
  contents: [{ uri: uri.href, type: "text", mimeType: "text/plain", text: notes.get(name) ?? "" }],
}));

server.prompt("summarize", {
  arguments: z.object({ tone: z.string() }),
  handler: ({ tone }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Summarize my notes in a ${tone} tone` } }],
  }),
});

/** For `app.all("/mcp", (c) => handle(c.req.raw))` in Hono. */
export const handle = new StreamableHttpTransport().bind(server);
