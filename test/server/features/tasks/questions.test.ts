import { elicitForm, inputRequired } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { success } from "../../../testing/frames.js";
import { turn } from "../../../testing/talks.js";
import { related, type TaskOnWire, taskPeer, text, workshop } from "./tasks.js";

describe("a task that asks", () => {
  test("waits for input, requests it from the client that waits for its result, and works on", async () => {
    await using peer = await taskPeer(workshop().server);
    const { taskId } = await peer.start("asks");
    expect((await peer.get(taskId)).status).toBe("input_required");
    const waits = peer.send("tasks/result", { taskId });
    const question = await peer.next();
    expect(question).toMatchObject({
      method: "elicitation/create",
      params: { message: "Who?", mode: "form", _meta: related(taskId) },
    });
    peer.talk.peer.send(success(question.id ?? "", { action: "accept", content: { name: "Ada" } }));
    expect(await peer.next()).toMatchObject({ id: waits, result: { content: [{ text: "for Ada" }] } });
    expect(peer.told).toEqual([`${taskId} input_required`, `${taskId} working`, `${taskId} completed`]);
  });

  test("asks at once if somebody waits already", async () => {
    await using peer = await taskPeer(workshop().server);
    peer.send("tools/call", { name: "asks", task: {} });
    const { task } = (await peer.next()).result as unknown as { task: TaskOnWire };
    peer.send("tasks/result", { taskId: task.taskId });
    const question = await peer.next();
    peer.talk.peer.send(success(question.id ?? "", { action: "decline" }));
    expect(text((await peer.next()).result ?? {})).toBe("for undefined");
  });

  test("is cancelled with its question", async () => {
    await using peer = await taskPeer(workshop().server);
    const { taskId } = await peer.start("asks");
    peer.send("tasks/result", { taskId });
    const question = await peer.next();
    peer.send("tasks/cancel", { taskId });
    const frames = [await peer.next(), await peer.next(), await peer.next()];
    expect(frames.find(({ method }) => method === "notifications/cancelled")).toMatchObject({
      params: { requestId: question.id },
    });
    expect(frames.find(({ result }) => result?.status === "cancelled")).toBeDefined();
    expect(peer.told.at(-1)).toBe(`${taskId} cancelled`);
  });

  test("of a client that cannot be asked fails", async () => {
    await using peer = await taskPeer(workshop().server, {});
    const { taskId } = await peer.start("asks");
    expect(await peer.errorOf("tasks/result", { taskId })).toMatchObject({
      code: -32_600,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    expect(peer.told).toEqual([`${taskId} failed`]);
  });
});

test("a handler that returns its questions is run again inside of its task", async () => {
  const { server } = workshop();
  server.tool("returning", { execution: { taskSupport: "required" } }, (_args, ctx) => {
    if (ctx.inputResponses.who !== undefined) return JSON.stringify([ctx.inputResponses.who, ctx.requestState]);
    return inputRequired({ who: elicitForm("Who?", z.object({ name: z.string() })) }, { asked: 1 });
  });
  await using peer = await taskPeer(server);
  const { taskId } = await peer.start("returning");
  const waits = peer.send("tasks/result", { taskId });
  const { id = "" } = await peer.next();
  peer.talk.peer.send(success(id, { action: "decline" }));
  expect(await peer.next()).toMatchObject({
    id: waits,
    result: { content: [{ text: '[{"action":"decline"},{"asked":1}]' }] },
  });
  expect(peer.told).toEqual([`${taskId} input_required`, `${taskId} working`, `${taskId} completed`]);
});

test("an input request that its handler does not await is cancelled at the end, and changes nothing after it", async () => {
  const { server } = workshop();
  server.tool("careless", { execution: { taskSupport: "required" } }, (_args, ctx) => {
    void ctx.listRoots();
    return new Promise((resolve) => setImmediate(() => resolve("done")));
  });
  await using peer = await taskPeer(server);
  const { taskId } = await peer.start("careless");
  peer.send("tasks/result", { taskId });
  const { id = "" } = await peer.next();
  expect(await peer.next()).toMatchObject({ method: "notifications/cancelled", params: { requestId: id } });
  expect(text((await peer.next()).result ?? {})).toBe("done");
  peer.talk.peer.send(success(id, { roots: [] }));
  await turn();
  expect((await peer.get(taskId)).status).toBe("completed");
  expect(peer.told).toEqual([`${taskId} input_required`, `${taskId} completed`]);
});

test("several questions at once are one time of waiting for input", async () => {
  const { server } = workshop();
  server.tool("both", { execution: { taskSupport: "required" } }, async (_args, ctx) => {
    const schema = z.object({ name: z.string() });
    const { a, b } = await ctx.requestInput({ a: elicitForm("A?", schema), b: elicitForm("B?", schema) });
    return `${a.action} ${b.action}`;
  });
  await using peer = await taskPeer(server);
  const { taskId } = await peer.start("both");
  peer.send("tasks/result", { taskId });
  for (const { id = "" } of [await peer.next(), await peer.next()]) {
    expect((await peer.get(taskId)).status).toBe("input_required");
    peer.talk.peer.send(success(id, { action: "decline" }));
  }
  expect(text((await peer.next()).result ?? {})).toBe("decline decline");
  expect(peer.told).toEqual([`${taskId} input_required`, `${taskId} working`, `${taskId} completed`]);
});
