import { handshakeVersions } from "@parlance/mcp";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { createServer, type Server, serveChannel } from "@parlance/mcp/server";
import { rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { initialize, initialized, notification, request, success } from "../../testing/frames.js";
import { conversationWith, expectAlive, talkTo, turn } from "../../testing/talks.js";
import { speak } from "../speak.js";

const info = { name: "changing", version: "1" };

function changing(): Server {
  const server = createServer(info);
  server.tool("t", {}, () => "");
  server.resource("a:1", {}, () => "");
  server.resourceTemplate("b:{x}", {}, () => "");
  server.prompt("p", {}, () => "");
  return server;
}

const toolsChanged = notification("notifications/tools/list_changed");
const promptsChanged = notification("notifications/prompts/list_changed");
const resourcesChanged = notification("notifications/resources/list_changed");
const updated = (uri: string): string => notification("notifications/resources/updated", { uri });

describe.each(handshakeVersions)("a conversation in %s", (version) => {
  test("is notified of every list that changes", async () => {
    const server = changing();
    await using talk = await conversationWith(server, version);
    await expectAlive(talk);
    const tool = server.tool("t2", {}, () => "");
    expect(await talk.peer.next()).toBe(toolsChanged);
    tool.disable();
    expect(await talk.peer.next()).toBe(toolsChanged);
    tool.enable();
    expect(await talk.peer.next()).toBe(toolsChanged);
    tool.update({ title: "T" });
    expect(await talk.peer.next()).toBe(toolsChanged);
    tool.remove();
    expect(await talk.peer.next()).toBe(toolsChanged);
    server.prompt("p2", {}, () => "");
    expect(await talk.peer.next()).toBe(promptsChanged);
    server.resource("a:2", {}, () => "");
    expect(await talk.peer.next()).toBe(resourcesChanged);
    server.resourceTemplate("c:{x}", {}, () => "");
    expect(await talk.peer.next()).toBe(resourcesChanged);
    server.changed.list("prompts");
    expect(await talk.peer.next()).toBe(promptsChanged);
  });

  test("is notified once of a list that changes several times at once, and not of hidden definitions", async () => {
    const server = changing();
    await using talk = await conversationWith(server, version);
    await expectAlive(talk);
    const hidden = server.tool("t2", {}, () => "");
    server.prompt("p2", {}, () => "");
    server.tool("t3", {}, () => "");
    hidden.disable();
    expect(await talk.peer.next()).toBe(toolsChanged);
    expect(await talk.peer.next()).toBe(promptsChanged);
    hidden.disable();
    hidden.update({ title: "T" });
    hidden.remove();
    await turn();
    await expectAlive(talk);
  });

  test("is notified of subscribed resources until it unsubscribes", async () => {
    const server = changing();
    await using talk = await conversationWith(server, version);
    for (const uri of ["a:1", "b:2", "b:2"]) {
      expect(await talk.ask(request(1, "resources/subscribe", { uri }))).toBe(success(1, {}));
    }
    server.changed.resource("a:1");
    server.changed.resource("b:3");
    server.changed.resource("b:2");
    server.changed.resource("a:1");
    expect(await talk.peer.next()).toBe(updated("a:1"));
    expect(await talk.peer.next()).toBe(updated("b:2"));
    expect(await talk.ask(request(2, "resources/unsubscribe", { uri: "a:1" }))).toBe(success(2, {}));
    expect(await talk.ask(request(3, "resources/unsubscribe", { uri: "x:unknown" }))).toBe(success(3, {}));
    server.changed.resource("a:1");
    server.changed.resource("b:2");
    expect(await talk.peer.next()).toBe(updated("b:2"));
  });

  test("is not notified after the response to its unsubscribe, even of earlier changes", async () => {
    const server = changing();
    await using talk = await conversationWith(server, version);
    await talk.ask(request(1, "resources/subscribe", { uri: "a:1" }));
    talk.peer.send(request(2, "resources/unsubscribe", { uri: "a:1" }));
    server.changed.resource("a:1");
    expect([await talk.peer.next()]).toContainEqual(success(2, {}));
    await expectAlive(talk);
  });

  test("cannot subscribe to what does not exist, nor to what is no URI", async () => {
    await using peer = await speak(changing(), version);
    expect(await peer.error("resources/subscribe", { uri: "a:2" })).toEqual({
      code: -32_002,
      message: "Resource not found",
      data: { uri: "a:2" },
    });
    expect(await peer.error("resources/subscribe", {})).toMatchObject({
      code: -32_602,
      data: { errors: [{ path: "/uri" }] },
    });
    expect(await peer.error("resources/unsubscribe", { uri: 7 })).toMatchObject({ code: -32_602 });
  });

  test("has a bound on what it subscribes to", async () => {
    const server = changing();
    await using peer = await speak(server, version);
    for (let n = 0; n < 1_000; n += 1) await peer.ask("resources/subscribe", { uri: `b:${n}` });
    expect(await peer.error("resources/subscribe", { uri: "b:one-more" })).toEqual({
      code: -32_602,
      message: "Too many subscriptions",
      data: {
        errors: [
          { path: "/uri", message: "is one more than the 1000 that a conversation may have: unsubscribe first" },
        ],
      },
    });
    expect(await peer.result("resources/subscribe", { uri: "b:0" })).toEqual({});
    await peer.ask("resources/unsubscribe", { uri: "b:0" });
    expect(await peer.result("resources/subscribe", { uri: "b:one-more" })).toEqual({});
  });

  test("has subscriptions only where the server offers them", async () => {
    const server = createServer({ ...info, resourceSubscriptions: false });
    server.resource("a:1", {}, () => "");
    await using peer = await speak(server, version);
    expect(server.capabilities()).toMatchObject({ resources: { listChanged: true } });
    expect(server.capabilities().resources).not.toHaveProperty("subscribe");
    for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
      expect(await peer.error(method, { uri: "a:1" })).toMatchObject({ code: -32_601 });
    }
  });

  test("is not notified of lists without listChanged", async () => {
    const server = createServer(info);
    server.tool("t", {}, () => "");
    await using talk = await conversationWith(server, version);
    await expectAlive(talk);
    server.prompt("p", {}, () => "");
    server.tool("t2", {}, () => "");
    expect(await talk.peer.next()).toBe(toolsChanged);
    await expectAlive(talk);
  });

  test("is not notified before it is open", async () => {
    const server = changing();
    await using talk = talkTo(server);
    server.tool("t2", {}, () => "");
    await talk.ask(initialize(version));
    server.tool("t3", {}, () => "");
    await expectAlive(talk);
    talk.peer.send(initialized);
    await expectAlive(talk);
    server.tool("t4", {}, () => "");
    expect(await talk.peer.next()).toBe(toolsChanged);
  });

  test("and another one are notified of their own subscriptions only", async () => {
    const server = changing();
    await using first = await conversationWith(server, version);
    await using second = await conversationWith(server, version);
    await first.ask(request(1, "resources/subscribe", { uri: "a:1" }));
    await second.ask(request(1, "resources/subscribe", { uri: "b:2" }));
    expect(server.changes.size).toBe(2);
    server.changed.resource("a:1");
    server.changed.resource("b:2");
    expect(await first.peer.next()).toBe(updated("a:1"));
    expect(await second.peer.next()).toBe(updated("b:2"));
  });
});

