// The features of servers on version 2 of the official SDK: one of everything, for either era.
import { acceptedContent, completable, inputRequired, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import * as z from "zod";

const text = (said) => ({ content: [{ type: "text", text: said }] });
const person = z.object({ name: z.string(), seats: z.number().default(1) });

/** A server of its own for every conversation. */
export function createNotes() {
  const capabilities = { resources: { subscribe: true, listChanged: true }, logging: {} };
  const server = new McpServer({ name: "sdk-v2", version: "1.0.0" }, { capabilities });
  const config = { description: "Add two numbers", inputSchema: z.object({ a: z.number(), b: z.number() }) };
  server.registerTool("add", config, ({ a, b }) => text(String(a + b)));
  server.registerTool("ask", {}, (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, "who", person);
    if (answer !== undefined) return text(`accept ${answer.name} ${answer.seats}`);
    const who = inputRequired.elicit({ message: "Who?", requestedSchema: person });
    return inputRequired({ inputRequests: { who } });
  });
  const contents = (uri) => ({ contents: [{ uri: uri.href, text: `text of ${uri.href}` }] });
  server.registerResource("one", "note:one", {}, contents);
  const family = new ResourceTemplate("note:{name}", { list: undefined, complete: { name: () => ["two"] } });
  server.registerResource("family", family, {}, contents);
  const argsSchema = z.object({ topic: completable(z.string(), () => ["tea", "trains"]) });
  server.registerPrompt("write", { argsSchema }, ({ topic }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Write about ${topic}` } }],
  }));
  server.registerTool("grow", {}, () => {
    server.registerTool("grown", {}, () => text("grown"));
    return text("grows");
  });
  return server;
}
