// A client on version 2 of the official SDK that does all that server-everything lets it do. Starts the command in its
// arguments, and prints the names of what it called as JSON.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answers, capabilities, everything } from "./everything.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client(
  { name: "sdk-v2", version: "1.0.0" },
  { capabilities, versionNegotiation: { mode: "legacy" } },
);
client.setRequestHandler("sampling/createMessage", answers.sampling);
client.setRequestHandler("elicitation/create", answers.elicitation);
client.setRequestHandler("roots/list", answers.roots);
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
const call = (params, options) => client.callTool(params, options);
console.log(JSON.stringify(await everything(client, call)));
await client.close();
