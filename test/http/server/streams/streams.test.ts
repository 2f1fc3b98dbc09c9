import { handshakeVersions } from "@parlance/mcp";
import { describe, expect, test } from "vitest";
import { notification, parse, ping, request, success } from "../../../testing/frames.js";
import { sessionGet, sessionPost, written } from "../asked.js";
import { type Door, openSession } from "../handlers.js";
import { gist, obey, obeying, read, rest } from "../obeying.js";
import { shop } from "../shop.js";
import { site, until } from "../site.js";

const askCall = request(1, "tools/call", { name: "ask" });

/** A session whose client can be asked. */
function openAskable(door: Door): Promise<string> {
  return openSession(door, "2025-11-25", {}, { elicitation: {} });
}

describe("what a server says goes", () => {
  test("on the stream of the request that it belongs to, and on no other", async () => {
    const { server, calls } = obeying();
    await using at = await site(server);
    const session = await openSession(at);
    using main = await read(at, session);
    using one = await at.open();
    using other = await at.open();
    one.write(obey(session, "one", 1));
    other.write(obey(session, "other", 2));
    await until(() => calls.size === 2);
    calls.get("one")?.("1a");
    calls.get("other")?.("2a");
    server.tool("new", {}, () => "");
    calls.get("one")?.("1b", "end");
    calls.get("other")?.("end");
    await one.head();
    await other.head();
    expect(await rest(one)).toEqual(["1a", "1b", "one has ended"]);
    expect(await rest(other)).toEqual(["2a", "other has ended"]);
    expect(gist(await main.message())).toBe("notifications/tools/list_changed");
    await at.ask({ method: "DELETE", headers: { "mcp-session-id": session } });
    expect(await rest(main)).toEqual([]);
  });

  test("to the client that it is about: a question of one session is not answered by another", async () => {
    await using at = await site();
    const [mine, others] = [await openAskable(at), await openAskable(at)];
    using wire = await at.open();
    wire.write(written(sessionPost(mine, askCall)));
    await wire.head();
    const asked = parse(await wire.message());
    expect(asked).toMatchObject({ method: "elicitation/create", params: { message: "Name?" } });
    const answer = (text: string): string => success(asked.id ?? "", { action: "accept", content: { text } });
    expect(await at.ask(sessionPost(others, answer("Mallory")))).toMatchObject({ status: 202, body: "" });
    expect(await at.ask(sessionPost(mine, answer("Ada")))).toMatchObject({ status: 202, body: "" });
    expect(await rest(wire)).toEqual(["Ada"]);
    expect(await at.ask(sessionPost(mine, answer("late")))).toMatchObject({ status: 202, body: "" });
    expect(at.reports).toHaveLength(2);
  });

  test("to one reader: a second stream is refused, and the first goes on", async () => {
    const { server } = obeying();
    await using at = await site(server);
    const session = await openSession(at);
    using first = await read(at, session);
    const second = await at.ask(sessionGet(session));
    expect(second).toMatchObject({ status: 409, body: expect.stringContaining("close it first") as unknown });
    server.tool("new", {}, () => "");
    expect(gist(await first.message())).toBe("notifications/tools/list_changed");
  });

  test("to a client that comes back: unread messages wait, and are read once", async () => {
    const { server } = obeying();
    await using at = await site(server);
    const session = await openSession(at);
    server.tool("new", {}, () => "");
    server.resource("b:1", {}, () => "");
    await at.ask(sessionPost(session, ping));
    using reader = await read(at, session);
    expect(gist(await reader.message())).toBe("notifications/tools/list_changed");
    expect(gist(await reader.message())).toBe("notifications/resources/list_changed");
    await at.ask({ method: "DELETE", headers: { "mcp-session-id": session } });
    expect(await rest(reader)).toEqual([]);
  });
});

test.each(handshakeVersions)(
  "a stream of %s begins with an event without a message where its clients poll, and else not",
  async (version) => {
    await using at = await site();
    const session = await openSession(at, version);
    using reader = await read(at, session);
    using caller = await at.open();
    const params = { name: "steps", _meta: { progressToken: 1 } };
    caller.write(written(sessionPost(session, request(1, "tools/call", params))));
    const { headers } = await caller.head();
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    const first = await caller.event();
    expect(first?.id).toMatch(/^\S+$/);
    expect(first?.data === "").toBe(version === "2025-11-25");
    at.server.tool("new", {}, () => "");
    expect((await reader.event())?.data === "").toBe(version === "2025-11-25");
  },
);

