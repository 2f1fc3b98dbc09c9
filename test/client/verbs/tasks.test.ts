import { versions } from "@parlance/mcp";
import { type Client, type ClientOptions, connect, type InputHandlers } from "@parlance/mcp/client";
import { revisionOf } from "@parlance/mcp/protocol";
import { createServer, type Server, ToolError } from "@parlance/mcp/server";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { parse, success } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { errorOf, openWith } from "../session/openings.js";

const core = "2025-11-25";
const capabilities = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };

interface Workshop {
  readonly server: Server;
  /** Lets the slow work end. */
  release(): void;
  /** Whether the slow work was told to stop. */
  isStopped(): boolean;
}

function workshop(): Workshop {
  const server = createServer({ name: "workshop", version: "1", tasks: { pollInterval: 1 } });
  const released = held();
  let isStopped = false;
  const slow = { execution: { taskSupport: "required" } } as const;
  server.tool("slow", slow, async (_args, { signal }) => {
    signal.addEventListener("abort", () => {
      isStopped = true;
    });
    await released.promise;
    return "worked";
  });
  const either = { execution: { taskSupport: "optional" } } as const;
  server.tool("quick", { ...either, outputSchema: z.object({ n: z.number() }) }, () => ({ n: 1 }));
  server.tool("fails", either, () => {
    throw new ToolError("It broke");
  });
  server.tool("asks", slow, async (_args, ctx) => {
    const { action, content } = await ctx.elicit("Who?", z.object({ name: z.string() }));
    return `${action} ${content?.name}`;
  });
  server.tool("never", {}, () => "done");
  return { server, release: released.resolve, isStopped: () => isStopped };
}

