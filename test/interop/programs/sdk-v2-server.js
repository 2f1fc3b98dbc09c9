// A server on version 2 of the official SDK, on stdio, for either era.
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createNotes } from "./sdk-v2-notes.js";

serveStdio(createNotes);
