import { McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const notes = new Map([["tea", "Buy green tea"]]);

function createNotes() {
  const server = new McpServer({ name: "notes", version: "1.0.0" });

  const adding = {
    description: "Add a note",
    inputSchema: z.object({ name: z.string(), text: z.string() }),
    outputSchema: z.object({ count: z.number() }),
  };
  server.registerTool("add_note", adding, async ({ name, text }) => {
    notes.set(name, text);
    const structuredContent = { count: notes.size };
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  });

  const removing = { description: "Remove a note", inputSchema: z.object({ name: z.string() }) };
  server.registerTool("remove_note", removing, async ({ name }) => {
    if (!notes.delete(name)) throw new Error(`There is no note ${name}`);
    return { content: [{ type: "text", text: `Removed ${name}` }] };
  });

  const list = () => ({ resources: [...notes.keys()].map((name) => ({ uri: `note:///${name}`, name })) });
  server.registerResource("note", new ResourceTemplate("note:///{name}", { list }), {}, async (uri, { name }) => {
    const text = notes.get(String(name));
    return { contents: text === undefined ? [] : [{ uri: uri.href, text }] };
  });

  server.registerPrompt("summarize", { argsSchema: z.object({ tone: z.string() }) }, ({ tone }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Summarize my notes in a ${tone} tone` } }],
  }));
  return server;
}

serveStdio(createNotes);
