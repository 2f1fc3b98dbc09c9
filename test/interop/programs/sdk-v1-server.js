// A server on version 1 of the official SDK, on stdio.
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createNotes } from "./sdk-v1-notes.js";

await createNotes().connect(new StdioServerTransport());
