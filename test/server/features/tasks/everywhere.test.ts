import { versions } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { memoryChannels, openConnection } from "@parlance/mcp/jsonrpc";
import { createServer } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { ByteBudget } from "../../../../packages/mcp/src/base/byte-budget.js";
import type { Exchange } from "../../../../packages/mcp/src/jsonrpc/call.js";
import type { OperationEnd } from "../../../../packages/mcp/src/server/pipeline.js";
import { ServerSession } from "../../../../packages/mcp/src/server/session/server-session.js";
import { turn } from "../../../testing/talks.js";
import { speak } from "../../speak.js";
import { taskPeer, text, version, workshop } from "./tasks.js";

const offered = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
const others = versions.filter((each) => each !== version);

describe.each(others)("in %s", (other) => {
  test("a call that asks for a task is a call, whatever its tool says of tasks", async () => {
    await using speaker = await speak(workshop().server, other);
    for (const name of ["quick", "required", "plain"]) {
      expect(text(await speaker.result("tools/call", { name, task: { ttl: 1_000 } }))).toBe("done");
      expect(text(await speaker.result("tools/call", { name }))).toBe("done");
      expect(text(await speaker.result("tools/call", { name, task: "nonsense" }))).toBe("done");
    }
  });

  test("no tool says how it runs as a task", async () => {
    await using speaker = await speak(workshop().server, other);
    const { tools } = await speaker.result("tools/list");
    expect(tools).toHaveLength(7);
    expect(JSON.stringify(tools)).not.toContain("execution");
  });

  test("no method of tasks exists", async () => {
    await using speaker = await speak(workshop().server, other);
    for (const method of ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"]) {
      expect((await speaker.error(method, { taskId: "a" })).code).toBe(-32_601);
    }
  });

  test("tasks are advertised to no client", async () => {
    await using client = await connect(workshop().server, { revision: other });
    expect(client.server.capabilities).toHaveProperty("tools");
    expect(client.server.capabilities).not.toHaveProperty("tasks");
  });
});

describe(`in ${version}`, () => {
  test("tasks are promised if a tool may run as one", async () => {
    await using client = await connect(workshop().server, { revision: version });
    expect(client.server.capabilities.tasks).toEqual(offered);
  });

  test.each([undefined, "forbidden"] as const)("they are not if every tool says %s", async (taskSupport) => {
    const server = createServer({ name: "a", version: "1", tasks: { ttl: 1 } });
    server.tool("plain", taskSupport === undefined ? {} : { execution: { taskSupport } }, () => "done");
    await using client = await connect(server, { revision: version });
    expect(client.server.capabilities).not.toHaveProperty("tasks");
    await expect(client.call("tasks/list")).rejects.toMatchObject({ reason: "refused" });
    await using peer = await taskPeer(server);
    expect(await peer.errorOf("tasks/list")).toMatchObject({ code: -32_601 });
    expect(text(await client.call("tools/call", { name: "plain", task: {} }))).toBe("done");
  });

  test("a tool cannot say what the specification has no word for", () => {
    const server = createServer({ name: "a", version: "1" });
    const execution = { taskSupport: "perhaps" as "optional" };
    expect(() => server.tool("a", { execution }, () => "")).toThrow(TypeError);
  });
});

test("hooks see the call of a tool end when its task does, and how", async () => {
  const ends: string[] = [];
  const { server, release } = workshop({
    onCall: ({ method }) => void ends.push(`${method} begins`),
    onEnd: ({ method }, end: OperationEnd) => void ends.push(`${method} ${end.kind}`),
  });
  await using peer = await taskPeer(server);
  await peer.start("work");
  const { taskId } = await peer.start("work");
  await peer.cancel(taskId);
  expect(ends.splice(0)).toEqual([
    "tools/call begins",
    "tools/call begins",
    "tasks/cancel begins",
    "tasks/cancel result",
  ]);
  release();
  release();
  await peer.result("ping");
  expect(ends).toEqual(["tools/call result", "tools/call cancelled"]);
});

test("a middleware is inside of the task: what it refuses fails it", async () => {
  const { server } = workshop();
  server.use((next) => (method, params, operation) => {
    expect(params).not.toHaveProperty("task");
    return next(method, { ...params, name: "fails" }, operation);
  });
  await using peer = await taskPeer(server);
  const { taskId } = await peer.start("quick");
  expect((await peer.get(taskId)).status).toBe("failed");
});

test("a task belongs to the caller that the transport names", async () => {
  const { server, release } = workshop();
  const ended = new AbortController();
  const [channel] = memoryChannels();
  await using connection = openConnection(channel);
  const conversation = new ServerSession(server, {
    lenient: false,
    budget: new ByteBudget(Number.POSITIVE_INFINITY),
    connect: () => connection,
    negotiated: () => undefined,
  });
  const as = (principal: string | undefined): Exchange => ({
    signal: ended.signal,
    notify: () => undefined,
    drained: () => Promise.resolve(),
    principal,
  });
  const clientInfo = { name: "raw", version: "1" };
  conversation.call("initialize", { protocolVersion: version, capabilities: {}, clientInfo }, as("alice"));
  conversation.notified("notifications/initialized", undefined);
  const made = conversation.call("tools/call", { name: "work", task: {} }, as("alice")) as { task: { taskId: string } };
  const { taskId } = made.task;
  expect(conversation.call("tasks/list", {}, as("alice"))).toMatchObject({ tasks: [{ taskId }] });
  expect(conversation.call("tasks/get", { taskId }, as("alice"))).toMatchObject({ taskId });
  for (const stranger of ["mallory", undefined]) {
    expect(conversation.call("tasks/list", {}, as(stranger))).toEqual({ tasks: [] });
    for (const method of ["tasks/get", "tasks/cancel"]) {
      expect(() => conversation.call(method, { taskId }, as(stranger))).toThrow("Unknown task");
    }
    await expect(conversation.call("tasks/result", { taskId }, as(stranger))).rejects.toThrow("Unknown task");
  }
  await turn();
  release();
  await connection.close();
});
