import { createServer, ToolError, tool } from "@parlance/mcp/server";
import * as z from "zod";
import { Notes } from "./notes.js";

// This module exports the server and does not serve it, so that tests and `parlance` can import it.

const notes = new Notes();
notes.add("Welcome", "Change src/server.js and save it: npm run dev reloads the server.");

const noteSchema = z.object({ id: z.int(), title: z.string(), text: z.string() });

const addNote = tool(
  "add_note",
  {
    description: "Save a note",
    inputSchema: z.object({ title: z.string().min(1).max(200), text: z.string().max(10_000) }),
    outputSchema: noteSchema,
    annotations: { destructiveHint: false, openWorldHint: false },
  },
  ({ title, text }) => {
    const note = notes.add(title, text);
    server.changed.list("resources");
    return note; // Structured output. The text for older clients is derived from it.
  },
);

const searchNotes = tool(
  "search_notes",
  {
    description: "Find notes by words in their title or text",
    inputSchema: z.object({ words: z.string().describe("All notes, if it is empty") }),
    outputSchema: z.object({ notes: z.array(noteSchema) }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  ({ words }) => ({ notes: [...notes.search(words)] }),
);

const deleteNote = tool(
  "delete_note",
  {
    description: "Delete a note, after the user has confirmed it",
    inputSchema: z.object({ id: z.int() }),
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
  async ({ id }, ctx) => {
    const note = notes.get(id);
    // The model reads the message of a ToolError, and can try again. Messages of other errors go to your log only.
    if (note === undefined) throw new ToolError(`There is no note ${id}: search_notes lists the ids`);
    // Elicitation: the client shows this question to the user.
    const { content } = await ctx.elicit(`Delete "${note.title}"?`, z.object({ confirm: z.boolean() }));
    if (content?.confirm !== true) return "The user kept the note.";
    notes.delete(id);
    server.changed.list("resources");
    return `Deleted "${note.title}".`;
  },
);

export const server = createServer({
  name: "my-project",
  version: "0.1.0",
  instructions: "Keeps short notes. Search before you add, so that no note is saved twice.",
  // Clients in tests know the names and types of these tools. Add yours here, too.
  tools: [addNote, searchNotes, deleteNote],
});

server.resourceTemplate(
  "note:/{id}",
  {
    name: "note",
    description: "The text of a note",
    mimeType: "text/plain",
    list: () => notes.list().map(({ id, title }) => ({ uri: `note:/${id}`, name: title })),
  },
  ({ id }) => notes.get(Number(id))?.text,
);

server.prompt(
  "summarize",
  {
    description: "Summarize the notes on a topic",
    arguments: { topic: { description: "Words in the notes", required: true } },
  },
  ({ topic }) => `Find my notes on "${topic}" with search_notes, and summarize them in three sentences.`,
);
