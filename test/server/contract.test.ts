import { handshakeVersions, statelessVersions, versions } from "@parlance/mcp";
import { revisionOf } from "@parlance/mcp/protocol";
import { createServer, type Server, type ServerOptions } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { initialize, initialized, modern, notification, parse, stateless, success } from "../testing/frames.js";
import { expectAlive, talkTo } from "../testing/talks.js";
import { openAsked } from "./input/open.js";
import { speak } from "./speak.js";

function serverWith(offers: (server: Server) => void, options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: "partly", version: "1", ...options });
  offers(server);
  return server;
}

const calls = {
  tools: [
    ["tools/list", {}],
    ["tools/call", { name: "t" }],
  ],
  resources: [
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["resources/read", { uri: "a:b" }],
  ],
  subscriptions: [
    ["resources/subscribe", { uri: "a:b" }],
    ["resources/unsubscribe", { uri: "a:b" }],
  ],
  prompts: [
    ["prompts/list", {}],
    ["prompts/get", { name: "p" }],
  ],
  completions: [
    ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "x", value: "" } }],
  ],
  tasks: [
    ["tasks/list", {}],
    ["tasks/get", { taskId: "1" }],
    ["tasks/result", { taskId: "1" }],
    ["tasks/cancel", { taskId: "1" }],
  ],
} as const;

type Part = keyof typeof calls;
const parts = Object.keys(calls) as Part[];

/** Servers that offer a part of everything, and what that is. */
const servers: readonly (readonly [string, readonly Part[], () => Server])[] = [
  ["nothing", [], () => serverWith(() => undefined)],
  ["tools", ["tools"], () => serverWith((server) => void server.tool("t", {}, () => ""))],
  [
    "resources",
    ["resources", "subscriptions"],
    () => serverWith((server) => void server.resource("a:b", {}, () => "")),
  ],
  [
    "resources without subscriptions",
    ["resources"],
    () => serverWith((server) => void server.resource("a:b", {}, () => ""), { resourceSubscriptions: false }),
  ],
  ["prompts", ["prompts"], () => serverWith((server) => void server.prompt("p", {}, () => ""))],
  [
    "prompts whose arguments are completed",
    ["prompts", "completions"],
    () => serverWith((server) => void server.prompt("p", { arguments: { x: {} }, complete: { x: ["y"] } }, () => "")),
  ],
  [
    "tools that run as tasks",
    ["tools", "tasks"],
    () => serverWith((server) => void server.tool("t", { execution: { taskSupport: "optional" } }, () => "")),
  ],
];

async function capabilitiesIn(version: string, server: Server): Promise<Readonly<Record<string, unknown>>> {
  await using talk = talkTo(server);
  const opened = await talk.ask(version === modern ? stateless(0, "server/discover") : initialize(version));
  return parse(opened).result?.capabilities as Readonly<Record<string, unknown>>;
}

describe.each(versions)("what a server has not advertised is unknown in %s, and what it has is there:", (version) => {
  test.each(servers)("of one with %s", async (_name, offered, make) => {
    await using peer = await speak(make(), version);
    for (const part of parts) {
      for (const [method, params] of calls[part]) {
        const isThere = offered.includes(part) && revisionOf(version)?.requests.client.has(method) === true;
        const { error } = await peer.ask(method, params);
        expect(error?.code === -32_601, method).toBe(!isThere);
        if (!isThere) expect(error?.data).toEqual({ method });
      }
    }
  });

  test.each(servers)("and one with %s advertises just that", async (_name, offered, make) => {
    const { facts } = revisionOf(version) ?? {};
    const listChanged = { listChanged: true };
    const subscribe = offered.includes("subscriptions") ? { subscribe: true } : {};
    expect(await capabilitiesIn(version, make())).toEqual({
      logging: {},
      ...(offered.includes("tools") ? { tools: listChanged } : {}),
      ...(offered.includes("resources") ? { resources: { ...subscribe, ...listChanged } } : {}),
      ...(offered.includes("prompts") ? { prompts: listChanged } : {}),
      ...(offered.includes("completions") && facts?.completionsCapability === true ? { completions: {} } : {}),
      ...(offered.includes("tasks") && facts?.tasks === "core" ? { tasks: expect.any(Object) as object } : {}),
    });
  });
});