function held(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function open(server: Server, options: ClientOptions = {}): Promise<Client> {
  return connect(server, { revision: core, ...options });
}

test.each([
  ["soon", 1_000],
  [null, 1_000],
  [-1, 50],
  [1e300, 60_000],
])("a task that its server wants to be looked at every %j ms is looked at after %j", async (pollInterval, wait) => {
  await using open = await openWith(core, {}, capabilities);
  const answer = async (result: object): Promise<void> =>
    open.peer.send(success(parse(await open.peer.next()).id ?? "", result));
  const result = open.client.tasks.result("t");
  await answer({ taskId: "t", status: "working", pollInterval });
  await turn();
  const before = open.sent.length;
  open.clock.advance(wait - 1);
  await turn();
  expect(open.sent).toHaveLength(before);
  open.clock.advance(1);
  await answer({ taskId: "t", status: "completed" });
  await answer({ content: [] });
  expect(await result).toEqual({ content: [] });
});

describe("a call that goes on as a task", () => {
  test("is started, looked after, and gives its result", async () => {
    const { server, release } = workshop();
    await using client = await open(server);
    const task = await client.tools.start("slow", {}, { ttl: 60_000 });
    expect(task).toMatchObject({ status: "working", ttl: 60_000 });
    expect(await client.tasks.get(task.taskId)).toMatchObject({ taskId: task.taskId, status: "working" });
    expect((await client.tasks.list().all()).map(({ taskId }) => taskId)).toEqual([task.taskId]);
    release();
    expect((await client.tasks.result(task.taskId)).content).toEqual([{ type: "text", text: "worked" }]);
    expect((await client.tasks.get(task.taskId)).status).toBe("completed");
    assertNoLeaks(client.connection);
  });

  test("fails as the tool fails", async () => {
    await using client = await open(workshop().server);
    const { taskId } = await client.tools.start("fails");
    expect(await client.tasks.result(taskId)).toMatchObject({ isError: true, content: [{ text: "It broke" }] });
    expect((await client.tasks.get(taskId)).status).toBe("failed");
  });

  test("can be stopped, once", async () => {
    const { server, release, isStopped } = workshop();
    await using client = await open(server);
    const { taskId } = await client.tools.start("slow");
    expect((await client.tasks.cancel(taskId)).status).toBe("cancelled");
    expect(isStopped()).toBe(true);
    expect(await errorOf(client.tasks.cancel(taskId))).toMatchObject({ code: -32_602 });
    expect(await errorOf(client.tasks.result(taskId))).toMatchObject({ code: -32_602 });
    release();
  });

  test("may ask, and is answered like any call", async () => {
    const answers: InputHandlers = { elicitation: () => ({ action: "accept", content: { name: "Ada" } }) };
    await using client = await open(workshop().server, { handlers: answers });
    const { taskId } = await client.tools.start("asks");
    expect((await client.tasks.result(taskId)).content).toEqual([{ type: "text", text: "accept Ada" }]);
  });

  test("that does not exist is an error of the server", async () => {
    await using client = await open(workshop().server);
    for (const act of [client.tasks.get("none"), client.tasks.result("none"), client.tasks.cancel("none")]) {
      expect(await errorOf(act)).toMatchObject({ name: "RpcError", code: -32_602 });
    }
    expect(await errorOf(client.tools.start("never"))).toMatchObject({ code: -32_601 });
  });
});

describe("a tool that runs only as a task", () => {
  test.each(versions)("is called as any other, once it is listed: %s", async (revision) => {
    const { server, release } = workshop();
    release();
    await using client = await open(server, { revision });
    await client.tools.list().all();
    expect((await client.tools.call("slow")).content).toEqual([{ type: "text", text: "worked" }]);
    expect((await client.tools.call("quick")).content).toEqual([{ type: "text", text: '{"n":1}' }]);
    assertNoLeaks(client.connection);
  });

  test("is stopped when its caller no longer waits", async () => {
    const { server, release, isStopped } = workshop();
    await using client = await open(server);
    await client.tools.list().all();
    const stop = new AbortController();
    const call = errorOf(client.tools.call("slow", {}, { signal: stop.signal }));
    await turn();
    stop.abort();
    expect(await call).toMatchObject({ reason: "cancelled" });
    await turn();
    expect(isStopped()).toBe(true);
    release();
  });
});

describe("the status of a task is polled at the interval of its server", () => {
  const task = { taskId: "1", status: "working", createdAt: "", lastUpdatedAt: "", ttl: null };

  test.each([
    [undefined, 1_000],
    [5_000, 5_000],
    [0, 50],
    [-1, 50],
    [10_000_000, 60_000],
  ])("at an interval of %s: every %s ms", async (pollInterval, interval) => {
    await using open = await openWith(core, {}, capabilities);
    const result = open.client.tasks.result("1");
    const answer = async (method: string, value: object): Promise<void> => {
      const asked = parse(await open.peer.next());
      expect(asked.method).toBe(method);
      open.peer.send(success(asked.id ?? "", value));
      await turn();
    };
    await answer("tasks/get", { ...task, pollInterval });
    const before = open.sent.length;
    open.clock.advance(interval - 1);
    await turn();
    expect(open.sent).toHaveLength(before);
    open.clock.advance(1);
    await answer("tasks/get", { ...task, status: "completed" });
    await answer("tasks/result", { content: [] });
    expect(await result).toEqual({ content: [] });
  });

  test("and not for longer than the caller waits", async () => {
    await using open = await openWith(core, {}, capabilities);
    const result = errorOf(open.client.tasks.result("1", { totalTimeout: 300 }));
    open.peer.send(success(parse(await open.peer.next()).id ?? "", task));
    await turn();
    open.clock.advance(300);
    await open.peer.next();
    open.clock.advance(1);
    expect(await result).toMatchObject({ reason: "timeout" });
    await open.peer.next(); // The cancellation of the last question.
  });
});

const without = versions.filter((version) => revisionOf(version)?.facts.tasks !== "core");

test.each(without)("in %s there are none", async (revision) => {
  await using client = await open(workshop().server, { revision });
  expect(await errorOf(client.tools.start("slow"))).toMatchObject({ reason: "refused" });
  expect(await errorOf(client.tasks.get("1"))).toMatchObject({ reason: "refused" });
  expect(await errorOf(client.tasks.list().all())).toMatchObject({ reason: "refused" });
});

test("a server that has not advertised them is not asked for them", async () => {
  await using open = await openWith(core);
  expect(await errorOf(open.client.tools.start("t"))).toMatchObject({ reason: "refused" });
  expect(await errorOf(open.client.tasks.get("1"))).toMatchObject({
    message: "tasks/get: the server has not advertised the capability tasks; { unadvertised: true } sends it anyway",
  });
});
