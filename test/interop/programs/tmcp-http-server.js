// A server on tmcp, on HTTP, for either era. It says on stdout where it is.
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { McpServer } from "tmcp";
import { z } from "zod";
import { serveFetch } from "./serve-fetch.js";

const server = new McpServer(
  { name: "tmcp-notes", version: "1.0.0", description: "Notes" },
  {
    adapter: new ZodJsonSchemaAdapter(),
    capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true } },
  },
);

const add = { name: "add", description: "Add two numbers", schema: z.object({ a: z.number(), b: z.number() }) };
server.tool(add, ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
server.tool({ name: "count", description: "Count to three" }, async () => {
  for (let step = 1; step <= 3; step += 1) server.progress(step, 3);
  return { content: [{ type: "text", text: "counted" }] };
});
server.resource({ name: "one", description: "A note", uri: "note://one" }, (uri) => ({
  contents: [{ uri, mimeType: "text/plain", text: "one" }],
}));
server.prompt(
  { name: "write", description: "Write about a topic", schema: z.object({ topic: z.string() }) },
  ({ topic }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Write about ${topic}` } }],
  }),
);

const transport = new HttpTransport(server, { path: "/mcp" });
serveFetch(async (request) => (await transport.respond(request)) ?? new Response(undefined, { status: 404 }));
