import { fileURLToPath } from "node:url";
import { childChannel } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { initialize, initialized, notification, parse, request, success } from "../../testing/frames.js";
import { echoServer, echoTool, gatedServer } from "../../testing/servers.js";
import { conversationWith, expectAlive, turn } from "../../testing/talks.js";

const list = request(1, "tools/list");
const reported = 'accepted "initialize": the conversation was open already: the former one is over';

describe("C2: a second initialize", () => {
  test("opens a new conversation on the same channel, and is reported", async () => {
    await using talk = await conversationWith(echoServer(), "2025-11-25");
    expect(parse(await talk.ask(initialize("2024-11-05", 9)))).toMatchObject({
      id: 9,
      result: { protocolVersion: "2024-11-05", serverInfo: { name: "echo" } },
    });
    talk.peer.send(initialized);
    expect(parse(await talk.ask(list)).result).toEqual({ tools: [echoTool] });
    expect(talk.reports).toEqual([reported]);
  });

  test("leaves the calls of the former conversation running, under their own terms", async () => {
    const gate = gatedServer();
    await using talk = await conversationWith(gate.server, "2024-11-05");
    talk.peer.send(request(1, "tools/call", { name: "wait" }));
    await turn();
    await talk.ask(initialize("2025-11-25", 2));
    gate.open("at last");
    expect(await talk.peer.next()).toBe(success(1, { content: [{ type: "text", text: "at last" }] }));
  });

  test("ends the subscriptions and the log level of the former conversation", async () => {
    const server = createServer({ name: "notes", version: "1" });
    server.resource("note:/a", {}, () => "a");
    server.tool("log", {}, (_args, ctx) => {
      ctx.log("debug", "in detail");
      return "";
    });
    await using talk = await conversationWith(server, "2025-11-25");
    await talk.ask(request(1, "resources/subscribe", { uri: "note:/a" }));
    await talk.ask(request(2, "logging/setLevel", { level: "debug" }));
    expect(parse(await talk.ask(request(3, "tools/call", { name: "log" })))).toMatchObject({
      method: "notifications/message",
    });
    expect(parse(await talk.peer.next())).toMatchObject({ id: 3 });

    await talk.ask(initialize("2025-11-25", 4));
    talk.peer.send(initialized);
    server.changed.resource("note:/a");
    await turn();
    expect(parse(await talk.ask(request(5, "tools/call", { name: "log" })))).toMatchObject({ id: 5 });
    await expectAlive(talk);
    expect(server.changes.size).toBe(1);
  });

  test("is counted by the client's capabilities of its own: what the former one could be asked, it cannot", async () => {
    const server = createServer({ name: "asking", version: "1" });
    server.tool("roots", {}, async (_args, ctx) => `${(await ctx.listRoots()).length} roots`);
    await using talk = await conversationWith(server, "2025-11-25");
    const opening = {
      protocolVersion: "2025-11-25",
      capabilities: { roots: {} },
      clientInfo: { name: "b", version: "1" },
    };
    await talk.ask(request(1, "initialize", opening));
    talk.peer.send(initialized);
    const asked = parse(await talk.ask(request(2, "tools/call", { name: "roots" })));
    expect(asked).toMatchObject({ method: "roots/list" });
    expect(
      parse(await talk.ask(JSON.stringify({ jsonrpc: "2.0", id: asked.id, result: { roots: [] } }))),
    ).toMatchObject({
      result: { content: [{ text: "0 roots" }] },
    });
  });

  test("is served by a process that a gateway shares among its clients", async () => {
    const file = fileURLToPath(new URL("../../fixtures/tools-server.js", import.meta.url));
    await using peer = rawPeer(childChannel({ command: process.execPath, args: [file] }));
    for (const id of [1, 2, 3]) {
      peer.send(initialize("2025-03-26", `open ${id}`));
      expect(parse(await peer.next())).toMatchObject({ id: `open ${id}`, result: { protocolVersion: "2025-03-26" } });
      peer.send(notification("notifications/initialized"));
      peer.send(request(`list ${id}`, "tools/list"));
      expect(parse(await peer.next())).toMatchObject({ id: `list ${id}`, result: { tools: expect.any(Array) } });
    }
  });
});
