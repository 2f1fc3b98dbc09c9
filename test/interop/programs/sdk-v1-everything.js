// A client on version 1 of the official SDK that does all that server-everything lets it do. Starts the command in its
// arguments, and prints the names of what it called as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { answers, capabilities, everything } from "./everything.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "sdk-v1", version: "1.0.0" }, { capabilities });
client.setRequestHandler(CreateMessageRequestSchema, answers.sampling);
client.setRequestHandler(ElicitRequestSchema, answers.elicitation);
client.setRequestHandler(ListRootsRequestSchema, answers.roots);
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
const call = (params, options) => client.callTool(params, undefined, options);
console.log(JSON.stringify(await everything(client, call)));
await client.close();
