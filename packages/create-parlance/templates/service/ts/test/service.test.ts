import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryChannels, openConnection } from "@parlance/mcp/jsonrpc";
import { service, unknownTask } from "../src/service.ts";

/** A client in memory, with the same messages as over any transport. */
function connect() {
  const [here, there] = memoryChannels();
  openConnection(there, { handle: service.call });
  return openConnection(here);
}

test("a task is added, listed and finished", async () => {
  const connection = connect();
  assert.deepEqual(await connection.call("tasks.add", { title: "Water the plants" }), {
    id: 1,
    title: "Water the plants",
    done: false,
  });
  const finished = await connection.call("tasks.finish", [1]);
  assert.deepEqual(await connection.call("tasks.list"), [finished]);
  await connection.close();
});

test("an unknown task is an error of the service", async () => {
  const connection = connect();
  await assert.rejects(connection.call("tasks.finish", { id: 404 }), { code: unknownTask, data: { id: 404 } });
  await connection.close();
});

test("params that do not match the schema get the error -32602", async () => {
  const connection = connect();
  await assert.rejects(connection.call("tasks.add", { title: 7 }), { code: -32602 });
  await connection.close();
});

test("a batch gets one response for each request", async () => {
  const connection = connect();
  const batch = connection.batch();
  const ids = [batch.request("tasks.list"), batch.request("tasks.unknown")];
  const outcomes = await batch.send();
  assert.deepEqual(
    ids.map((id) => outcomes.get(id)?.ok),
    [true, false],
  );
  await connection.close();
});
