import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@parlance/mcp/client";
import { server } from "../src/server.ts";

// `connect(server)` connects a client in memory, with the same messages as over any transport.

test("a note that was added is found", async () => {
  const client = await connect(server);
  const added = await client.tools.call("add_note", { title: "Groceries", text: "Bread and olives" });
  const found = await client.tools.call("search_notes", { words: "OLIVES" });
  assert.deepEqual(found.structuredContent, { notes: [added.structuredContent] });
  await client.close();
});

test("a note is a resource", async () => {
  const client = await connect(server);
  const { contents } = await client.resources.read("note:/1");
  assert.deepEqual(
    contents.map(({ uri }) => uri),
    ["note:/1"],
  );
  await client.close();
});

test("arguments that do not match the schema fail", async () => {
  const client = await connect(server);
  const { isError } = await client.tools.call("add_note", { title: "", text: "A note without a title" });
  assert.equal(isError, true);
  await client.close();
});

// In 2025-11-25 the server sends a request to the client; in 2026-07-28 the client repeats the call with the answer.
for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  test(`a note is deleted only after the user has confirmed it (${revision})`, async () => {
    let confirm = false;
    const client = await connect(server, {
      revision,
      handlers: { elicitation: () => ({ action: "accept", content: { confirm } }) },
    });
    const { structuredContent: note } = await client.tools.call("add_note", { title: "Old", text: revision });
    assert.ok(note);
    const isKept = async () => {
      const { structuredContent } = await client.tools.call("search_notes", { words: revision });
      return structuredContent?.notes.length === 1;
    };

    await client.tools.call("delete_note", { id: note.id });
    assert.equal(await isKept(), true);

    confirm = true;
    await client.tools.call("delete_note", { id: note.id });
    assert.equal(await isKept(), false);
    await client.close();
  });
}
