// A client on version 2 of the official SDK that explores the server in its argument, in the era behind it, and prints what it
// called as JSON.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { answers, capabilities, explore } from "./explore.js";

const [url, mode] = process.argv.slice(2);
const client = new Client({ name: "sdk-v2", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } });
for (const [method, answer] of Object.entries(answers)) client.setRequestHandler(method, answer);
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const explored = await explore(client, (params, options) => client.callTool(params, options));
await transport.terminateSession?.().catch(() => undefined);
await client.close();
console.log(JSON.stringify(explored));
