import { notifications } from "@parlance/mcp/protocol";
import { createFakeClock } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import { open } from "./opened.js";
import { event, result, said, stream } from "./played-server.js";
import { methodsOf, playSession } from "./played-session.js";
import { patient, timers } from "./timers.js";

// A server may ask before it accepts what it was told, and it may never accept it.

const roots = [{ uri: "file:///home" }];

test("what a server asks while it takes a notification is answered", async () => {
  await using server = await playSession({ listens: true });
  await using opened = await open(server, { handlers: { roots: () => roots } });
  const listening = stream(await server.next());
  opened.client.rootsChanged();
  const told = await server.next();
  listening.write(event({ jsonrpc: "2.0", id: "q", method: "roots/list" }));
  const answer = await server.next();
  expect(answer.message).toEqual({ jsonrpc: "2.0", id: "q", result: { roots } });
  answer.response.writeHead(202).end();
  told.response.writeHead(202).end();
});

test("what it never accepts is given up, and what follows goes out", async () => {
  const clock = createFakeClock();
  await using server = await playSession({ listens: true });
  await using opened = await open(server, { clock, ...patient, handlers: { roots: () => roots } });
  stream(await server.next());
  opened.client.rootsChanged();
  const told = await server.next();
  const call = opened.client.tools.call("a");
  await timers(clock, 1);
  clock.advance(29_999);
  expect(methodsOf(server).at(-1)).toBe(notifications.rootsChanged);
  clock.advance(1);
  result(await server.next(), said("ok"));
  await call;
  await told.over;
  expect(opened.reports).toEqual([
    expect.stringMatching(/notifications\/roots\/list_changed: the server has not accepted it within 30000 ms/),
  ]);
});

test("notifications arrive in order, and before the calls that follow them", async () => {
  await using server = await playSession({ listens: true });
  await using opened = await open(server, { handlers: { roots: () => roots } });
  const listening = stream(await server.next());
  opened.client.rootsChanged();
  opened.client.rootsChanged();
  const calls = [opened.client.tools.call("a"), opened.client.tools.call("b")];
  for (let times = 0; times < 2; times += 1) {
    const told = await server.next();
    expect(told.message.method).toBe(notifications.rootsChanged);
    listening.write(event({ jsonrpc: "2.0", id: "q", method: "roots/list" }));
    const answer = await server.next(); // It waits for nothing, so whatever does not wait would be here by now.
    expect(answer.message.id).toBe("q");
    answer.response.writeHead(202).end();
    told.response.writeHead(202).end();
  }
  const asked = [await server.next(), await server.next()]; // They do not wait for each other.
  for (const each of asked) result(each, said("ok"));
  await Promise.all(calls);
});
