import { httpHandler } from "@parlance/mcp/http";
import { createServer, type Server } from "@parlance/mcp/server";
import { createFakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { inForm } from "../../../testing/forms.js";
import { parse, request, textOf } from "../../../testing/frames.js";
import { turn } from "../../../testing/talks.js";
import { type Asked, sessionGet, sessionPost, statelessCall, statelessPost, written } from "../asked.js";
import { openSession, requestOf } from "../handlers.js";
import { read } from "../obeying.js";
import { type Site, site, until, watchTools } from "../site.js";

const mebibyte = 1024 * 1024;
const megabyte = "x".repeat(mebibyte);
/** The bytes that a server lets wait, with the buffers of the system and of one message. */
const bound = (8 + 16) * mebibyte;
/** Megabytes that a tool tells, several times the bound. */
const enough = inForm({ long: 256, short: 80 });

interface Flooding {
  readonly server: Server;
  /** Megabytes that the tool has told. */
  told(): number;
  /** Turns in which it has waited for its reader. */
  waits(): number;
}

/** A server whose tool tells many megabytes; a polite one waits for its reader, a rude one only lets others go first. */
function flooding(manner: "polite" | "rude"): Flooding {
  const server = createServer({ name: "flood", version: "1" });
  let told = 0;
  let waits = 0;
  server.tool("flood", {}, async (_args, context) => {
    while (told < enough && !context.signal.aborted) {
      told += 1;
      void context.progress(told, undefined, megabyte);
      await turn();
      if (manner === "rude") continue;
      waits += 1;
      await context.drained();
    }
    return "done";
  });
  server.tool("echo", {}, () => "alive");
  server.tool("big", {}, () => megabyte.repeat(24));
  return { server, told: () => told, waits: () => waits };
}

const params = { name: "flood", arguments: {}, _meta: { progressToken: 1 } };
const stateless: Asked = statelessPost(
  "tools/call",
  { name: "flood", arguments: {} },
  {},
  { meta: { progressToken: 1 } },
);

async function expectAlive(at: Site): Promise<void> {
  expect(textOf((await at.ask(statelessCall("echo"))).body)).toBe("alive");
}

/** Waits until something has not changed for a while: whoever does it waits for something else. */
async function still(value: () => number): Promise<void> {
  for (let same = 0, last = value(); same < 200; same += 1) {
    await turn();
    if (value() === last) continue;
    last = value();
    same = 0;
  }
}

describe("a reader that does not read", () => {
  test("holds up who waits for it, and is given up after 30 seconds: its call of the stateless era is cancelled", async () => {
    const { server, told } = flooding("polite");
    await using at = await site(server);
    using wire = await at.open();
    wire.write(written(stateless));
    await until(() => told() > 0);
    await still(told);
    expect(told() * mebibyte).toBeLessThan(bound);
    expect(at.running.has("flood")).toBe(true);
    await expectAlive(at);
    at.clock.advance(29_999);
    await turn();
    expect(at.running.has("flood")).toBe(true);
    at.clock.advance(1);
    await until(() => !at.running.has("flood"));
    expect(told()).toBeLessThan(enough);
  });

  test("gets the latest progress alone of a call that does not wait for it", async () => {
    const { server, told } = flooding("rude");
    await using at = await site(server);
    using wire = await at.open();
    wire.write(written(stateless));
    await until(() => told() > 0 && !at.running.has("flood"));
    expect(told()).toBe(enough);
    await expectAlive(at);
    await wire.head();
    const steps: unknown[] = [];
    for (let message = parse(await wire.message()); "method" in message; message = parse(await wire.message())) {
      steps.push((message.params as { progress: number }).progress);
    }
    expect(steps.length * mebibyte).toBeLessThan(bound);
    expect(steps).toEqual([...steps].sort((one, other) => Number(one) - Number(other)));
    expect(steps.at(-1)).toBe(enough);
  });

  test("of an answer in a session is let go after 30 seconds; its call goes on, and what it may come back for has its bound", async () => {
    const { server, told } = flooding("polite");
    await using at = await site(server);
    const session = await openSession(at);
    using wire = await at.open();
    wire.write(written(sessionPost(session, request(1, "tools/call", params))));
    await until(() => told() > 0);
    await still(told);
    expect(told() * mebibyte).toBeLessThan(bound);
    at.clock.advance(30_000);
    await until(() => !at.running.has("flood"));
    expect(told()).toBe(enough);
    await expectAlive(at);
  });

  test("of what belongs to no request is let go too, and what it has not read waits up to a bound", async () => {
    const { server } = flooding("polite");
    server.resourceTemplate("a:{x}", {}, () => "");
    await using at = await site(server);
    const session = await openSession(at);
    const uris = Array.from({ length: 100 }, (_none, index) => `a:${index}${"x".repeat(8_000)}`);
    for (const uri of uris) await at.ask(sessionPost(session, request(1, "resources/subscribe", { uri })));
    const reader = await read(at, session);
    // Each round notifies of 800 kB, and the short form of twice the bound.
    for (let rounds = 0; rounds < inForm({ long: 300, short: 60 }); rounds += 1) {
      for (const uri of uris) server.changed.resource(uri);
      await turn();
    }
    await expectAlive(at);
    expect((await at.ask(sessionGet(session))).status).toBe(409);
    at.clock.advance(30_000);
    await turn();
    (await read(at, session))[Symbol.dispose]();
    reader[Symbol.dispose]();
  });

  test.each([
    ["the stateless era", () => Promise.resolve(statelessCall("big"))],
    [
      "a session",
      async (at: Site) => sessionPost(await openSession(at), request(1, "tools/call", { name: "big", arguments: {} })),
    ],
  ])("of a whole answer is given up after 30 seconds in %s", async (_name, asked) => {
    const { server } = flooding("polite");
    await using at = await site(server);
    using wire = await at.open();
    wire.write(written(await asked(at)));
    expect((await wire.head()).status).toBe(200);
    for (let turns = 0; turns < 50; turns += 1) await turn();
    await expectAlive(at);
    at.clock.advance(30_000);
    await expect(wire.body()).rejects.toThrow("the connection has ended");
  });

  test("of the end of a stream is given up as well", async () => {
    const { server } = flooding("polite");
    server.tool("big-end", {}, (_args, context) => {
      void context.progress(1);
      return megabyte.repeat(24);
    });
    await using at = await site(server);
    using wire = await at.open();
    const call = { name: "big-end", arguments: {} };
    wire.write(written(statelessPost("tools/call", call, {}, { meta: { progressToken: 1 } })));
    expect((await wire.head()).status).toBe(200);
    for (let turns = 0; turns < 50; turns += 1) await turn();
    at.clock.advance(30_000);
    await expect(wire.body()).rejects.toThrow("the connection has ended");
  });

  test("one that reads slowly is not given up, however much there is", async () => {
    const { server } = flooding("polite");
    await using at = await site(server);
    using wire = await at.open();
    wire.write(written(statelessCall("big")));
    await wire.head();
    let bytes = 0;
    while (bytes < 24 * mebibyte) {
      bytes += await wire.some();
      at.clock.advance(200);
    }
    expect(at.clock.now()).toBeGreaterThan(30_000);
  });
});

test("a body that a platform does not take is given up as well", async () => {
  const { server, told } = flooding("polite");
  const clock = createFakeClock();
  const running = watchTools(server);
  const handler = httpHandler(server, { clock });
  const response = await handler(requestOf(stateless));
  await still(told);
  // The bytes that the platform buffers before it signals backpressure.
  expect(told()).toBeLessThan(4);
  expect(running.has("flood")).toBe(true);
  clock.advance(30_000);
  await until(() => running.size === 0);
  await expect(response.text()).rejects.toThrow("the reader does not read");
  expect(clock.armed).toBe(0);
});
