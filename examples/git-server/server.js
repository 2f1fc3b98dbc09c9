#!/usr/bin/env node
import { serveStdio } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { openRepository } from "./git.js";
import { addPrompts } from "./prompts.js";
import { addResources } from "./resources.js";
import { addTools } from "./tools.js";
import { addUpdates } from "./updates.js";

// Serves the git repository that a folder is in: node server.js [folder]

const [folder = "."] = process.argv.slice(2);
const repository = await openRepository(folder).catch((error) => {
  console.error(`git-server: ${error.message}`);
  process.exit(1);
});

const server = createServer({
  name: "git",
  title: `Git: ${repository.name}`,
  version: "0.1.0",
  instructions: `Reads the git repository ${repository.name}. Paths are relative to its root. Nothing is ever changed.`,
});
addTools(server, repository);
addResources(server, repository);
addPrompts(server, repository);
const updates = addUpdates(server, repository);

// Each call runs one git at a time; a call beyond these waits.
const serving = await serveStdio(server, { limits: { running: 8 } });
await serving.closed;
updates.stop();
