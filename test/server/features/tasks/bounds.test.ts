import { createServer } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import type { TaskOptions } from "../../../../packages/mcp/src/server/features/tasks/task-store.js";
import { parse } from "../../../testing/frames.js";
import { turn } from "../../../testing/talks.js";
import { taskPeer, text, workshop } from "./tasks.js";

test.each<TaskOptions>([
  { ttl: 0 },
  { maxTtl: Number.POSITIVE_INFINITY },
  { maxTtl: 2 ** 31 },
  { pollInterval: 0.5 },
  { running: -1 },
  { resultLength: 0 },
])("the bounds %j are refused when the server is made", (tasks) => {
  expect(() => createServer({ name: "a", version: "1", tasks })).toThrow(RangeError);
});

describe("a task that has outlived its time", () => {
  test("is gone, with its result", async () => {
    await using peer = await taskPeer(workshop().server);
    const { taskId } = await peer.start("quick", {}, { ttl: 100 });
    peer.talk.clock.advance(99);
    expect((await peer.get(taskId)).status).toBe("completed");
    peer.talk.clock.advance(1);
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      expect(await peer.errorOf(method, { taskId })).toMatchObject({ code: -32_602, message: "Unknown task" });
    }
    expect(await peer.result("tasks/list")).toEqual({ tasks: [] });
  });

  test("is aborted if it still runs, and a caller that waits for it gets an error", async () => {
    const { server, aborted, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work", {}, { ttl: 100 });
    const id = peer.send("tasks/result", { taskId });
    await peer.result("ping");
    peer.talk.clock.advance(100);
    expect(await peer.next()).toMatchObject({ id, error: { code: -32_602, message: "Unknown task" } });
    expect(aborted).toEqual(["the task has outlived its time"]);
    release();
    await peer.result("ping");
    expect(peer.told).toEqual([]);
  });

  test("is made with the time that has passed since", async () => {
    const { server, release } = workshop();
    await using peer = await taskPeer(server);
    const made = await peer.start("work");
    peer.talk.clock.advance(1_500);
    release();
    await turn();
    const { createdAt, lastUpdatedAt } = await peer.get(made.taskId);
    expect(createdAt).toBe(made.createdAt);
    expect(Date.parse(lastUpdatedAt) - Date.parse(createdAt)).toBe(1_500);
  });
});

describe("a conversation has", () => {
  test("the number of running tasks; a cancelled one counts until its handler has stopped", async () => {
    const { server, release } = workshop({ tasks: { running: 2 } });
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    await peer.start("work");
    const refused = { code: 42_900, data: { reason: "2 tasks run: wait for one of them to end" } };
    expect(await peer.errorOf("tools/call", { name: "quick", task: {} })).toMatchObject(refused);
    await peer.cancel(taskId);
    expect(await peer.errorOf("tools/call", { name: "quick", task: {} })).toMatchObject(refused);
    expect(text(await peer.result("tools/call", { name: "quick" }))).toBe("done");
    release();
    await turn();
    await peer.start("quick");
    await peer.result("ping");
    release();
  });

  test("the number of kept tasks, until they expire", async () => {
    const { server } = workshop({ tasks: { kept: 2, ttl: 100 } });
    await using peer = await taskPeer(server);
    await peer.start("quick");
    await peer.start("quick");
    await turn();
    expect(await peer.errorOf("tools/call", { name: "quick", task: {} })).toMatchObject({
      code: 42_900,
      data: { reason: "2 tasks are kept: wait for one of them to expire" },
    });
    peer.talk.clock.advance(100);
    await peer.start("quick");
  });

  test("so much of results, errors and what they carry included, until they expire", async () => {
    const { server, release } = workshop({ tasks: { resultLength: 1_000, ttl: 100 } });
    await using peer = await taskPeer(server);
    const first = await peer.start("work");
    release("a".repeat(800));
    await turn();
    const second = await peer.start("work");
    release("b".repeat(200));
    await turn();
    expect(text(await peer.result("tasks/result", first))).toHaveLength(800);
    expect(await peer.errorOf("tasks/result", second)).toMatchObject({
      code: -32_603,
      data: { reason: "the results of this conversation's tasks are more than this side keeps" },
    });
    expect((await peer.get(second.taskId)).status).toBe("failed");
    peer.talk.clock.advance(100);
    const third = await peer.start("work");
    release("c".repeat(800));
    expect(text(await peer.result("tasks/result", third))).toHaveLength(800);
  });

  test("its own bounds: another one is not in its way", async () => {
    const { server, release } = workshop({ tasks: { running: 1 } });
    await using peer = await taskPeer(server);
    await using other = await taskPeer(server);
    await peer.start("work");
    await other.start("work");
    release();
    release();
  });
});

test("a result that is not JSON fails its task, as it would fail its call", async () => {
  const { server } = workshop();
  server.tool("big", { execution: { taskSupport: "optional" } }, () => ({ content: [], _meta: { big: 1n } }));
  await using peer = await taskPeer(server);
  const called = await peer.errorOf("tools/call", { name: "big" });
  const { taskId } = await peer.start("big");
  expect(await peer.errorOf("tasks/result", { taskId })).toEqual(called);
  expect(called.code).toBe(-32_603);
});

test("a log message of a task that is not JSON is reported, and the task completes", async () => {
  const { server } = workshop();
  server.tool("big", { execution: { taskSupport: "optional" } }, (_args, ctx) => {
    ctx.log("error", { big: 1n });
    return "done";
  });
  await using peer = await taskPeer(server);
  const { taskId } = await peer.start("big");
  expect(text(await peer.result("tasks/result", { taskId }))).toBe("done");
  expect(peer.talk.reports).toHaveLength(1);
});

describe("the end of a session", () => {
  test("aborts its tasks, and those of no other", async () => {
    const { server, aborted, release } = workshop();
    await using other = await taskPeer(server);
    {
      await using peer = await taskPeer(server);
      await peer.start("work");
      await peer.start("asks");
    }
    await turn();
    expect(aborted).toEqual(["the conversation is over"]);
    const { taskId } = await other.start("work");
    release();
    release();
    expect(text(await other.result("tasks/result", { taskId }))).toBe("worked");
  });

  test("ends who waits for a result, and leaves no timer", async () => {
    const { server, release } = workshop();
    const { talk, start, send, result } = await taskPeer(server);
    const { taskId } = await start("work");
    send("tasks/result", { taskId });
    await result("ping");
    expect(talk.clock.armed).toBe(1);
    await talk.peer.close();
    await turn();
    talk.clock.advance(5_000); // For answers to what was asked before; this one has to wait longer.
    await talk.connection.closed;
    await turn();
    expect(talk.clock.armed).toBe(0);
    release();
    await turn();
    expect(talk.connection.inFlight.running).toBe(0);
  });
});

test("a server that waits for what runs waits for who waits for a task", async () => {
  const { server, release } = workshop();
  const peer = await taskPeer(server);
  await using talk = peer.talk;
  const { taskId } = await peer.start("work");
  const id = peer.send("tasks/result", { taskId });
  await peer.result("ping");
  const drained = talk.connection.drain(1_000);
  release();
  const frames = [parse(await talk.peer.next()), parse(await talk.peer.next())];
  expect(frames[0]).toMatchObject({ method: "notifications/tasks/status" });
  expect(frames[1]).toMatchObject({ id, result: { content: [{ text: "worked" }] } });
  await drained;
});
