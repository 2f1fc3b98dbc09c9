import { createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { claim, failure, notification, parse, request, stateless, success } from "../../testing/frames.js";
import { talkTo, turn } from "../../testing/talks.js";
import { type Speaker, speak } from "../speak.js";

const info = { name: "listening", version: "1" };
const modern = "2026-07-28";
const subscriptionId = "io.modelcontextprotocol/subscriptionId";

function changing(): Server {
  const server = createServer(info);
  server.tool("t", {}, () => "");
  server.resource("a:1", {}, () => "");
  server.resourceTemplate("b:{x}", {}, () => "");
  server.prompt("p", {}, () => "");
  return server;
}

async function listen(peer: Speaker, id: string | number, filter: object): Promise<object | undefined> {
  return (await peer.ask("subscriptions/listen", { notifications: filter }, id)).params?.notifications as object;
}

test("a subscription on the wire: acknowledged, told, and ended by the client", async () => {
  const server = changing();
  await using talk = talkTo(server);
  const filter = { toolsListChanged: true, resourceSubscriptions: ["a:1"] };
  const meta = { [subscriptionId]: "listen-1" };
  expect(await talk.ask(stateless("listen-1", "subscriptions/listen", { notifications: filter }))).toBe(
    notification("notifications/subscriptions/acknowledged", { notifications: filter, _meta: meta }),
  );
  server.tool("t2", {}, () => "");
  server.changed.resource("a:1");
  expect(await talk.peer.next()).toBe(notification("notifications/tools/list_changed", { _meta: meta }));
  expect(await talk.peer.next()).toBe(notification("notifications/resources/updated", { uri: "a:1", _meta: meta }));
  talk.peer.send(notification("notifications/cancelled", { requestId: "listen-1" }));
  await turn();
  expect(server.changes.size).toBe(0);
  server.changed.resource("a:1");
});

test("a subscription that the server ends: a cancelled notification, and a result", async () => {
  const server = changing();
  await using talk = talkTo(server);
  await talk.ask(stateless(7, "subscriptions/listen", { notifications: { promptsListChanged: true } }));
  await talk.connection.drain(5_000);
  expect(await talk.peer.next()).toBe(
    notification("notifications/cancelled", { requestId: 7, reason: "the server ends the subscription" }),
  );
  expect(await talk.peer.next()).toBe(
    success(7, {
      _meta: { [subscriptionId]: 7, "io.modelcontextprotocol/serverInfo": info },
      resultType: "complete",
    }),
  );
  expect(server.changes.size).toBe(0);
});

test("what has changed before the server ends a subscription is told", async () => {
  const server = changing();
  await using talk = talkTo(server);
  const filter = { promptsListChanged: true, resourceSubscriptions: ["a:1"] };
  await talk.ask(stateless(7, "subscriptions/listen", { notifications: filter }));
  server.changed.resource("a:1");
  server.changed.resource("a:1");
  const drained = talk.connection.drain(5_000);
  server.changed.list("prompts"); // Too late.
  await drained;
  const meta = { [subscriptionId]: 7 };
  expect(await talk.peer.next()).toBe(notification("notifications/resources/updated", { uri: "a:1", _meta: meta }));
  expect(parse(await talk.peer.next()).method).toBe("notifications/cancelled");
  expect(parse(await talk.peer.next())).toMatchObject({ id: 7, result: { resultType: "complete" } });
});

describe("a subscription", () => {
  test("ends at once when the client ends its side", async () => {
    const server = changing();
    const talk = talkTo(server);
    await talk.ask(stateless(1, "subscriptions/listen", { notifications: {} }));
    await talk.peer.close();
    await talk.connection.closed;
    expect(server.changes.size).toBe(0);
    expect(talk.clock.armed).toBe(0);
  });

  test("ends without a word when the connection is closed", async () => {
    const server = changing();
    const talk = talkTo(server);
    await talk.ask(stateless(1, "subscriptions/listen", { notifications: {} }));
    await talk.connection.close();
    await turn();
    expect(server.changes.size).toBe(0);
  });

  test("has no time limit", async () => {
    const server = changing();
    await using peer = await speak(server, modern);
    await listen(peer, 1, { toolsListChanged: true });
    peer.talk.clock.advance(86_400_000);
    server.tool("t2", {}, () => "");
    expect(await peer.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    peer.cancel(1);
  });

  test.each(["1", 1, "", 0, -1])("is named by the id %j of its request, in its own type", async (id) => {
    const server = changing();
    await using peer = await speak(server, modern);
    await listen(peer, id, { toolsListChanged: true });
    server.tool("t2", {}, () => "");
    expect((await peer.next()).params).toEqual({ _meta: { [subscriptionId]: id } });
    peer.cancel(id);
  });

  test("cannot be named by a number that JavaScript would change", async () => {
    await using talk = talkTo(changing());
    const frame = stateless(1, "subscriptions/listen", { notifications: {} }).replace(
      '"id":1',
      '"id":9007199254740993',
    );
    const answer = await talk.ask(frame);
    expect(answer).toContain('"id":9007199254740993');
    expect(answer).toContain('"code":-32600');
  });

  test("may be one of several: each gets its own copy", async () => {
    const server = changing();
    await using peer = await speak(server, modern);
    await listen(peer, "a", { toolsListChanged: true });
    await listen(peer, "b", { toolsListChanged: true, promptsListChanged: true });
    server.tool("t2", {}, () => "");
    server.prompt("p2", {}, () => "");
    const told = [await peer.next(), await peer.next(), await peer.next()].map(({ method, params }) => [
      method,
      Object.values(params?._meta ?? {}),
    ]);
    expect(told).toEqual([
      ["notifications/tools/list_changed", ["a"]],
      ["notifications/tools/list_changed", ["b"]],
      ["notifications/prompts/list_changed", ["b"]],
    ]);
    peer.cancel("a");
    await turn();
    server.tool("t3", {}, () => "");
    expect((await peer.next()).params).toEqual({ _meta: { [subscriptionId]: "b" } });
    peer.cancel("b");
  });

  test("notifies only of requested changes", async () => {
    const server = changing();
    await using peer = await speak(server, modern);
    expect(await listen(peer, 1, { promptsListChanged: true, toolsListChanged: false })).toEqual({
      promptsListChanged: true,
    });
    server.tool("t2", {}, () => "");
    server.resource("a:2", {}, () => "");
    server.changed.resource("a:1");
    server.prompt("p2", {}, () => "");
    expect(await peer.next()).toMatchObject({ method: "notifications/prompts/list_changed" });
    peer.cancel(1);
  });

  test("stays open without changes", async () => {
    await using peer = await speak(changing(), modern);
    expect(await listen(peer, 1, {})).toEqual({});
    peer.cancel(1);
  });

  test("is honoured as far as the server can", async () => {
    const server = createServer({ ...info, resourceSubscriptions: false });
    server.tool("t", {}, () => "");
    await using peer = await speak(server, modern);
    const everything = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    expect(await listen(peer, 1, { ...everything, resourceSubscriptions: ["a:1"], taskIds: ["x"] })).toEqual({
      toolsListChanged: true,
    });
    peer.cancel(1);
  });

  test("names the resources that exist, or could", async () => {
    const server = changing();
    await using peer = await speak(server, modern);
    const resourceSubscriptions = ["a:1", "a:2", "b:3", "no uri", "b:../x"];
    expect(await listen(peer, 1, { resourceSubscriptions })).toEqual({ resourceSubscriptions: ["a:1", "b:3"] });
    for (const uri of ["a:1", "a:2", "b:3", "b:../x"]) server.changed.resource(uri);
    expect((await peer.next()).params).toMatchObject({ uri: "a:1" });
    expect((await peer.next()).params).toMatchObject({ uri: "b:3" });
    peer.cancel(1);
  });

  test("does not keep other calls from being answered", async () => {
    await using peer = await speak(changing(), modern);
    await listen(peer, "l", {});
    expect(await peer.result("tools/call", { name: "t" })).toMatchObject({ content: [{ text: "" }] });
    peer.cancel("l");
  });

  test.each([
    [undefined, "/notifications"],
    [[], "/notifications"],
    [{ toolsListChanged: "yes" }, "/notifications/toolsListChanged"],
    [{ promptsListChanged: null }, "/notifications/promptsListChanged"],
    [{ resourceSubscriptions: "a:1" }, "/notifications/resourceSubscriptions"],
    [{ resourceSubscriptions: [7] }, "/notifications/resourceSubscriptions"],
    [{ resourceSubscriptions: Array<string>(1_001).fill("b:1") }, "/notifications/resourceSubscriptions"],
  ])("needs a filter: %j", async (filter, path) => {
    await using peer = await speak(changing(), modern);
    expect(await peer.error("subscriptions/listen", { notifications: filter })).toMatchObject({
      code: -32_602,
      data: { errors: [{ path }] },
    });
  });

  test("does not exist on a server without changes", async () => {
    const server = createServer(info);
    await using peer = await speak(server, modern);
    expect(await peer.error("subscriptions/listen", { notifications: {} })).toMatchObject({ code: -32_601 });
  });

  test("does not exist in the handshake era", async () => {
    await using peer = await speak(changing(), "2025-11-25");
    expect(await peer.error("subscriptions/listen", { notifications: {} })).toMatchObject({
      code: -32_602,
      data: { errors: [{ path: "/_meta" }] },
    });
  });

  test("waits for no place, and ends when the connection drains", async () => {
    const server = changing();
    const ends: (() => void)[] = [];
    server.tool("wait", {}, () => new Promise<string>((resolve) => void ends.push(() => resolve("done"))));
    await using talk = talkTo(server, { limits: { running: 1 } });
    talk.peer.send(stateless(1, "tools/call", { name: "wait" }));
    talk.peer.send(stateless(2, "subscriptions/listen", { notifications: {} }));
    await turn();
    const drained = talk.connection.drain(5_000);
    ends[0]?.();
    await drained;
    const answers = [await talk.peer.next(), await talk.peer.next(), await talk.peer.next(), await talk.peer.next()];
    expect(answers.map((frame) => (JSON.parse(frame) as { id?: number; method?: string }).id)).toEqual([
      undefined,
      undefined,
      2,
      1,
    ]);
  });
});

test("one change reaches both eras on one connection", async () => {
  const server = changing();
  await using peer = await speak(server, "2025-11-25");
  peer.talk.peer.send(
    request("l", "subscriptions/listen", { notifications: { toolsListChanged: true }, _meta: claim }),
  );
  await peer.next();
  server.tool("t2", {}, () => "");
  const told = [await peer.talk.peer.next(), await peer.talk.peer.next()];
  expect(told).toEqual([
    notification("notifications/tools/list_changed"),
    notification("notifications/tools/list_changed", { _meta: { [subscriptionId]: "l" } }),
  ]);
  peer.cancel("l");
});

test("for a listen without _meta, the error names the required members", async () => {
  await using talk = talkTo(changing());
  expect(await talk.ask(request(1, "subscriptions/listen", { notifications: {} }))).toBe(
    failure(1, -32_602, "Invalid params", { errors: [{ path: "/_meta", message: "must be an object" }] }),
  );
});
