/** Who may import whom inside the library, but for `entries`, which composes all of it. */
const rows: Readonly<Record<string, readonly string[]>> = {
  base: [],
  jsonrpc: ["base"],
  framing: ["base", "jsonrpc/limits"],
  schema: ["base"],
  // Methods of plain JSON-RPC by their schemas, which the engine knows nothing of.
  service: ["jsonrpc", "schema", "base"],
  auth: ["base"],
  protocol: ["jsonrpc", "base"],
  revisions: ["protocol", "jsonrpc"],
  lifecycle: ["revisions", "protocol", "jsonrpc", "base"],
  // Never each other: a program that only serves carries no client.
  server: ["lifecycle", "revisions", "protocol", "jsonrpc", "schema", "base"],
  client: ["lifecycle", "revisions", "protocol", "jsonrpc", "schema", "base"],
  // No server and no client: a carrier is given a Call.
  http: ["lifecycle", "revisions", "protocol", "framing", "jsonrpc", "base"],
  transports: ["lifecycle", "framing", "jsonrpc", "base"],
  node: ["http", "transports", "lifecycle", "framing", "jsonrpc", "base"],
  // Both: it is a server to one side and a client to the other.
  bridge: ["client", "server/subscriptions", "lifecycle", "revisions", "protocol", "jsonrpc", "base"],
  testing: ["entries", "jsonrpc"],
};

/**
 * The import table. A row names folders, or single modules as `folder/module`; a folder may always import from
 * itself, and a folder without a row may not exist.
 */
export const mayImport: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.entries(rows),
  ["entries", Object.keys(rows)],
]);

/** The workspace packages that a library package may import, by their public entries: tools build on the engine, never the reverse. */
export const mayBuildOn: ReadonlyMap<string, readonly string[]> = new Map([
  ["mcp", ["@parlance/mcp"]],
  ["wire", ["@parlance/mcp"]],
]);

/** The dependencies that a folder of a library package may import. The others import none: there the code is ours. */
export const mayUse: ReadonlyMap<string, readonly string[]> = new Map([
  ["schema", ["@cfworker/json-schema", "@standard-schema/spec"]],
  ["http", ["eventsource-parser"]],
  ["node", ["cross-spawn", "ws"]],
]);
