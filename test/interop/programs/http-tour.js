/** How often the client has come back for a stream. */
let returned = 0;

/** The `fetch` of the platform, which sees the client come back. */
export function countingFetch(url, init) {
  if (new Headers(init?.headers).has("last-event-id")) returned += 1;
  return fetch(url, init);
}

/** Does what there is to do with a client of the official SDK, whose versions differ in `verbs`, and prints what it saw. */
export async function tour(url, client, transport, { onRequest, onNotification, call }) {
  const asked = [];
  const told = [];
  onRequest("elicitation/create", ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { delete: true } };
  });
  onRequest("sampling/createMessage", ({ params }) => {
    asked.push(params.messages[0].content.text);
    return { model: "m", role: "assistant", content: { type: "text", text: "lunch" } };
  });
  onNotification("notifications/resources/updated", ({ params }) => void told.push(params.uri));
  onNotification("notifications/tools/list_changed", () => void told.push("tools"));
  await client.connect(transport);
  const session = transport.sessionId;
  const { tools } = await client.listTools();
  const status = await call({ name: "git_status", arguments: {} });
  const refused = await call({ name: "git_log", arguments: { limit: "many" } });
  const { contents } = await client.readResource({ uri: "contacts:/1" });
  const progress = [];
  const csv = `name\n${"Somebody\n".repeat(250)}`;
  const onprogress = ({ progress: step }) => progress.push(step);
  const imported = await call({ name: "import_contacts", arguments: { csv } }, { onprogress });
  const deleted = await call({ name: "delete_contact", arguments: { id: 2 } });
  const sampled = await call({ name: "ask_model", arguments: {} });
  const subscription = session === undefined ? await listen(client) : await subscribe(client);
  await call({ name: "change", arguments: {} });
  while (!(told.includes("contacts:/1") && told.includes("tools")))
    await new Promise((resolve) => setImmediate(resolve));
  await subscription?.close();
  const steps = [];
  const released = await call({ name: "let_go", arguments: {} }, { onprogress: (each) => steps.push(each.progress) });
  if (session !== undefined) await transport.terminateSession();
  const ended = session === undefined ? undefined : await statusOf(url, session);
  await client.close();
  const names = tools.map(({ name }) => name);
  console.log(
    JSON.stringify({
      ...{ session, names, status, refused, contents, progress, imported, asked, deleted, sampled },
      ...{ told, steps, released, returned, ended },
    }),
  );
}

async function subscribe(client) {
  await client.subscribeResource({ uri: "contacts:/1" });
}

function listen(client) {
  return client.listen({ resourceSubscriptions: ["contacts:/1"], toolsListChanged: true });
}

/** How the server answers somebody who still speaks in that session. */
async function statusOf(url, session) {
  const { status } = await fetch(url, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": session,
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  return status;
}
