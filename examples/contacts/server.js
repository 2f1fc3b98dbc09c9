#!/usr/bin/env node
import { parseArgs } from "node:util";
import { serveStdio } from "@parlance/mcp/node";
import { createContacts } from "./contacts.js";
import { folderReader } from "./folder.js";
import { people } from "./people.js";
import { SqliteStore } from "./sqlite-store.js";

// Serves contacts: node server.js [--file contacts.db] [--import-from folder]

try {
  const { values } = parseArgs({ options: { file: { type: "string" }, "import-from": { type: "string" } } });
  const { file, "import-from": folder } = values;
  const readFile = folder === undefined ? undefined : await folderReader(folder);
  const store = new SqliteStore(file);
  // Contacts in memory are for trying the example.
  if (file === undefined) store.addAll(people);
  const serving = await serveStdio(createContacts(store, { readFile }));
  await serving.closed;
  store.close();
} catch (error) {
  console.error(`contacts: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
