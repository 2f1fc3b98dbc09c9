import { nodeHandler } from "@parlance/mcp/node";
import { createServer, ToolError } from "@parlance/mcp/server";
import cors from "cors";
import express from "express";
import session from "express-session";
import * as z from "zod";

declare module "express-session" {
  interface SessionData {
    user: string;
  }
}

// The application: a page of another origin, sessions with a cookie, and routes of its own.
const page = "https://app.example.com";
const notes = new Map<string, string[]>();
const notesOf = (user: string): string[] => notes.get(user) ?? [];
const app = express();
app.use(cors({ origin: page, credentials: true }));
app.use(session({ secret: process.env.SESSION_SECRET ?? "for development", resave: false, saveUninitialized: false }));

// The MCP server uses the same data.
const server = createServer({ name: "notes", version: "1.0.0" });
const newNote = z.object({ text: z.string().min(1) });
server.tool("add_note", { description: "Add a note", inputSchema: newNote }, ({ text }, { auth }) => {
  if (auth === undefined) throw new ToolError("Sign in first");
  notes.set(auth.principal, [...notesOf(auth.principal), text]);
  return "Added";
});

// The session decides who calls. `raw` is the request of Express, with what its middleware has found.
const mcp = nodeHandler(server, {
  allowedOrigins: [page],
  auth: ({ raw }) => {
    const { user } = (raw as express.Request).session;
    return user === undefined ? undefined : { principal: user };
  },
});
app.all("/mcp", mcp);

// The other routes have a body parser.
app.use(express.json());
app.post("/login", (request, response) => {
  request.session.user = String(request.body.user); // Check a password here.
  response.json({ user: request.session.user });
});
app.get("/notes", (request, response) => {
  if (request.session.user === undefined) response.sendStatus(401);
  else response.json(notesOf(request.session.user));
});

const listener = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", (error) => {
  if (error) throw error; // The port is in use, for instance.
  const address = listener.address();
  if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}/mcp`);
});

process.once("SIGTERM", async () => {
  await mcp.drain(10_000); // Refuses new calls at /mcp, and waits for those that run.
  listener.close(); // The other routes answer what they have begun.
});
