import { createServer, type Server } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { notification, parse, ping, request, success } from "../../../testing/frames.js";
import { turn } from "../../../testing/talks.js";
import { sessionGet, sessionPost, written } from "../asked.js";
import { openSession } from "../handlers.js";
import { heap } from "../heap.js";
import { type Site, site } from "../site.js";

const version = "2025-11-25";

/** Milliseconds after which a session without use rests. */
const restTime = 10_000;

/** Lets the sessions rest; returns whether all do: then the timer that looks at those that are awake has ended. */
function rest({ clock }: Site): boolean {
  const before = clock.armed;
  clock.advance(restTime);
  return clock.armed < before;
}

/** A server whose tools use what a session keeps between its calls. */
function keeper(): { readonly server: Server; later(): void } {
  const server = createServer({ name: "keeper", version: "1" });
  let later: () => void = () => undefined;
  server.tool("ask", {}, async (_args, ctx) => (await ctx.elicit("Sure?", { type: "object", properties: {} })).action);
  server.tool("log", {}, (_args, ctx) => {
    ctx.log("info", "quiet");
    ctx.log("error", "loud");
    return "logged";
  });
  server.tool("steps", {}, (_args, ctx) => {
    void ctx.progress(1, 2);
    void ctx.progress(2, 2);
    return "done";
  });
  server.tool("pay", {}, (_args, ctx) => {
    later = () => ctx.completeElicitation("pay-1");
    return "later";
  });
  server.resource("a:1", {}, () => "one");
  return { server, later: () => later() };
}

function toolCall(id: number, name: string, meta?: object): string {
  return request(id, "tools/call", { name, ...(meta !== undefined && { _meta: meta }) });
}

test("a session rests after some seconds without use, and goes on for the next request", async () => {
  await using at = await site(keeper().server);
  const session = await openSession(at, version);
  expect(rest(at)).toBe(true);
  expect(await at.ask(sessionPost(session, ping))).toMatchObject({ status: 200 });
  at.clock.advance(restTime / 2 - 1);
  expect(await at.ask(sessionPost(session, ping))).toMatchObject({ status: 200 });
  expect(rest(at)).toBe(true);
  expect((await at.ask({ method: "DELETE", headers: { "mcp-session-id": session } })).status).toBe(204);
  expect((await at.ask(sessionPost(session, ping))).status).toBe(404);
});

test("a session whose stream is read, whose call runs or whose message waits does not rest", async () => {
  const { server, later } = keeper();
  await using at = await site(server);
  const session = await openSession(at, version, {}, { elicitation: {} });
  {
    using wire = await at.open();
    wire.write(written(sessionGet(session)));
    await wire.head();
    expect(rest(at)).toBe(false);
  }
  await turn();
  {
    using wire = await at.open();
    wire.write(written(sessionPost(session, toolCall(7, "ask"))));
    await wire.head();
    const { id } = parse(await wire.message());
    expect(rest(at)).toBe(false);
    await at.ask(sessionPost(session, success(id as number, { action: "decline" })));
    expect(await wire.message()).toContain("decline");
  }
  await at.ask(sessionPost(session, toolCall(8, "pay")));
  later();
  expect(rest(at)).toBe(false);
  using wire = await at.open();
  wire.write(written(sessionGet(session)));
  await wire.head();
  expect(await wire.message()).toContain("pay-1");
});

