import { createServer, type Servable } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { failure, initialize, initialized, notification, parse, request, stateless } from "../../testing/frames.js";
import { echoServer } from "../../testing/servers.js";
import { conversationWith, expectAlive, talkTo } from "../../testing/talks.js";

describe("initialize asks for a version, and settles on", () => {
  test.each([
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
    ["2099-01-01", "2025-11-25"],
    ["2024-10-07", "2025-11-25"],
    ["1.0.0", "2025-11-25"],
    ["0.1.0", "2025-11-25"],
    ["", "2025-11-25"],
    [" 2025-06-18", "2025-11-25"],
    ["__proto__", "2025-11-25"],
    ["constructor", "2025-11-25"],
  ])("%j: %s", async (asked, answered) => {
    await using talk = talkTo(echoServer());
    expect(parse(await talk.ask(initialize(asked))).result?.protocolVersion).toBe(answered);
    talk.peer.send(initialized);
    expect(parse(await talk.ask(request(1, "tools/list"))).error).toBeUndefined();
  });

  test("a revision for good: nothing that is said later changes it", async () => {
    await using talk = await conversationWith(echoServer(), "2024-11-05");
    await talk.ask(stateless(1, "tools/list"));
    await talk.ask(initialize("2025-11-25", 2));
    expect(parse(await talk.ask(request(3, "tasks/list"))).error?.code).toBe(-32_601);
    expect(parse(await talk.ask(request(4, "tools/list"))).result).not.toHaveProperty("ttlMs");
  });
});

describe("initialize with params that do not fit names each fault, and can be sent again:", () => {
  const fits = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };

  test.each<[string, object | undefined, readonly (readonly [string, string])[]]>([
    [
      "none at all",
      undefined,
      [
        ["/protocolVersion", "must be a string, got nothing"],
        ["/capabilities", "must be an object, got nothing"],
        ["/clientInfo", "must be an object, got nothing"],
      ],
    ],
    [
      "a version that is a number",
      { ...fits, protocolVersion: 20_251_125 },
      [["/protocolVersion", "must be a string, got a number"]],
    ],
    [
      "capabilities that are an array",
      { ...fits, capabilities: [] },
      [["/capabilities", "must be an object, got an array"]],
    ],
    ["capabilities that are null", { ...fits, capabilities: null }, [["/capabilities", "must be an object, got null"]]],
    ["a client that is a text", { ...fits, clientInfo: "raw" }, [["/clientInfo", "must be an object, got a string"]]],
    [
      "a client without a name and a version",
      { ...fits, clientInfo: {} },
      [
        ["/clientInfo/name", "must be a string, got nothing"],
        ["/clientInfo/version", "must be a string, got nothing"],
      ],
    ],
  ])("%s", async (_name, params, faults) => {
    await using talk = talkTo(echoServer());
    const errors = faults.map(([path, message]) => ({ path, message }));
    expect(await talk.ask(request(0, "initialize", params))).toBe(failure(0, -32_602, "Invalid params", { errors }));
    expect(parse(await talk.ask(initialize("2025-11-25"))).result?.protocolVersion).toBe("2025-11-25");
  });

  test("params by position", async () => {
    await using talk = talkTo(echoServer());
    const answer = parse(await talk.ask('{"jsonrpc":"2.0","id":0,"method":"initialize","params":["2025-11-25"]}'));
    expect(answer).toMatchObject({ id: 0, error: { code: -32_602, data: { pointer: "/params" } } });
  });

  test("unknown members are allowed", async () => {
    await using talk = talkTo(echoServer());
    const params = {
      ...fits,
      capabilities: { extensions: {}, unheard: 1 },
      clientInfo: { ...fits.clientInfo, mood: 1 },
    };
    expect(parse(await talk.ask(request(0, "initialize", { ...params, more: [] }))).error).toBeUndefined();
  });
});