describe.each(handshakeVersions)("a conversation in %s", (version) => {
  test("keeps to what was advertised when it was opened", async () => {
    const server = serverWith(() => undefined);
    await using peer = await speak(server, version);
    server.tool("t", { execution: { taskSupport: "optional" } }, () => "");
    server.resource("a:b", {}, () => "");
    server.prompt("p", { arguments: { x: {} }, complete: { x: ["y"] } }, () => "");
    for (const part of parts) {
      for (const [method, params] of calls[part]) expect((await peer.error(method, params)).code, method).toBe(-32_601);
    }
    server.changed.list("tools");
    server.changed.resource("a:b");
    await expectAlive(peer.talk);
    await using later = await openAsked(server, { version, isStateless: false }, {});
    expect(parse(await later.ask("tools/call", { name: "t" })).result).toMatchObject({ content: [{ text: "" }] });
  });

  test("receives nothing before it is open, and nothing of earlier changes afterwards", async () => {
    const server = serverWith((each) => void each.tool("t", {}, () => ""));
    await using talk = talkTo(server);
    server.changed.list("tools");
    await talk.ask(initialize(version));
    server.changed.list("tools");
    await expectAlive(talk);
    talk.peer.send(initialized);
    await expectAlive(talk);
    server.changed.list("tools");
    expect(parse(await talk.peer.next()).method).toBe("notifications/tools/list_changed");
  });

  test("takes notifications of what its client has not declared, and heeds none", async () => {
    const server = serverWith((each) => void each.tool("t", {}, () => ""));
    await using peer = await speak(server, version);
    const strays = [
      notification("notifications/roots/list_changed", {}),
      notification("notifications/tasks/status", { taskId: "1", status: "failed" }),
      notification("notifications/progress", { progressToken: "none", progress: 1 }),
      notification("notifications/elicitation/complete", { elicitationId: "1" }),
      notification("notifications/tools/list_changed", {}),
      notification("notifications/cancelled", { requestId: "none" }),
      success(99, {}),
    ];
    for (const stray of strays) peer.talk.peer.send(stray);
    await expectAlive(peer.talk);
  });

  test("receives logs from the level that its client has set, from any handler", async () => {
    const server = serverWith((each) => {
      each.tool("t", {}, (_args, context) => {
        context.log("info", "by a handler");
        context.log("error", "by a handler");
        return "";
      });
      each.use((next) => (method, params, operation) => {
        operation.notify("notifications/message", { level: "info", data: "by a middleware" });
        operation.notify("notifications/message", { level: "error", data: "by a middleware" });
        return next(method, params, operation);
      });
    });
    await using peer = await speak(server, version);
    await peer.result("logging/setLevel", { level: "error" });
    peer.send("tools/call", { name: "t" });
    const heard = [await peer.next(), await peer.next()].map(({ params }) => params);
    expect(heard).toEqual([
      { level: "error", data: "by a middleware" },
      { level: "error", data: "by a handler" },
    ]);
    expect((await peer.next()).result).toBeDefined();
  });
});

describe.each(statelessVersions)("a request in %s", (version) => {
  test("receives logs only if it names a level, from any handler", async () => {
    const server = serverWith((each) => {
      each.tool("t", {}, () => "");
      each.use((next) => (method, params, operation) => {
        operation.notify("notifications/message", { level: "error", data: "by a middleware" });
        return next(method, params, operation);
      });
    });
    await using talk = talkTo(server);
    expect(parse(await talk.ask(stateless(1, "tools/call", { name: "t" }))).result).toBeDefined();
    const level = { "io.modelcontextprotocol/logLevel": "error" };
    expect(parse(await talk.ask(stateless(2, "tools/call", { name: "t" }, level))).method).toBe(
      "notifications/message",
    );
    await talk.peer.next();
    const severe = { "io.modelcontextprotocol/logLevel": "critical" };
    expect(parse(await talk.ask(stateless(3, "tools/call", { name: "t" }, severe))).result).toBeDefined();
    expect(version).toBe(modern);
  });

  test("is answered by what the server offers at that moment", async () => {
    const server = serverWith(() => undefined);
    await using peer = await speak(server, version);
    expect((await peer.error("tools/list")).code).toBe(-32_601);
    server.tool("t", {}, () => "");
    expect(await peer.result("tools/list")).toMatchObject({ tools: [{ name: "t" }] });
  });
});

describe.each(versions)("what goes wrong inside of a server in %s", (version) => {
  test("is reported to its owner only, at every log level of the client", async () => {
    const server = serverWith((each) => {
      each.tool("dies", {}, () => Promise.reject(new Error("password: secret")));
      each.resource("a:b", {}, () => {
        throw new Error("password: secret");
      });
      each.prompt("dies", {}, () => Promise.reject(new TypeError("password: secret")));
    });
    const isStateless = revisionOf(version)?.era === "stateless";
    await using client = await openAsked(server, { version, isStateless }, {});
    if (!isStateless) await client.ask("logging/setLevel", { level: "debug" }, 2);
    const debug = { "io.modelcontextprotocol/logLevel": "debug" };
    for (const [method, params] of [
      ["tools/call", { name: "dies" }],
      ["resources/read", { uri: "a:b" }],
      ["prompts/get", { name: "dies" }],
    ] as const) {
      const frame = await client.ask(method, params, 1, debug);
      expect(parse(frame)).toEqual({ jsonrpc: "2.0", id: 1, error: { code: -32_603, message: "Internal error" } });
    }
    expect(client.talk.reports).toHaveLength(3);
  });
});
