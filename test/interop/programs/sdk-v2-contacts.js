// A client on version 2 of the official SDK that deletes the first contact, and answers what it is asked. Starts the
// command in its arguments behind the era, and prints what it saw as JSON.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client(
  { name: "sdk-v2", version: "1.0.0" },
  {
    capabilities: { elicitation: {} },
    versionNegotiation: { mode },
  },
);
const asked = [];
const told = [];
client.setRequestHandler("elicitation/create", ({ params }) => {
  asked.push(params.message);
  return { action: "accept", content: { delete: true } };
});
client.setNotificationHandler("notifications/resources/list_changed", ({ method }) => void told.push(method));
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const found = await client.callTool({ name: "search_contacts", arguments: { query: "ada" } });
const { contents } = await client.readResource({ uri: "contacts:/1" });
const progress = [];
const csv = `name\n${"Somebody\n".repeat(250)}`;
const imported = await client.callTool(
  { name: "import_contacts", arguments: { csv } },
  {
    onprogress: (each) => progress.push(each.progress),
  },
);
const deleted = await client.callTool({ name: "delete_contact", arguments: { id: 1 } });
await client.close();
const names = tools.map(({ name }) => name);
console.log(JSON.stringify({ names, found, contents, progress, imported, asked, deleted, told: told.length > 0 }));
