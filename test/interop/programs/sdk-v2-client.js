// A client on version 2 of the official SDK: starts the command in its arguments behind the era, and prints what it found.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "sdk-v2", version: "1.0.0" }, { versionNegotiation: { mode } });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const status = await client.callTool({ name: "git_status", arguments: {} });
const refused = await client.callTool({ name: "git_log", arguments: { limit: "many" } });
const server = client.getServerVersion();
await client.close();
console.log(JSON.stringify({ server, tools: tools.map(({ name }) => name), status, refused }));
