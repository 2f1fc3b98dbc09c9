// A client on version 1 of the official SDK that deletes the first contact, and answers what it is asked. Starts the
// command in its arguments, and prints what it saw as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, ResourceListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "sdk-v1", version: "1.0.0" }, { capabilities: { elicitation: {} } });
const asked = [];
const told = [];
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  asked.push(params.message);
  return { action: "accept", content: { delete: true } };
});
client.setNotificationHandler(ResourceListChangedNotificationSchema, ({ method }) => void told.push(method));
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const found = await client.callTool({ name: "search_contacts", arguments: { query: "ada" } });
const { contents } = await client.readResource({ uri: "contacts:/1" });
const progress = [];
const csv = `name\n${"Somebody\n".repeat(250)}`;
const imported = await client.callTool({ name: "import_contacts", arguments: { csv } }, undefined, {
  onprogress: (each) => progress.push(each.progress),
});
const deleted = await client.callTool({ name: "delete_contact", arguments: { id: 1 } });
await client.close();
const names = tools.map(({ name }) => name);
console.log(JSON.stringify({ names, found, contents, progress, imported, asked, deleted, told: told.length > 0 }));
