import { FastMCP, UserError } from "fastmcp";
import * as z from "zod";

const notes = new Map([["tea", "Buy green tea"]]);
const server = new FastMCP({ name: "notes", version: "1.0.0" });

server.addTool({
  name: "add_note",
  description: "Add a note",
  parameters: z.object({ name: z.string(), text: z.string() }),
  execute: async ({ name, text }, { log }) => {
    notes.set(name, text);
    log.info("added", { name });
    return `${notes.size} notes`;
  },
});

server.addTool({
  name: "remove_note",
  description: "Remove a note",
  parameters: z.object({ name: z.string() }),
  execute: async ({ name }) => {
    if (!notes.delete(name)) throw new UserError(`There is no note ${name}`);
    return `Removed ${name}`;
  },
});

server.addResourceTemplate({
  name: "note",
  uriTemplate: "note:///{name}",
  mimeType: "text/plain",
  arguments: [{ name: "name", required: true }],
  load: async ({ name }) => ({ text: notes.get(name) ?? "" }),
});

server.addPrompt({
  name: "summarize",
  arguments: [{ name: "tone", required: true }],
  load: async ({ tone }) => `Summarize my notes in a ${tone} tone`,
});

await server.start({ transportType: "stdio" });
