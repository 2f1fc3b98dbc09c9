// A server of ours on HTTP: the contacts and the git tools of the examples, and what these do not need a client for. Takes
// the folder of a repository, and prints its address.
import { serveHttp } from "@parlance/mcp/node";
import { createContacts } from "../../../examples/contacts/contacts.js";
import { people } from "../../../examples/contacts/people.js";
import { SqliteStore } from "../../../examples/contacts/sqlite-store.js";
import { openRepository } from "../../../examples/git-server/git.js";
import { addTools } from "../../../examples/git-server/tools.js";

const [folder] = process.argv.slice(2);
const store = new SqliteStore();
store.addAll(people);
const server = createContacts(store);
addTools(server, await openRepository(folder));

server.tool("ask_model", {}, async (_args, context) => {
  const { content } = await context.sample({
    messages: [{ role: "user", content: { type: "text", text: "What is next?" } }],
    maxTokens: 10,
  });
  return `the model says ${content.text}`;
});

// Lets its client go in the middle of what it tells, twice.
server.tool("let_go", {}, async (_args, context) => {
  for (let step = 1; step <= 6; step += 1) {
    void context.progress(step, 6);
    if (step % 3 === 1) context.release(10);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return "came back";
});

server.tool("change", {}, () => {
  server.changed.resource("contacts:/1");
  server.tool("new", {}, () => "");
  return "changed";
});

const http = await serveHttp(server);
console.log(http.url);