describe("a method that is not there is -32601 and named:", () => {
  const everywhere = ["no/such", "Tools/list", "tools/list ", "", "__proto__", "constructor", "toString", "valueOf"];
  const server = ["sampling/createMessage", "roots/list", "elicitation/create"];
  const notifications = ["notifications/initialized", "notifications/cancelled"];
  const unoffered = ["resources/list", "resources/read", "prompts/list", "prompts/get", "completion/complete"];
  const tasks = ["tasks/get", "tasks/list", "tasks/result", "tasks/cancel"];

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])("in %s", async (version) => {
    await using talk = await conversationWith(echoServer(), version);
    for (const method of [...everywhere, ...server, ...notifications, ...unoffered, ...tasks]) {
      expect(await talk.ask(request(1, method))).toBe(failure(1, -32_601, "Method not found", { method }));
    }
  });

  test("without a tool there is no tools/list", async () => {
    await using talk = talkTo(createServer({ name: "empty", version: "1" }));
    expect(parse(await talk.ask(initialize("2025-11-25"))).result?.capabilities).toEqual({ logging: {} });
    talk.peer.send(initialized);
    expect(parse(await talk.ask(request(1, "tools/list"))).error?.code).toBe(-32_601);
    expect(parse(await talk.ask(request(2, "tools/call", { name: "x" }))).error?.code).toBe(-32_601);
  });

  test.each(["server/discover", "subscriptions/listen"])(
    "but %s, which can only mean the stateless era, is told what it lacks",
    async (method) => {
      await using talk = await conversationWith(echoServer(), "2025-11-25");
      const errors = [{ path: "/_meta", message: "must be an object" }];
      expect(await talk.ask(request(1, method))).toBe(failure(1, -32_602, "Invalid params", { errors }));
    },
  );
});

describe("the facts of the server are those of the revision:", () => {
  const complete = notification("notifications/elicitation/complete", { elicitationId: "1" });
  const telling: Servable = {
    ...echoServer(),
    run(_method, _params, operation) {
      operation.notify("notifications/elicitation/complete", { elicitationId: "1" });
      return { tools: [] };
    },
  };

  test("a notification goes out where there is one of its name", async () => {
    await using talk = await conversationWith(telling, "2025-11-25");
    expect(await talk.ask(request(1, "tools/list"))).toBe(complete);
    expect(parse(await talk.peer.next()).result).toEqual({ tools: [] });
  });

  test("and is kept where there is none", async () => {
    await using talk = await conversationWith(telling, "2025-06-18");
    expect(parse(await talk.ask(request(1, "tools/list"))).result).toEqual({ tools: [] });
    expect(parse(await talk.ask(stateless(2, "tools/list"))).result).toMatchObject({ tools: [] });
  });
});

describe("a notification is never answered:", () => {
  test.each([
    ["unknown", notification("notifications/new", { some: "thing" })],
    ["of the other side", notification("notifications/tools/list_changed")],
    ["of the other era", notification("notifications/subscriptions/acknowledged")],
    ["a request's method", notification("tools/call", { name: "echo", arguments: { text: "x" } })],
    ["initialize", notification("initialize", { protocolVersion: "2025-11-25" })],
    ["with params by position", '{"jsonrpc":"2.0","method":"notifications/progress","params":[1]}'],
    ["with params null", '{"jsonrpc":"2.0","method":"notifications/progress","params":null}'],
    ["without jsonrpc", '{"method":"notifications/roots/list_changed"}'],
    ["with a result", '{"jsonrpc":"2.0","method":"notifications/initialized","result":{}}'],
    ["progress of nothing", notification("notifications/progress", { progressToken: 1, progress: 1 })],
    ["a cancel of nothing", notification("notifications/cancelled", { requestId: 99, reason: "why not" })],
    ["a cancel without an id", notification("notifications/cancelled", {})],
    ["a cancel with an invalid id", notification("notifications/cancelled", { requestId: { id: 1 } })],
    ["with a claim", notification("notifications/new", { _meta: { "io.modelcontextprotocol/protocolVersion": "x" } })],
  ])("%s", async (_name, frame) => {
    await using talk = await conversationWith(echoServer(), "2025-11-25");
    talk.peer.send(frame);
    await expectAlive(talk);
  });
});
