// A client on version 1 of the official SDK: starts the command in its arguments, and prints what it found as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "sdk-v1", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const status = await client.callTool({ name: "git_status", arguments: {} });
const refused = await client.callTool({ name: "git_log", arguments: { limit: "many" } });
await client.close();
const server = client.getServerVersion();
console.log(JSON.stringify({ server, tools: tools.map(({ name }) => name), status, refused }));