test("what a client has set and asked for outlasts a rest", async () => {
  const { server, later } = keeper();
  await using at = await site(server);
  const session = await openSession(at, version, {}, { elicitation: {} });
  const ask = async (id: number): Promise<unknown> => {
    using wire = await at.open();
    wire.write(written(sessionPost(session, toolCall(id, "ask"))));
    await wire.head();
    const { id: asked } = parse(await wire.message());
    await at.ask(sessionPost(session, success(asked as number, { action: "accept", content: {} })));
    expect(await wire.message()).toContain("accept");
    return asked;
  };
  await at.ask(sessionPost(session, request(1, "logging/setLevel", { level: "error" })));
  await at.ask(sessionPost(session, request(2, "resources/subscribe", { uri: "a:1" })));
  await at.ask(sessionPost(session, toolCall(3, "pay")));
  expect(await ask(4)).toBe(1);
  expect(rest(at)).toBe(true);
  expect(await ask(5), "no id is used twice in a session").toBe(2);
  const logged = (await at.ask(sessionPost(session, toolCall(6, "log")))).body;
  expect(logged).toContain("loud");
  expect(logged).not.toContain("quiet");
  expect((await at.ask(sessionPost(session, `[${ping}]`))).body, "the rules of the revision").toContain("-32600");
  expect(rest(at)).toBe(true);
  server.changed.resource("a:1");
  await turn();
  later();
  using wire = await at.open();
  wire.write(written(sessionGet(session)));
  await wire.head();
  const told = [await wire.message(), await wire.message()].join();
  expect(told).toContain(notification("notifications/resources/updated", { uri: "a:1" }));
  expect(told).toContain("pay-1");
});

test("a stream from before a rest is resumed after it, and no later stream has its name", async () => {
  await using at = await site(keeper().server);
  const session = await openSession(at, version);
  using wire = await at.open();
  const steps = async (id: number): Promise<string> => {
    wire.write(written(sessionPost(session, toolCall(id, "steps", { progressToken: id }))));
    await wire.head();
    const first = await wire.event();
    while ((await wire.event()) !== undefined);
    return first?.id ?? "";
  };
  const before = await steps(1);
  expect(rest(at)).toBe(true);
  const after = await steps(2);
  expect(after.split("-")[0]).not.toBe(before.split("-")[0]);
  expect(rest(at)).toBe(true);
  const resumed = await at.ask(sessionGet(session, { "last-event-id": before }));
  expect(resumed.body).toContain('"progressToken":1');
  expect(resumed.body).toContain('"id":1');
  expect(resumed.body).not.toContain('"progressToken":2');
});

test("a session that rests expires, and a server with such sessions shuts down", async () => {
  await using at = await site(keeper().server, { sessions: { idleTtl: 60_000 } });
  const expiring = await openSession(at, version);
  expect(rest(at)).toBe(true);
  at.clock.advance(60_000);
  expect((await at.ask(sessionPost(expiring, ping))).status).toBe(404);
  const open = await openSession(at, version);
  expect(rest(at)).toBe(true);
  at.server.tool("new", {}, () => ""); // Wakes it, to note the change.
  await turn();
  expect(at.server.changes.size).toBe(1);
  await at.http.close();
  expect(at.server.changes.size).toBe(0);
  expect(open).not.toBe(expiring);
});

test("a second initialize of a session that has rested opens another conversation", async () => {
  await using at = await site(keeper().server);
  const session = await openSession(at, version);
  await at.ask(sessionPost(session, request(1, "logging/setLevel", { level: "error" })));
  expect(rest(at)).toBe(true);
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const again = await at.ask(sessionPost(session, request(2, "initialize", params)));
  expect(parse(again.body).result).toMatchObject({ protocolVersion: "2025-06-18" });
  await at.ask(sessionPost(session, notification("notifications/initialized")));
  expect(rest(at)).toBe(true);
  expect((await at.ask(sessionPost(session, toolCall(3, "log")))).body).toContain("quiet");
});

test("sessions that rest take at least 2 KB less than those in use", async () => {
  await using at = await site(keeper().server);
  const sessions: string[] = [];
  for (let opened = 0; opened < 500; opened += 1) sessions.push(await openSession(at, version));
  expect(rest(at)).toBe(true);
  await heap(); // What earlier tests have left is freed.
  const atRest = await heap();
  for (const session of sessions) await at.ask(sessionPost(session, ping));
  expect(((await heap()) - atRest) / sessions.length).toBeGreaterThan(2_048);
});
