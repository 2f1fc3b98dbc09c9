/** Who may import whom inside the library, but for `entries`, which composes all of it. */
const rows: Readonly<Record<string, readonly string[]>> = {
  base: [],
  jsonrpc: ["base"],
  // Bytes and channels: nothing of MCP.
  transport: ["jsonrpc", "base"],
  schema: ["base"],
  // Methods of plain JSON-RPC by their schemas: the engine does not depend on a schema library.
  service: ["jsonrpc", "schema", "base"],
  auth: ["jsonrpc", "base"],
  // Nothing but the types of the option `auth`.
  "auth/client": ["http/client/http-target"],
  protocol: ["jsonrpc", "base"],
  session: ["protocol", "jsonrpc", "base"],
  // Never each other: a program that only serves does not load a client.
  server: ["session", "protocol", "jsonrpc", "schema", "base"],
  client: ["session", "protocol", "jsonrpc", "schema", "base"],
  http: ["session", "protocol", "transport/framing", "jsonrpc", "base"],
  // The features stay out: HTTP runs calls and does not know tools.
  "http/server": [
    "http",
    "server/servable",
    "server/session",
    "server/required-scopes",
    "auth/addresses",
    "auth/resource-server",
  ],
  "http/client": ["http", "client/session"],
  node: [
    "http/server",
    "auth/resource-server",
    "auth/addresses",
    "auth/client/authorization-code",
    "auth/client/token-store",
    "server/servable",
    "server/session",
    "session",
    "protocol",
    "transport",
    "jsonrpc",
    "base",
  ],
  // Both: it is a server to one side and a client to the other.
  bridge: [
    "client",
    "server/servable",
    "server/session",
    "server/input",
    "server/features/subscriptions",
    "session",
    "protocol",
    "jsonrpc",
    "base",
  ],
  testing: ["entries", "jsonrpc", "base"],
};

/**
 * The import table. A row names folders, or modules and folders inside one as `folder/module`. A folder may always import from
 * itself; a row of a folder inside it adds to the row of its parent. A folder without a row may not exist.
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
  ["auth", ["jose", "oauth4webapi"]],
  ["http", ["eventsource-parser"]],
  ["node", ["@napi-rs/keyring", "cross-spawn", "jose", "ws"]],
]);
