import { RpcError } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { notification, request } from "../../../testing/frames.js";
import { turn } from "../../../testing/talks.js";
import { related, type TaskOnWire, taskPeer, text, workshop } from "./tasks.js";

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

describe("a call that asks for a task", () => {
  test("is answered at once with a task that works", async () => {
    const { server, release } = workshop();
    await using peer = await taskPeer(server);
    const task = await peer.start("work", {}, { ttl: 60_000 });
    expect(task).toEqual({
      taskId: expect.stringMatching(uuid) as string,
      status: "working",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      lastUpdatedAt: task.createdAt,
      ttl: 60_000,
      pollInterval: 1_000,
    });
    release();
    expect(text(await peer.result("tasks/result", { taskId: task.taskId }))).toBe("worked");
  });

  test("is answered before its handler says anything", async () => {
    await using peer = await taskPeer(workshop().server);
    peer.talk.peer.send(request(1, "tools/call", { name: "chats", task: {}, _meta: { progressToken: "p" } }));
    expect(await peer.next()).toMatchObject({ id: 1, result: { task: { status: "working" } } });
    for (const method of ["progress", "message", "progress"]) {
      expect((await peer.next()).method).toBe(`notifications/${method}`);
    }
    await expect(peer.result("ping")).resolves.toEqual({});
  });

  test("gets the time that it asks for, as far as the server goes", async () => {
    const { server } = workshop({ tasks: { ttl: 5, maxTtl: 50 } });
    await using peer = await taskPeer(server);
    expect((await peer.start("quick")).ttl).toBe(5);
    expect((await peer.start("quick", {}, { ttl: 40 })).ttl).toBe(40);
    expect((await peer.start("quick", {}, { ttl: 60 })).ttl).toBe(50);
  });

  test.each([
    [null, "/task"],
    [[], "/task"],
    [true, "/task"],
    [{ ttl: "1" }, "/task/ttl"],
    [{ ttl: -1 }, "/task/ttl"],
    [{ ttl: 1.5 }, "/task/ttl"],
    [{ ttl: null }, "/task/ttl"],
  ])("with %j is refused, and the fault has its place %s", async (task, path) => {
    await using peer = await taskPeer(workshop().server);
    expect(await peer.errorOf("tools/call", { name: "quick", task })).toMatchObject({
      code: -32_602,
      data: { errors: [{ path }] },
    });
  });

  test("of an unknown tool is refused as any other", async () => {
    await using peer = await taskPeer(workshop().server);
    const error = await peer.errorOf("tools/call", { name: "nothing", task: {} });
    expect(error).toEqual(await peer.errorOf("tools/call", { name: "nothing" }));
    expect(error.code).toBe(-32_602);
  });
});

describe("a tool says how it may be called", () => {
  test("one that requires a task is refused without", async () => {
    await using peer = await taskPeer(workshop().server);
    expect(await peer.errorOf("tools/call", { name: "required" })).toMatchObject({
      code: -32_601,
      data: { method: "tools/call", reason: "this tool runs as a task only" },
    });
    const { taskId } = await peer.start("required");
    expect(text(await peer.result("tasks/result", { taskId }))).toBe("done");
  });

  test("one that says nothing is refused as a task", async () => {
    await using peer = await taskPeer(workshop().server);
    expect(await peer.errorOf("tools/call", { name: "plain", task: {} })).toMatchObject({ code: -32_601 });
    expect(text(await peer.result("tools/call", { name: "plain" }))).toBe("done");
  });

  test("one that may run as a task is called either way", async () => {
    await using peer = await taskPeer(workshop().server);
    expect(text(await peer.result("tools/call", { name: "quick" }))).toBe("done");
    const { taskId } = await peer.start("quick");
    expect(text(await peer.result("tasks/result", { taskId }))).toBe("done");
  });

  test("and the list of tools says it too", async () => {
    await using peer = await taskPeer(workshop().server);
    const { tools } = await peer.result("tools/list");
    const said = (tools as readonly { name: string; execution?: { taskSupport: string } }[]).map(
      ({ name, execution }) => `${name} ${execution?.taskSupport}`,
    );
    expect(said).toContain("work optional");
    expect(said).toContain("required required");
    expect(said).toContain("plain undefined");
  });
});

