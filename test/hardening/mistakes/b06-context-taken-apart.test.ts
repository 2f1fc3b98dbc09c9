import { connect } from "@parlance/mcp/client";
import { createService, type Exchange, memoryChannels, openConnection } from "@parlance/mcp/jsonrpc";
import { serveHttp } from "@parlance/mcp/node";
import { type Context, createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { errorOf } from "../../client/session/openings.js";

const eras = ["2025-11-25", "2026-07-28"] as const;
const person = { type: "object", properties: { name: { type: "string" } } } as const;

/** A server with one tool. */
function using(handle: (context: Context) => unknown): Server {
  const server = createServer({ name: "apart", version: "1" });
  server.tool("use", {}, async (_args, context) => JSON.stringify(await handle(context)));
  return server;
}

describe.each(eras)("B6: the methods of a context in %s", (revision) => {
  test("work when they are taken apart from it", async () => {
    const server = using(async ({ log, progress, elicit, listRoots, once, requestInput, drained, release }) => {
      log("error", "taken apart");
      void progress(1);
      release();
      await drained();
      const first = await once("number", () => 7);
      const { content } = await elicit("Who?", person);
      return [first, content?.name, (await listRoots()).length, await requestInput({})];
    });
    const heard: unknown[] = [];
    await using client = await connect(server, {
      revision,
      onNotification: (method, params) => heard.push([method, params]),
      handlers: { elicitation: () => ({ action: "accept", content: { name: "Ada" } }), roots: [] },
    });
    await client.setLogLevel("error");
    const progress: unknown[] = [];
    const { content } = await client.tools.call("use", {}, { onProgress: (each) => progress.push(each.progress) });
    expect(content).toEqual([{ type: "text", text: '[7,"Ada",0,{}]' }]);
    expect(new Set(progress)).toEqual(new Set([1]));
    expect(heard).toContainEqual(["notifications/message", { level: "error", data: "taken apart" }]);
  });
});

describe.each(eras)("B6: a client capability that is missing in %s", (revision) => {
  test.each<[string, (context: Context) => unknown]>([
    ["elicitation.form", ({ elicit }) => elicit("Who?", person)],
    ["elicitation.url", ({ elicitUrl }) => elicitUrl("Log in", "https://example.com/login")],
    ["roots", ({ listRoots }) => listRoots()],
    ["sampling", ({ sample }) => sample({ messages: [], maxTokens: 1 })],
    ["sampling.tools", ({ sample }) => sample({ messages: [], maxTokens: 1, tools: [] })],
  ])("is named in the message: %s", async (path, handle) => {
    await using client = await connect(using(handle), { revision });
    const error = await errorOf(client.tools.call("use"));
    expect(error.message).toBe(`Missing required client capability: ${path}`);
  });
});

/** Uses the methods of a plain exchange after taking them apart from it. */
async function useApart({ notify, drained, release }: Exchange): Promise<string> {
  notify("changed", { to: 1 });
  await drained();
  release?.(1_000);
  return "used";
}

describe("B6: the methods of an exchange work when they are taken apart from it", () => {
  test("in a service", async () => {
    const changes: unknown[] = [];
    const service = createService().method("use", (_params, exchange) => useApart(exchange));
    const listener = createService().method("changed", (params) => changes.push(params));
    const [near, far] = memoryChannels();
    openConnection(far, { handle: service.call });
    const connection = openConnection(near, { handle: listener.call });
    expect(await connection.call("use")).toBe("used");
    expect(changes).toEqual([{ to: 1 }]);
    await connection.close();
  });

  test.each(eras)("in a method of an extension and in a middleware in %s, over HTTP", async (revision) => {
    const heard: string[] = [];
    const server = createServer({ name: "apart", version: "1" });
    server.method("example/use", async (_params, operation) => ({ outcome: await useApart(operation) }));
    server.use((next) => (method, params, operation) => {
      const { notify } = operation;
      if (method === "example/use") notify("example/seen");
      return next(method, params, operation);
    });
    const http = await serveHttp(server, { port: 0 });
    await using client = await connect(http.url, { revision, onNotification: (method) => heard.push(method) });
    expect(await client.call("example/use", {}, { unadvertised: true })).toMatchObject({ outcome: "used" });
    expect(heard).toEqual(["example/seen", "changed"]);
    await client.close();
    await http.close();
  });
});
