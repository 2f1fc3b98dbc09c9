import { createServer, elicitForm, RpcError, type Server, ToolError } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import type { OperationEnd } from "../../packages/mcp/src/server/pipeline.js";
import { stateless } from "../testing/frames.js";
import { talkTo, turn } from "../testing/talks.js";
import { speak } from "./speak.js";

const info = { name: "layered", version: "1" };

function adding(): Server {
  const server = createServer(info);
  server.tool("a", {}, () => "answer");
  server.tool("b", {}, () => "answer");
  return server;
}

describe("a middleware", () => {
  test("sees every call, its params and its result in the newest shape; the first is the outermost", async () => {
    const server = adding();
    const seen: unknown[] = [];
    for (const name of ["outer", "inner"]) {
      server.use((next) => async (method, params, operation) => {
        seen.push([name, method, params.name, operation.revision.version]);
        const result = await next(method, params, operation);
        seen.push([name, result]);
        return result;
      });
    }
    await using peer = await speak(server, "2024-11-05");
    await peer.result("tools/call", { name: "a" });
    const result = { content: [{ type: "text", text: "answer" }] };
    expect(seen).toEqual([
      ["outer", "tools/call", "a", "2024-11-05"],
      ["inner", "tools/call", "a", "2024-11-05"],
      ["inner", result],
      ["outer", result],
    ]);
  });

  test("is made once, and may keep something from call to call", async () => {
    const server = adding();
    server.use((next) => {
      let left = 2;
      return (method, params, operation) => {
        if (left === 0) throw new RpcError(429, "Enough");
        left -= 1;
        return next(method, params, operation);
      };
    });
    server.use((next) => next);
    await using peer = await speak(server, "2026-07-28");
    await peer.result("tools/list");
    await peer.result("tools/call", { name: "a" });
    expect(await peer.error("tools/list")).toEqual({ code: 429, message: "Enough" });
  });

  test("may change a list, and what it lets through is not affected by what it does not", async () => {
    const server = adding();
    server.use((next) => (method, params, operation) => {
      const result = next(method, params, operation) as { tools: { name: string }[] };
      if (method !== "tools/list" || operation.client.info?.name !== undefined) return result;
      return { ...result, tools: result.tools.filter(({ name }) => name === "b") };
    });
    await using stranger = await speak(server, "2026-07-28");
    await using known = await speak(server, "2025-11-25");
    expect(await stranger.result("tools/list")).toMatchObject({ tools: [{ name: "b" }] });
    expect(await known.result("tools/list")).toMatchObject({ tools: [{ name: "a" }, { name: "b" }] });
    expect(await stranger.result("tools/list")).toMatchObject({ tools: [{ name: "b" }] });
  });

  test("cannot spoil a list that is kept", async () => {
    const server = adding();
    let spoils = true;
    server.use((next) => (method, params, operation) => {
      const result = next(method, params, operation) as { tools: unknown[] };
      if (spoils) result.tools.pop();
      return result;
    });
    await using peer = await speak(server, "2026-07-28");
    expect(await peer.error("tools/list")).toEqual({ code: -32_603, message: "Internal error" });
    spoils = false;
    expect((await peer.result("tools/list")).tools).toHaveLength(2);
  });

  test("stands around resources, prompts, completion and subscriptions as well", async () => {
    const server = adding();
    server.resource("a:1", {}, () => "");
    server.prompt("p", { arguments: { x: {} }, complete: { x: ["1"] } }, () => "");
    const methods: string[] = [];
    server.use((next) => (method, params, operation) => {
      methods.push(method);
      return next(method, params, operation);
    });
    await using peer = await speak(server, "2025-11-25");
    const argument = { name: "x", value: "" };
    for (const [method, params] of [
      ["resources/list", {}],
      ["resources/templates/list", {}],
      ["resources/read", { uri: "a:1" }],
      ["resources/subscribe", { uri: "a:1" }],
      ["resources/unsubscribe", { uri: "a:1" }],
      ["prompts/list", {}],
      ["prompts/get", { name: "p" }],
      ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument }],
    ] as const) {
      await peer.result(method, params);
      expect(methods.pop()).toBe(method);
    }
    await peer.result("ping");
    expect(methods).toEqual([]);
  });

  test("that refuses a subscription keeps it from being made", async () => {
    const server = adding();
    server.resource("a:1", {}, () => "");
    server.use((next) => (method, params, operation) => {
      if (method === "resources/subscribe") throw new RpcError(403, "Not for you");
      return next(method, params, operation);
    });
    await using peer = await speak(server, "2025-11-25");
    expect(await peer.error("resources/subscribe", { uri: "a:1" })).toEqual({ code: 403, message: "Not for you" });
    server.changed.resource("a:1");
    await turn();
    expect(await peer.result("ping")).toEqual({});
  });
});

