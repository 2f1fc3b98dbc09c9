// A server on mcp-lite, on HTTP, with sessions or, told "stateless", without. It says on stdout where it is.
import { InMemoryClientRequestAdapter, InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";
import { serveFetch } from "./serve-fetch.js";

const server = new McpServer({
  name: "mcp-lite-notes",
  version: "1.0.0",
  schemaAdapter: (schema) => z.toJSONSchema(schema),
});

server.tool("add", {
  description: "Add two numbers",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  handler: ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }),
});
server.tool("count", {
  description: "Count to three",
  inputSchema: z.object({}),
  handler: async (_args, context) => {
    for (let step = 1; step <= 3; step += 1) await context.progress?.({ progress: step, total: 3 });
    return { content: [{ type: "text", text: "counted" }] };
  },
});
server.resource("note://one", { name: "one", description: "A note" }, (uri) => ({
  contents: [{ uri: uri.href, type: "text", text: "one" }],
}));
server.prompt("write", {
  description: "Write about a topic",
  arguments: z.object({ topic: z.string() }),
  handler: ({ topic }) => ({ messages: [{ role: "user", content: { type: "text", text: `Write about ${topic}` } }] }),
});

const stateful = {
  sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }),
  clientRequestAdapter: new InMemoryClientRequestAdapter(),
};
const transport = new StreamableHttpTransport(process.argv[2] === "stateless" ? {} : stateful);
serveFetch(transport.bind(server));