test("ids of events are never the same twice in a session, whichever stream they are on", async () => {
  const { server, calls } = obeying();
  await using at = await site(server);
  const session = await openSession(at);
  using main = await read(at, session);
  const ids: (string | undefined)[] = [];
  for (const as of ["a", "b", "c"]) {
    using wire = await at.open();
    wire.write(obey(session, as));
    await until(() => calls.has(as));
    calls.get(as)?.("1", "2", "end");
    await wire.head();
    for (let event = await wire.event(); event !== undefined; event = await wire.event()) ids.push(event.id);
  }
  server.tool("new", {}, () => "");
  ids.push((await main.event())?.id, (await main.event())?.id);
  expect(ids).toHaveLength(14);
  expect(new Set(ids).size).toBe(14);
  for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]+$/);
});

test("streams give a sign of life every 15 seconds, and an answer that takes long becomes one", async () => {
  const { server, calls } = obeying();
  await using at = await site(server);
  const session = await openSession(at);
  using main = await read(at, session);
  using caller = await at.open();
  caller.write(obey(session, "slow"));
  await until(() => calls.has("slow"));
  at.clock.advance(14_999);
  at.clock.advance(1);
  at.clock.advance(15_000);
  expect((await caller.head()).headers.get("content-type")).toBe("text/event-stream");
  calls.get("slow")?.("end");
  expect(await caller.body()).toMatch(
    /^(?:id: .*\ndata: \n\n)(?:: keep-alive\n\n){2}id: .*\nevent: message\ndata: \{.*\}\n\n$/,
  );
  await at.ask({ method: "DELETE", headers: { "mcp-session-id": session } });
  expect(await main.body()).toMatch(/(?:: keep-alive\n\n){2}$/);
});

test("a call that its client cancels ends its stream without an answer", async () => {
  await using at = await site();
  const session = await openSession(at);
  using wire = await at.open();
  wire.write(written(sessionPost(session, request("x", "tools/call", { name: "until-cancelled" }))));
  await until(() => at.running.has("until-cancelled"));
  const cancel = notification("notifications/cancelled", { requestId: "x" });
  expect(await at.ask(sessionPost(session, cancel))).toMatchObject({ status: 202, body: "" });
  expect((await wire.head()).status).toBe(200);
  expect(await wire.messages()).toEqual([]);
  await until(() => at.running.size === 0);
});

test('an id that is in flight cannot be taken by a second request, and the first goes on; 1 is not "1"', async () => {
  const { server, calls } = obeying();
  await using at = await site(server);
  const session = await openSession(at);
  using first = await at.open();
  first.write(obey(session, "first", 1));
  await until(() => calls.has("first"));
  const second = await at.ask(sessionPost(session, request(1, "ping")));
  expect(second.status).toBe(400);
  expect(parse(second.body)).toMatchObject({ id: 1, error: { code: -32_600 } });
  expect((await at.ask(sessionPost(session, request("1", "ping")))).body).toBe(success("1", {}));
  calls.get("first")?.("end");
  expect(parse((await first.answer()).body)).toMatchObject({
    id: 1,
    result: { content: [{ text: "first has ended" }] },
  });
  expect((await at.ask(sessionPost(session, request(1, "ping")))).body).toBe(success(1, {}));
});

test("responses without a request are accepted and change nothing", async () => {
  await using at = await site();
  const session = await openAskable(at);
  using wire = await at.open();
  wire.write(written(sessionPost(session, askCall)));
  await wire.head();
  const { id } = parse(await wire.message());
  for (const wrong of [`0x${id}`, ` ${id} `, `${id}.0`, "", `${id}`])
    expect((await at.ask(sessionPost(session, success(wrong, { action: "decline" })))).status).toBe(202);
  expect((await at.ask(sessionPost(session, `{"jsonrpc":"2.0","id":true,"result":{}}`))).status).toBe(400);
  expect((await at.ask(sessionPost(session, success(id ?? 0, { action: "decline" })))).status).toBe(202);
  expect(await rest(wire)).toEqual(["decline"]);
  expect(at.reports.length).toBeGreaterThanOrEqual(5);
});

test("one server has all of its sessions' tools, and none of their readers", async () => {
  await using at = await site(shop());
  const sessions = [await openSession(at), await openSession(at), await openSession(at)];
  const readers = await Promise.all(sessions.map((session) => read(at, session)));
  at.server.tool("new", {}, () => "");
  for (const reader of readers) expect(gist(await reader.message())).toBe("notifications/tools/list_changed");
  for (const reader of readers) reader[Symbol.dispose]();
});