test("one server may forward to another under its own name", async () => {
  const back = adding();
  const front = createServer({ name: "front", version: "2" });
  front.tool("own", {}, () => "");
  front.use(
    (next) => (method, params, operation) =>
      method.startsWith("tools/") ? back.run(method, params, operation) : next(method, params, operation),
  );
  for (const [server, serverInfo] of [
    [front, { name: "front", version: "2" }],
    [back, info],
    [front, { name: "front", version: "2" }],
  ] as const) {
    await using peer = await speak(server, "2026-07-28");
    const { result = {} } = await peer.ask("tools/list");
    expect(result._meta).toEqual({ "io.modelcontextprotocol/serverInfo": serverInfo });
  }
});

describe("the hooks", () => {
  function hooked(): { server: Server; heard: unknown[] } {
    const heard: unknown[] = [];
    const begun = new Set<unknown>();
    const server = createServer({
      ...info,
      onCall(call) {
        begun.add(call);
        heard.push([call.method, call.params.name]);
      },
      onEnd(call, end) {
        expect(begun.delete(call)).toBe(true);
        heard.push(described(end));
      },
    });
    server.tool("fine", {}, () => "answer");
    server.tool("later", {}, () => Promise.resolve("answer"));
    server.tool("failed", {}, () => {
      throw new ToolError("no");
    });
    server.tool("broken", {}, () => Promise.reject(new Error("a bug")));
    server.tool("asks", {}, async (_args, ctx) => {
      const { who } = await ctx.requestInput({ who: elicitForm("Who?", { type: "object", properties: {} }) });
      return who.action;
    });
    server.tool(
      "slow",
      {},
      (_args, ctx) => new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", reject)),
    );
    return { server, heard };
  }

  function described(end: OperationEnd): string {
    if (end.kind === "error") return `error: ${String(end.error)}`;
    return end.kind === "result" ? `result: ${JSON.stringify(end.result)}` : end.kind;
  }

  test.each([
    ["fine", 'result: {"content":[{"type":"text","text":"answer"}]}'],
    ["later", 'result: {"content":[{"type":"text","text":"answer"}]}'],
    ["failed", 'result: {"content":[{"type":"text","text":"no"}],"isError":true}'],
    ["broken", "error: Error: a bug"],
    ["unknown", "error: RpcError: Unknown tool: unknown"],
  ])("hear what was called and how it ended: %s", async (name, end) => {
    const { server, heard } = hooked();
    await using peer = await speak(server, "2026-07-28");
    await peer.ask("tools/call", { name });
    expect(heard).toEqual([["tools/call", name], end]);
  });

  test("are called for input requests, and for cancelled calls", async () => {
    const { server, heard } = hooked();
    await using talk = talkTo(server);
    const capable = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    await talk.ask(stateless(1, "tools/call", { name: "asks" }, capable));
    talk.peer.send(stateless(2, "tools/call", { name: "slow" }));
    talk.peer.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}');
    await turn();
    expect(heard).toEqual([["tools/call", "asks"], "asked", ["tools/call", "slow"], "cancelled"]);
  });

  test("are called for unknown methods, and see the changes of middlewares", async () => {
    const { server, heard } = hooked();
    server.use(() => () => ({ resources: [] }));
    await using peer = await speak(server, "2026-07-28");
    await peer.result("resources/list");
    expect(heard).toEqual([["resources/list", undefined], 'result: {"resources":[]}']);
  });

  test("are no part of what a server says of itself", async () => {
    const { server } = hooked();
    expect(server.info).toEqual(info);
  });
});
