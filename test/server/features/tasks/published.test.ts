import { expect, test } from "vitest";
import { hasSchemas, problems } from "../../../protocol/revisions/published.js";
import { type Frame, initialize, parse, success } from "../../../testing/frames.js";
import { talkTo } from "../../../testing/talks.js";
import { taskPeer, version, workshop } from "./tasks.js";

const fits = (definition: string, value: unknown): void => {
  expect(value, definition).toBeDefined();
  expect(problems(version, definition, value), definition).toEqual([]);
};

test.skipIf(!hasSchemas)("everything that a server says of tasks fits the published schema", async () => {
  const { server } = workshop();
  await using peer = await taskPeer(server);
  fits("CreateTaskResult", (await peer.ask("tools/call", { name: "quick", task: {} })).result);
  const { taskId } = await peer.start("asks", { _meta: { progressToken: 1 } }, { ttl: 1_000 });
  const told = parse(await peer.talk.peer.next());
  fits("TaskStatusNotification", told);
  for (const [method, definition] of [
    ["tasks/get", "GetTaskResult"],
    ["tasks/list", "ListTasksResult"],
  ] as const) {
    fits(definition, (await peer.ask(method, { taskId })).result);
  }
  peer.send("tasks/result", { taskId });
  const question: Frame = await peer.next();
  fits("ElicitRequest", question);
  peer.talk.peer.send(success(question.id ?? "", { action: "accept", content: { name: "Ada" } }));
  fits("CallToolResult", (await peer.next()).result);
  const failed = await peer.start("fails");
  fits("GetTaskResult", await peer.get(failed.taskId));
  const chat = await peer.start("chats", { _meta: { progressToken: 1 } });
  fits("ProgressNotification", await peer.next());
  fits("LoggingMessageNotification", await peer.next());
  fits("ProgressNotification", await peer.next());
  fits("CallToolResult", await peer.result("tasks/result", { taskId: chat.taskId }));
  const { taskId: stopped } = await peer.start("asks");
  fits("CancelTaskResult", await peer.cancel(stopped));
  fits("ListToolsResult", await peer.result("tools/list"));
});

test.skipIf(!hasSchemas)("what is promised of tasks fits the published schema", async () => {
  await using talk = talkTo(workshop().server);
  const { result } = parse(await talk.ask(initialize(version)));
  expect(result?.capabilities).toHaveProperty("tasks");
  fits("InitializeResult", result);
});