describe("the result of a task", () => {
  test("is waited for, is that of the call, and names the task", async () => {
    const { server, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    const waits = [peer.send("tasks/result", { taskId }), peer.send("tasks/result", { taskId })];
    expect(await peer.result("ping")).toEqual({});
    release();
    for (const id of waits) {
      expect(await peer.next()).toEqual({
        jsonrpc: "2.0",
        id,
        result: { content: [{ type: "text", text: "worked" }], _meta: related(taskId) },
      });
    }
    expect((await peer.get(taskId)).status).toBe("completed");
    expect(peer.told).toEqual([`${taskId} completed`]);
  });

  test("of a tool that fails is a result, and the task has failed with its text", async () => {
    await using peer = await taskPeer(workshop().server);
    const { taskId } = await peer.start("fails");
    expect(await peer.result("tasks/result", { taskId })).toEqual({
      content: [{ type: "text", text: "out of paper" }],
      isError: true,
      _meta: related(taskId),
    });
    expect(await peer.get(taskId)).toMatchObject({ status: "failed", statusMessage: "out of paper" });
  });

  test("of a call that ends with an error is that error", async () => {
    const { server, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    release(new RpcError(7, "No more", { left: 0 }));
    expect(await peer.errorOf("tasks/result", { taskId })).toEqual({ code: 7, message: "No more", data: { left: 0 } });
    expect(await peer.get(taskId)).toMatchObject({ status: "failed", statusMessage: "No more" });
  });

  test("of a call that ends with an error of another revision hides it, and that is reported", async () => {
    const { server, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    release(new RpcError(-32_022, "Another version", { supported: [], requested: "" }));
    expect(await peer.errorOf("tasks/result", { taskId })).toEqual({ code: -32_603, message: "Internal error" });
    expect(peer.talk.reports.join()).toContain("has no error -32022");
  });

  test("of a call that fails with a bug hides it, and the bug is reported once", async () => {
    const { server, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    release(new Error("a secret"));
    const first = await peer.errorOf("tasks/result", { taskId });
    expect(first).toEqual({ code: -32_603, message: "Internal error" });
    expect(await peer.errorOf("tasks/result", { taskId })).toEqual(first);
    expect(peer.talk.reports.filter((each) => each.includes("a secret"))).toHaveLength(1);
  });

  test("is not waited for any more when the waiting is cancelled, and the task goes on", async () => {
    const { server, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    const requestId = peer.send("tasks/result", { taskId });
    peer.talk.peer.send(notification("notifications/cancelled", { requestId }));
    expect((await peer.get(taskId)).status).toBe("working");
    await turn();
    expect(peer.talk.connection.inFlight.running).toBe(0);
    release();
    expect(text(await peer.result("tasks/result", { taskId }))).toBe("worked");
  });
});

describe("what a task says", () => {
  test("names it, under the token that the call has brought", async () => {
    await using peer = await taskPeer(workshop().server);
    const { taskId } = await peer.start("chats", { _meta: { progressToken: "p" } });
    const frames = [await peer.next(), await peer.next(), await peer.next()];
    expect(frames.map(({ method }) => method?.split("/")[1])).toEqual(["progress", "message", "progress"]);
    for (const { params } of frames) expect(params?._meta).toEqual(related(taskId));
    expect(frames[0]?.params).toMatchObject({ progressToken: "p", progress: 1, total: 2 });
  });

  test("stops at its end", async () => {
    const { server } = workshop();
    let late = (): void => undefined;
    server.tool("late", { execution: { taskSupport: "optional" } }, (_args, ctx) => {
      late = () => {
        void ctx.progress(1);
        ctx.log("error", "too late");
      };
      return "done";
    });
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("late", { _meta: { progressToken: 1 } });
    await peer.result("tasks/result", { taskId });
    late();
    expect((await peer.ask("ping")).result).toEqual({});
  });

  test("is not in what is said of it: get, list and cancel name it themselves", async () => {
    const { server, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    for (const result of [await peer.get(taskId), await peer.result("tasks/list"), await peer.cancel(taskId)]) {
      expect(result).not.toHaveProperty("_meta");
    }
    release();
  });
});

describe("a task that is cancelled", () => {
  test("is cancelled before the answer, its handler is aborted, and it stays so", async () => {
    const { server, aborted, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    expect(await peer.cancel(taskId)).toMatchObject({ taskId, status: "cancelled" });
    expect(peer.told).toEqual([`${taskId} cancelled`]);
    expect(aborted).toEqual(["The client cancelled the task"]);
    release("too late");
    await turn();
    expect((await peer.get(taskId)).status).toBe("cancelled");
    expect(await peer.errorOf("tasks/result", { taskId })).toMatchObject({ code: -32_602 });
  });

  test("is not by a notification, which is for calls that were not answered", async () => {
    const { server, aborted, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    for (const requestId of [1, "1", taskId]) {
      peer.talk.peer.send(notification("notifications/cancelled", { requestId }));
    }
    expect((await peer.get(taskId)).status).toBe("working");
    expect(aborted).toEqual([]);
    release("done");
    expect((await peer.result("tasks/result", { taskId })).content).toMatchObject([{ text: "done" }]);
  });

  test("lets those who wait for its result know", async () => {
    const { server, release } = workshop();
    await using peer = await taskPeer(server);
    const { taskId } = await peer.start("work");
    const waits = peer.send("tasks/result", { taskId });
    const cancels = peer.send("tasks/cancel", { taskId });
    const answers = [await peer.next(), await peer.next()];
    expect(answers.find(({ id }) => id === waits)).toMatchObject({ error: { code: -32_602 } });
    expect(answers.find(({ id }) => id === cancels)).toMatchObject({ result: { status: "cancelled" } });
    release(new Error("stopped"));
    await turn();
    expect(peer.talk.reports).toEqual([]);
  });

  test.each(["quick", "fails"])("cannot be one that has ended: %s", async (name) => {
    await using peer = await taskPeer(workshop().server);
    const { taskId } = await peer.start(name);
    const { status } = await peer.get(taskId);
    expect(await peer.errorOf("tasks/cancel", { taskId })).toMatchObject({
      code: -32_602,
      data: { errors: [{ path: "/taskId", message: `is a task that has ended: its status is ${status}` }] },
    });
    expect((await peer.get(taskId)).status).toBe(status);
  });
});

describe("the list of tasks", () => {
  test("has every task in the order of their making, in pages", async () => {
    const { server } = workshop({ pageSize: 2 });
    await using peer = await taskPeer(server);
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.push((await peer.start("quick")).taskId);
    const listed: TaskOnWire[] = [];
    let cursor: unknown;
    do {
      const page = await peer.result("tasks/list", cursor === undefined ? undefined : { cursor });
      expect((page.tasks as unknown[]).length).toBeLessThanOrEqual(2);
      listed.push(...(page.tasks as TaskOnWire[]));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(listed.map(({ taskId }) => taskId)).toEqual(made);
    expect(listed[0]).toEqual(await peer.get(made[0] ?? ""));
  });

  test("refuses a cursor that it has not given", async () => {
    await using peer = await taskPeer(workshop().server);
    expect(await peer.errorOf("tasks/list", { cursor: "nonsense" })).toMatchObject({ code: -32_602 });
  });
});

describe.each(["tasks/get", "tasks/result", "tasks/cancel"])("%s", (method) => {
  test.each([["unknown"], [""], [7], [undefined], [null]])("refuses the id %j", async (taskId) => {
    await using peer = await taskPeer(workshop().server);
    expect(await peer.errorOf(method, { taskId })).toMatchObject({
      code: -32_602,
      data: { errors: [{ path: "/taskId" }] },
    });
  });

  test("knows no task of another conversation", async () => {
    const { server } = workshop();
    await using peer = await taskPeer(server);
    await using other = await taskPeer(server);
    const { taskId } = await peer.start("quick");
    expect(await other.errorOf(method, { taskId })).toEqual(await other.errorOf(method, { taskId: "unknown" }));
    expect(await other.result("tasks/list")).toEqual({ tasks: [] });
  });
});
