// A client on version 2 of the official SDK: does what there is to do over HTTP with the server in its argument, in the era
// behind it, and prints what it saw as JSON.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { countingFetch, tour } from "./http-tour.js";

const [url, mode] = process.argv.slice(2);
const client = new Client(
  { name: "sdk-v2", version: "1.0.0" },
  { capabilities: { elicitation: {}, sampling: {} }, versionNegotiation: { mode } },
);
const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: countingFetch });
await tour(url, client, transport, {
  onRequest: (method, handler) => client.setRequestHandler(method, handler),
  onNotification: (method, handler) => client.setNotificationHandler(method, handler),
  call: (params, options) => client.callTool(params, options),
});
