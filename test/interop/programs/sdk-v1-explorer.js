// A client on version 1 of the official SDK that explores the server in its argument, and prints what it called as JSON.
// With "sse" behind it, over the transport of the first revision.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { answers, capabilities, explore } from "./explore.js";

const [url, kind] = process.argv.slice(2);
const client = new Client({ name: "sdk-v1", version: "1.0.0" }, { capabilities });
client.setRequestHandler(CreateMessageRequestSchema, answers["sampling/createMessage"]);
client.setRequestHandler(ElicitRequestSchema, answers["elicitation/create"]);
client.setRequestHandler(ListRootsRequestSchema, answers["roots/list"]);
const transport =
  kind === "sse" ? new SSEClientTransport(new URL(url)) : new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const explored = await explore(client, (params, options) => client.callTool(params, undefined, options));
await client.ping();
await transport.terminateSession?.().catch(() => undefined);
await client.close();
console.log(JSON.stringify(explored));
