import { createServer } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { claim, failure, initialize, initialized, parse, request, stateless, success } from "../../testing/frames.js";
import { echoServer, echoTool, gatedServer } from "../../testing/servers.js";
import { conversationWith, expectAlive, talkTo } from "../../testing/talks.js";

const key = (name: string): string => `io.modelcontextprotocol/${name}`;
const path = (name: string): string => `/_meta/io.modelcontextprotocol~1${name}`;
const supported = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const me = { _meta: { [key("serverInfo")]: { name: "echo", version: "1.0.0" } } };

describe("a request that speaks for itself", () => {
  test("is answered without any other before it", async () => {
    await using talk = talkTo(echoServer());
    talk.peer.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}',
    );
    expect(await talk.peer.next()).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1.0.0"}}}}',
    );
  });

  test("and sends a discovery, gets versions, capabilities and how long they may be cached", async () => {
    await using talk = talkTo({ ...echoServer(), instructions: "Echo." });
    expect(parse(await talk.ask(stateless(1, "server/discover"))).result).toEqual({
      supportedVersions: supported,
      capabilities: { logging: {}, tools: { listChanged: true } },
      instructions: "Echo.",
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      ...me,
    });
  });

  test("and lists tools, gets how long the list may be cached", async () => {
    await using talk = talkTo(echoServer());
    const result = { ttlMs: 0, cacheScope: "private", tools: [echoTool], resultType: "complete", ...me };
    expect(await talk.ask(stateless(1, "tools/list"))).toBe(success(1, result));
  });

  test("may name its client, a level and a progress token", async () => {
    await using talk = talkTo(echoServer());
    const meta = { [key("clientInfo")]: { name: "raw", version: "1" }, [key("logLevel")]: "error", progressToken: "p" };
    expect(parse(await talk.ask(stateless(1, "tools/list", {}, meta))).error).toBeUndefined();
  });

  test("may have the id of a request that was answered", async () => {
    await using talk = talkTo(echoServer());
    for (let round = 0; round < 3; round += 1) {
      expect(parse(await talk.ask(stateless(1, "tools/list"))).result?.tools).toEqual([echoTool]);
    }
  });
});

describe("what _meta lacks is -32602, by name:", () => {
  const { [key("protocolVersion")]: version, [key("clientCapabilities")]: capabilities } = claim as Record<
    string,
    unknown
  >;
  const both = { [key("protocolVersion")]: version, [key("clientCapabilities")]: capabilities };

  test.each<[string, object | undefined, readonly (readonly [string, string])[]]>([
    ["no params", undefined, [["/_meta", "must be an object"]]],
    ["no _meta", {}, [["/_meta", "must be an object"]]],
    ["a _meta that is an array", { _meta: [both] }, [["/_meta", "must be an object"]]],
    [
      "an empty _meta",
      { _meta: {} },
      [
        [path("protocolVersion"), "must be a string, got nothing"],
        [path("clientCapabilities"), "must be an object of objects, got nothing"],
      ],
    ],
    [
      "no capabilities",
      { _meta: { [key("protocolVersion")]: version } },
      [[path("clientCapabilities"), "must be an object of objects, got nothing"]],
    ],
    [
      "no version",
      { _meta: { [key("clientCapabilities")]: {} } },
      [[path("protocolVersion"), "must be a string, got nothing"]],
    ],
    [
      "a version that is a number",
      { _meta: { ...both, [key("protocolVersion")]: 20_260_728 } },
      [[path("protocolVersion"), "must be a string, got a number"]],
    ],
    [
      "a version that is null",
      { _meta: { ...both, [key("protocolVersion")]: null } },
      [[path("protocolVersion"), "must be a string, got null"]],
    ],
    [
      "capabilities that are an array",
      { _meta: { ...both, [key("clientCapabilities")]: [] } },
      [[path("clientCapabilities"), "must be an object of objects, got an array"]],
    ],
    [
      "a client without a version",
      { _meta: { ...both, [key("clientInfo")]: { name: "raw" } } },
      [[path("clientInfo"), "must be an object with name and version, got an object"]],
    ],
    [
      "an unknown level",
      { _meta: { ...both, [key("logLevel")]: "warn" } },
      [[path("logLevel"), "must be a logging level, got a string"]],
    ],
    [
      "a fractional progress token",
      { _meta: { ...both, progressToken: 1.5 } },
      [["/_meta/progressToken", "must be a string or an integer, got a number"]],
    ],
  ])("%s", async (_name, params, faults) => {
    await using talk = talkTo(echoServer());
    const errors = faults.map(([at, message]) => ({ path: at, message }));
    expect(await talk.ask(request(1, "server/discover", params))).toBe(
      failure(1, -32_602, "Invalid params", { errors }),
    );
  });

  test("also of a method that the other era has, once a version is claimed at all", async () => {
    await using talk = await conversationWith(echoServer(), "2025-11-25");
    for (const claimed of [5, null, ["2026-07-28"]]) {
      const params = { _meta: { ...both, [key("protocolVersion")]: claimed } };
      expect(parse(await talk.ask(request(1, "tools/list", params))).error).toMatchObject({
        code: -32_602,
        data: { errors: [{ path: path("protocolVersion") }] },
      });
    }
  });
});