test("a conversation that is over listens no more, however it ended", async () => {
  const server = changing();
  const endings = [
    (talk: { peer: { close(): Promise<void> } }) => talk.peer.close(),
    (talk: { connection: { close(): Promise<void> } }) => talk.connection.close(),
    (talk: { connection: { drain(grace: number): Promise<void> } }) => talk.connection.drain(0),
  ];
  for (const end of endings) {
    const talk = await conversationWith(server, "2025-11-25");
    await expectAlive(talk);
    expect(server.changes.size).toBe(1);
    await end(talk);
    await talk.connection.closed;
    server.tool(`t${endings.indexOf(end)}-${server.changes.size}`, {}, () => "");
    expect(server.changes.size).toBe(0);
  }
});

test("a peer that does not read is notified once when it reads again", async () => {
  const server = changing();
  const [near, far] = memoryChannels();
  const peer = rawPeer(near);
  const waiting: (() => void)[] = [];
  const slow: typeof far = {
    ...far,
    open: (receiver) => far.open(receiver),
    close: () => far.close(),
    send(frame) {
      void far.send(frame);
      return frame === toolsChanged ? new Promise((resolve) => void waiting.push(resolve)) : undefined;
    },
  };
  const connection = serveChannel(server, slow);
  peer.send(initialize("2025-11-25"));
  await peer.next();
  peer.send(initialized);
  await turn();
  server.tool("t1", {}, () => "");
  expect(await peer.next()).toBe(toolsChanged);
  for (let n = 2; n < 100; n += 1) {
    server.tool(`t${n}`, {}, () => "");
    await turn();
  }
  waiting.pop()?.();
  expect(await peer.next()).toBe(toolsChanged);
  waiting.pop()?.();
  await connection.close();
  await peer[Symbol.asyncDispose]();
});

test("the application may listen, too", () => {
  const server = changing();
  const heard: unknown[] = [];
  const stop = server.changes.listen((change) => heard.push(change));
  server.changed.resource("a:1");
  server.tool("t2", {}, () => "");
  stop();
  server.changed.resource("a:1");
  expect(heard).toEqual([
    { kind: "resource", uri: "a:1" },
    { kind: "list", list: "tools" },
  ]);
});
