import { latest } from "@parlance/mcp";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { createFakeClock } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import { open } from "./opened.js";
import { type Asked, event, playModern, stream, success } from "./played-server.js";

const change = (asked: Asked): object => ({
  jsonrpc: "2.0",
  method: "notifications/tools/list_changed",
  params: { _meta: { "io.modelcontextprotocol/subscriptionId": asked.message.id } },
});

const acknowledgement = (asked: Asked): object => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: {
    notifications: { toolsListChanged: true },
    _meta: { "io.modelcontextprotocol/subscriptionId": asked.message.id },
  },
});

test("a subscription is a stream that stays open, is opened again when it drops, and ends with its client", async () => {
  const clock = createFakeClock();
  await using server = await playModern();
  await using opened = await open(server, { clock, random: () => 0 });
  const opening = opened.client.subscribe({ toolsListChanged: true });
  const first = await server.next();
  expect(first.message.method).toBe("subscriptions/listen");
  stream(first).write(event(acknowledgement(first)));
  const subscription = await opening;
  const changes = subscription[Symbol.asyncIterator]();
  first.response.write(`: keep-alive\n\n${event(change(first))}`);
  expect((await changes.next()).value).toEqual({ kind: "list", list: "tools" });

  clock.advance(3_600_000);
  first.response.destroy();
  await first.over;
  while (clock.armed === 0) await new Promise(setImmediate);
  clock.advance(1_000);
  const second = await server.next();
  stream(second).write(event(acknowledgement(second)));
  expect((await changes.next()).value).toEqual({ kind: "missed" });
  second.response.write(event(change(second)));
  expect((await changes.next()).value).toEqual({ kind: "list", list: "tools" });

  await subscription.close();
  await second.over;
  expect(await subscription.closed).toEqual({ reason: "closed" });
});

test("a subscription that its server ends in order is not opened again without `reopen`", async () => {
  await using server = await playModern();
  await using opened = await open(server, { reopen: false });
  const opening = opened.client.subscribe({ toolsListChanged: true });
  const asked = await server.next();
  stream(asked).end(event(acknowledgement(asked)) + event(success(asked, {})));
  expect(await (await opening).closed).toEqual({ reason: "ended" });
});

test("a subscription that a drained server ends is opened again at the one that takes its place", async () => {
  const serve = async (port: number) => {
    const server = createServer({ name: "deployed", version: "1.0.0" });
    const tool = server.tool("a", {}, () => "a");
    return { tool, http: await serveHttp(server, { port }) };
  };
  const first = await serve(0);
  await using opened = await open(first.http, { revision: latest.version });
  const subscription = await opened.client.subscribe({ toolsListChanged: true });
  await first.http.drain();
  const second = await serve(first.http.port);
  try {
    const changes = subscription[Symbol.asyncIterator]();
    expect((await changes.next()).value).toEqual({ kind: "missed" });
    second.tool.disable();
    expect((await changes.next()).value).toEqual({ kind: "list", list: "tools" });
    await subscription.close();
    expect(await subscription.closed).toEqual({ reason: "closed" });
  } finally {
    await second.http.close();
  }
});