describe("a version that is not spoken is -32022, with those that are:", () => {
  test.each(["2025-11-25", "2024-11-05", "2027-01-01", "DRAFT-2026-v1", "0.1.0", ""])("%j", async (requested) => {
    await using talk = talkTo(echoServer());
    for (const method of ["server/discover", "tools/list", "initialize", "no/such"]) {
      const frame = stateless(1, method, {}, { [key("protocolVersion")]: requested });
      expect(await talk.ask(frame)).toBe(failure(1, -32_022, "Unsupported protocol version", { supported, requested }));
    }
  });
});

describe("a method that the revision does not have is -32601:", () => {
  test.each([
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/cancel",
    "sampling/createMessage",
    "roots/list",
    "elicitation/create",
    "notifications/initialized",
    "resources/list",
    "prompts/get",
    "completion/complete",
    "no/such",
    "__proto__",
  ])("%s", async (method) => {
    await using talk = talkTo(echoServer());
    expect(await talk.ask(stateless(1, method))).toBe(failure(1, -32_601, "Method not found", { method }));
  });

  test("initialize with all that it needs besides: what a request says for itself counts", async () => {
    await using talk = talkTo(echoServer());
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    expect(parse(await talk.ask(stateless(1, "initialize", params))).error?.code).toBe(-32_601);
    expect(parse(await talk.ask(initialize("2025-11-25", 2))).result?.protocolVersion).toBe("2025-11-25");
  });
});

describe("nothing is remembered from one request to the next:", () => {
  test("not the version", async () => {
    await using talk = talkTo(echoServer());
    await talk.ask(stateless(1, "tools/list"));
    expect(parse(await talk.ask(request(2, "tools/list"))).error?.code).toBe(-32_600);
  });

  test("not the level, nor the client", async () => {
    const server = createServer({ name: "log", version: "1" });
    server.tool("log", {}, (_args, context) => {
      context.log("error", "said");
      return context.client.info?.name ?? "nobody";
    });
    await using talk = talkTo(server);
    const call = (meta: object): string => stateless(1, "tools/call", { name: "log" }, meta);
    expect(parse(await talk.ask(call({ [key("logLevel")]: "debug" }))).method).toBe("notifications/message");
    expect(parse(await talk.peer.next()).result?.content).toEqual([{ type: "text", text: "nobody" }]);
    const named = { [key("clientInfo")]: { name: "raw", version: "1" } };
    expect(parse(await talk.ask(call(named))).result?.content).toEqual([{ type: "text", text: "raw" }]);
    expect(parse(await talk.ask(call({}))).result?.content).toEqual([{ type: "text", text: "nobody" }]);
  });
});

describe("both eras on one channel", () => {
  test("keep apart: a conversation opens, goes on and is waited for between requests that need none", async () => {
    const { server, open } = gatedServer();
    await using talk = talkTo(server);
    const call = { name: "wait" };
    talk.peer.send(stateless(1, "tools/call", call));
    expect(parse(await talk.ask(initialize("2024-11-05", 2))).result?.protocolVersion).toBe("2024-11-05");
    expect(parse(await talk.ask(stateless(3, "tools/list"))).result?.resultType).toBe("complete");
    talk.peer.send(initialized);
    talk.peer.send(request(5, "tools/call", call));
    expect(parse(await talk.ask(stateless(6, "ping"))).error?.code).toBe(-32_601);
    await expectAlive(talk);
    open("stateless");
    expect(parse(await talk.peer.next())).toMatchObject({ id: 1, result: { resultType: "complete" } });
    open("in the conversation");
    expect(await talk.peer.next()).toBe(success(5, { content: [{ type: "text", text: "in the conversation" }] }));
  });
});
