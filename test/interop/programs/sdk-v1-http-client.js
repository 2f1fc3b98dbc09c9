// A client on version 1 of the official SDK: does what there is to do over HTTP with the server in its argument, and prints
// what it saw as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { countingFetch, tour } from "./http-tour.js";

const [url] = process.argv.slice(2);
const client = new Client({ name: "sdk-v1", version: "1.0.0" }, { capabilities: { elicitation: {}, sampling: {} } });
const schemas = {
  "elicitation/create": ElicitRequestSchema,
  "sampling/createMessage": CreateMessageRequestSchema,
  "notifications/resources/updated": ResourceUpdatedNotificationSchema,
  "notifications/tools/list_changed": ToolListChangedNotificationSchema,
};
const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: countingFetch });
await tour(url, client, transport, {
  onRequest: (method, handler) => client.setRequestHandler(schemas[method], handler),
  onNotification: (method, handler) => client.setNotificationHandler(schemas[method], handler),
  call: (params, options) => client.callTool(params, undefined, options),
});
