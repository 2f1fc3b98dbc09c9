import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@parlance/mcp/client";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { serveChannel } from "@parlance/mcp/server";
import { describeVerdict, type Entry, recordChannel, violations } from "@parlance/wire";
import { server } from "../example/server.ts";
import { callTool, toolLines } from "../src/client.ts";
import { formHandlers } from "../src/form.ts";

// `connect(server)` connects the client to a server in memory, with the same messages as over any transport.

test("the tools of a server are listed", async () => {
  const client = await connect(server);
  assert.deepEqual(await toolLines(client), [
    "weather: The weather in a city",
    "book: Book a table: the server asks for the name",
  ]);
  await client.close();
});

test("a tool is called", async () => {
  const client = await connect(server);
  assert.equal(await callTool(client, "weather", { city: "Lisbon" }), "It is sunny in Lisbon.");
  await client.close();
});

test("a tool that fails throws its message", async () => {
  const client = await connect(server);
  await assert.rejects(callTool(client, "book", { seats: 0 }), /seats/);
  await client.close();
});

// In 2025-11-25 the server sends a request to the client; in 2026-07-28 the client repeats the call with the form.
for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  test(`the user fills in the form of a server (${revision})`, async () => {
    const answers = ["y", "Ada", "yes"];
    const handlers = formHandlers(async () => answers.shift() ?? "");
    const client = await connect(server, { revision, handlers });
    assert.equal(await callTool(client, "book", { seats: 2 }), "A table for 2 by the window is booked for Ada.");
    await client.close();
  });
}

test("the end of the input cancels a form", async () => {
  const client = await connect(server, { handlers: formHandlers(async () => undefined) });
  assert.match(await callTool(client, "book", { seats: 2 }), /Nothing was booked/);
  await client.close();
});

test("no message breaks a rule of the protocol", async () => {
  const entries: Entry[] = [];
  const [here, there] = memoryChannels();
  serveChannel(server, there);
  const client = await connect(recordChannel(here, (entry) => entries.push(entry)));
  await toolLines(client);
  await callTool(client, "weather", { city: "Lisbon" });
  await client.close();
  assert.deepEqual(violations(entries).map(describeVerdict), []);
});
