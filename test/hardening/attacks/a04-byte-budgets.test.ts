import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Connection, type ConnectionOptions, lines, openConnection } from "@parlance/mcp/jsonrpc";
import { streamChannel } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { afterEach, describe, expect, test } from "vitest";
import { ByteBudget, processBudget } from "../../../packages/mcp/src/base/byte-budget.js";
import { sessionPost, statelessCall, statelessPost, written } from "../../http/server/asked.js";
import { openSession } from "../../http/server/handlers.js";
import { site, until } from "../../http/server/site.js";
import { Wire } from "../../http/server/wire.js";
import { held, successText } from "../../jsonrpc/held.js";
import { overMemory, overStreams, type StreamTalk, type Talk, turn } from "../../jsonrpc/transports.js";
import { inForm } from "../../testing/forms.js";
import { type Frame, notification, parse, request, stateless, textOf } from "../../testing/frames.js";

const mebibyte = 1024 * 1024;
const fixture = fileURLToPath(new URL("../../fixtures/slow-server.js", import.meta.url));
const children: ChildProcess[] = [];

/** A server with a heap of 512 MB. */
function slowServer(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, ["--max-old-space-size=512", fixture, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  return child;
}

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await until(() => processBudget.held === 0);
});

/** A request of so many characters. */
function requestOf(id: number, method: string, characters: number): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":["${"x".repeat(characters)}"]}`;
}

const tooMany = { code: 42_900, message: "Too many requests" };

async function errorOf(talk: Talk): Promise<unknown> {
  return parse(await talk.peer.next()).error;
}

describe("A4: a process with 512 MB of heap", () => {
  const frames = inForm({ long: 139, short: 24 });

  test(`survives ${frames} frames of 3.8 MB behind 128 slow calls, and refuses what it has no room for`, async () => {
    const { stdin, stdout } = slowServer();
    if (stdin === null || stdout === null) throw new Error("the child has no pipes");
    const answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<Frame> => parse(String((await answers.next()).value));
    const write = (frame: string): unknown => stdin.write(`${frame}\n`);
    for (let id = 1; id <= 128; id += 1) write(stateless(id, "tools/call", { name: "slow" }));
    const pad = "x".repeat(3_800_000);
    for (let id = 129; id < 129 + frames; id += 1)
      write(stateless(id, "tools/call", { name: "slow", arguments: { pad } }));
    // Two characters count four bytes, and eight of these frames are all that fits into 64 MiB.
    const refused = new Map<unknown, unknown>();
    while (refused.size < frames - 8) {
      const { id, error } = await next();
      refused.set(id, error);
    }
    expect([...refused.keys()]).toEqual(Array.from({ length: frames - 8 }, (_none, index) => 137 + index));
    expect([...refused.values()].every((error) => (error as { code: number }).code === tooMany.code)).toBe(true);
    // Eight that wait come to their turn, and then this one.
    for (let requestId = 1; requestId <= 9; requestId += 1)
      write(notification("notifications/cancelled", { requestId }));
    write(stateless(300, "server/discover"));
    expect(await next()).toMatchObject({ id: 300, result: {} });
  });

  test("keeps little of 300 stalled bodies, answers them 429, and serves a short call beside them", async () => {
    const { stdout } = slowServer("http");
    if (stdout === null) throw new Error("the child has no pipe");
    const [url] = (await once(stdout, "data")) as [Buffer];
    const { port } = new URL(String(url).trim());
    const head =
      "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: 4000000\r\n\r\n";
    const wires = await Promise.all(Array.from({ length: 300 }, () => Wire.open(Number(port))));
    const body = Buffer.alloc(3_900_000, " ");
    const statuses = wires.map(async (wire) => {
      wire.write(head);
      wire.write(body);
      const { status } = await wire.head(); // Fails where the connection is broken before the answer is read.
      return status;
    });
    expect(await Promise.any(statuses)).toBe(429);
    using caller = await Wire.open(Number(port));
    const { body: text } = await caller.ask(written(statelessCall("memory")));
    const { heapUsed, arrayBuffers } = JSON.parse(textOf(text)) as Record<"heapUsed" | "arrayBuffers", number>;
    expect(heapUsed + arrayBuffers).toBeLessThan(256 * mebibyte);
    for (const wire of wires) wire.socket.destroy();
    await Promise.allSettled(statuses);
  });
});

test("A4: a peer whose long messages are refused is not read for a while", async () => {
  const { call, runs } = held();
  await using talk = overMemory({ handle: call });
  talk.peer.send(requestOf(1, "first", 1));
  // Each uses an id that is in use: 16 MiB are free, and what comes beyond them costs a millisecond for each 16 KiB.
  for (let count = 0; count < 5; count += 1) talk.peer.send(requestOf(1, "again", 4_000_000));
  for (let count = 0; count < 5; count += 1) expect(await errorOf(talk)).toMatchObject({ code: -32_600 });
  talk.peer.send(requestOf(2, "second", 1));
  for (let turns = 0; turns < 10; turns += 1) await turn();
  expect(talk.connection.inFlight.running).toBe(1);
  talk.clock.advance(150);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  expect(talk.connection.inFlight.running).toBe(1);
  talk.clock.advance(100);
  await until(() => talk.connection.inFlight.running === 2);
  for (const run of runs) run.answer(1);
  for (const id of ["1", "2"]) expect(await talk.peer.next()).toBe(successText(id, "1"));
});

test("A4: a peer whose long messages are skipped is not read for a while, on any of its connections", async () => {
  const clock = createFakeClock();
  const budget = new ByteBudget(mebibyte);
  const options = { clock, budget };
  // In pieces: a frame of one chunk need not be stored before it is refused.
  const writeLong = (talk: StreamTalk, id: number): void => {
    const frame = Buffer.from(`${requestOf(id, "long", 4_000_000)}\n`);
    for (let at = 0; at < frame.length; at += 65_536) talk.write(frame.subarray(at, at + 65_536));
  };
  await using first = overStreams(lines, options);
  for (let id = 1; id <= 4; id += 1) {
    writeLong(first, id);
    expect(await errorOf(first)).toMatchObject(tooMany);
  }
  const { call, runs } = held();
  await using second = overStreams(lines, { ...options, handle: call });
  writeLong(second, 1);
  expect(await errorOf(second)).toMatchObject(tooMany);
  second.write(Buffer.from(`${requestOf(2, "short", 1)}\n`));
  for (let turns = 0; turns < 10; turns += 1) await turn();
  expect(second.connection.inFlight.running).toBe(0);
  clock.advance(250);
  await until(() => second.connection.inFlight.running === 1);
  runs[0]?.answer(1);
  expect(await second.peer.next()).toBe(successText("2", "1"));
});

describe("A4: what is kept for a peer has one bound", () => {
  const limits = { peerBytes: mebibyte, running: 1 };

  test("requests that wait are weighed, and what they took comes back when they end", async () => {
    const { call, runs } = held();
    await using talk = overMemory({ handle: call, limits });
    talk.peer.send(requestOf(1, "first", 200_000));
    talk.peer.send(requestOf(2, "second", 200_000));
    talk.peer.send(requestOf(3, "third", 200_000));
    expect(await errorOf(talk)).toMatchObject(tooMany);
    expect(talk.connection.inFlight).toMatchObject({ running: 1, waiting: 1 });
    runs[0]?.answer(1);
    expect(await talk.peer.next()).toBe(successText("1", "1"));
    talk.peer.send(requestOf(3, "third", 200_000));
    runs[1]?.answer(2);
    expect(await talk.peer.next()).toBe(successText("2", "2"));
    runs[2]?.answer(3);
    expect(await talk.peer.next()).toBe(successText("3", "3"));
  });

  test("a call that was cancelled counts until its handler ends; one that waited, no longer", async () => {
    const { call, runs } = held();
    const cancellation = { method: "$/cancelRequest", idMember: "id", error: null };
    await using talk = overMemory({ handle: call, limits, cancellation });
    talk.peer.send(requestOf(1, "first", 200_000));
    talk.peer.send(requestOf(2, "second", 200_000));
    talk.peer.send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}');
    talk.peer.send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}');
    talk.peer.send(requestOf(3, "third", 200_000));
    talk.peer.send(requestOf(4, "fourth", 200_000));
    expect(await errorOf(talk)).toMatchObject(tooMany);
    runs[0]?.answer(1);
    await turn();
    runs[1]?.answer(3);
    expect(await talk.peer.next()).toBe(successText("3", "3"));
  });

  test("a value counts by what it takes in memory, not by its characters", async () => {
    const { call, runs } = held();
    await using talk = overMemory({ handle: call, limits });
    const text = `{"jsonrpc":"2.0","id":1,"method":"first","params":[${"{},".repeat(9_000)}0]}`;
    talk.peer.send(text);
    talk.peer.send(text.replace('"id":1', '"id":2'));
    expect(await errorOf(talk)).toMatchObject(tooMany);
    runs[0]?.answer(1);
    expect(await talk.peer.next()).toBe(successText("1", "1"));
  });

  test("elements of a batch are weighed one by one, and so are their answers while the last is awaited", async () => {
    const { call, runs } = held();
    await using talk = overMemory({ handle: call, limits: { peerBytes: mebibyte } });
    talk.peer.send(`[${[1, 2, 3].map((id) => requestOf(id, `m${id}`, 200_000)).join(",")}]`);
    await turn();
    expect(runs.map(({ method }) => method)).toEqual(["m1", "m2"]);
    const large = "y".repeat(300_000);
    runs[0]?.answer(large);
    await turn();
    runs[1]?.answer(large);
    const answers = JSON.parse(await talk.peer.next()) as { id: number; result?: string; error?: object }[];
    expect(answers.map(({ id, error }) => [id, error])).toEqual([
      [3, expect.objectContaining(tooMany)],
      [1, undefined],
      [2, expect.objectContaining({ code: -32_603 })],
    ]);
  });

  test("an answer that there is no room to queue becomes an error", async () => {
    await using talk = overMemory({ handle: () => "x".repeat(600_000), limits });
    talk.peer.send('{"jsonrpc":"2.0","id":1,"method":"get"}');
    expect(await errorOf(talk)).toMatchObject({
      code: -32_603,
      data: { reason: "no room to queue the answer: read what was sent before, or ask for less" },
    });
  });

  test("a frame whose end has not come is charged, and skipped where it does not fit; short frames come through", async () => {
    const { call, runs } = held();
    await using talk = overStreams(lines, { handle: call, limits: { peerBytes: mebibyte } });
    talk.peer.send(requestOf(1, "slow", 300_000));
    talk.write(Buffer.from(requestOf(2, "slow", 600_000)));
    await turn();
    talk.write(Buffer.from("\n"));
    talk.peer.send('{"jsonrpc":"2.0","id":3,"method":"ping"}');
    expect(parse(await talk.peer.next())).toMatchObject({ id: 2, error: tooMany });
    expect(await talk.peer.next()).toBe(successText("3", '"pong"'));
    const before = talk.connection.heldBytes;
    talk.write(Buffer.from(requestOf(4, "slow", 100_000)));
    await turn();
    expect(talk.connection.heldBytes - before).toBeGreaterThan(100_000 - 64 * 1024);
    talk.write(Buffer.from("\n"));
    await turn();
    for (const run of runs) run.answer(0);
    expect(await talk.peer.next()).toBe(successText("1", "0"));
    expect(await talk.peer.next()).toBe(successText("4", "0"));
  });

  test("output that is not read is charged, and its reader is given up where it does not fit", async () => {
    const { connection, clock } = unread({ limits: { peerBytes: mebibyte } });
    for (let told = 0; told < 8; told += 1) connection.notify("tick", ["x".repeat(100_000)]);
    await turn();
    expect(connection.heldBytes).toBe(0);
    clock.advance(1_000);
    expect(await connection.closed).toMatchObject({
      reason: "failed",
      error: { message: expect.stringMatching(/^the peer does not read: .* there is no room for more$/) },
    });
  });

  test("a process has a bound over all its peers", async () => {
    const { call, runs } = held();
    const shared = { peerBytes: mebibyte, processBytes: 1.5 * mebibyte };
    await using first = overMemory({ handle: call, limits: shared });
    await using second = overMemory({ handle: call, limits: shared });
    first.peer.send(requestOf(1, "first", 400_000));
    await turn();
    second.peer.send(requestOf(1, "second", 400_000));
    expect(await errorOf(second)).toMatchObject(tooMany);
    runs[0]?.answer(1);
    expect(await first.peer.next()).toBe(successText("1", "1"));
  });
});

describe("A4: over HTTP", () => {
  const inputSchema = { type: "object", properties: { pad: { type: "string" } } } as const;

  test("calls from one address share a bound: 429; and all addresses another: 503", async () => {
    for (const [limits, status] of [
      [{ peerBytes: 160_000 }, 429],
      [{ processBytes: 160_000 }, 503],
    ] as const) {
      const server = createServer({ name: "slow", version: "1" });
      let end = (): void => undefined;
      server.tool("slow", { inputSchema }, () => new Promise<string>((resolve) => (end = () => resolve("done"))));
      await using at = await site(server, { limits });
      using wire = await at.open();
      const slow = statelessCall("slow", { pad: "x".repeat(50_000) }); // Its body is short enough to be read in any case.
      wire.write(written(slow));
      await until(() => at.running.has("slow"));
      const refused = await at.ask(slow);
      expect({ status: refused.status, retry: refused.headers.get("retry-after") }).toEqual({ status, retry: "1" });
      expect(parse(refused.body).error).toMatchObject(tooMany);
      end();
      expect((await wire.answer()).status).toBe(200);
    }
  });

  test("a body that does not fit is rejected before it is read", async () => {
    await using at = await site(createServer({ name: "small", version: "1" }), { limits: { peerBytes: mebibyte } });
    using wire = await at.open();
    const type = "content-type: application/json\r\naccept: application/json, text/event-stream";
    wire.write(`POST /mcp HTTP/1.1\r\nhost: localhost\r\n${type}\r\ncontent-length: 2000000\r\n\r\n`);
    expect((await wire.head()).status).toBe(429);
  });

  test("listening for many resources is charged as long as it lasts", async () => {
    const server = createServer({ name: "many", version: "1" });
    server.resourceTemplate("a:{x}", {}, () => "");
    await using at = await site(server, { limits: { peerBytes: mebibyte } });
    const uris = Array.from({ length: 40 }, (_none, index) => `a:${index}${"x".repeat(8_000)}`);
    const listen = statelessPost("subscriptions/listen", { notifications: { resourceSubscriptions: uris } });
    using wire = await at.open();
    wire.write(written(listen));
    expect((await wire.head()).status).toBe(200);
    expect((await at.ask(listen)).status).toBe(429);
  });

  test("the subscriptions of a session are charged until it ends", async () => {
    const server = createServer({ name: "many", version: "1" });
    server.resourceTemplate("a:{x}", {}, () => "");
    await using at = await site(server, { limits: { peerBytes: mebibyte } });
    const session = await openSession(at);
    const subscribe = (index: number): Promise<{ body: string }> =>
      at.ask(sessionPost(session, request(1, "resources/subscribe", { uri: `a:${index}${"x".repeat(8_000)}` })));
    const errors: unknown[] = [];
    for (let index = 0; index < 70; index += 1) errors.push(parse((await subscribe(index)).body).error);
    expect(errors[50]).toBeUndefined();
    expect(errors.at(-1)).toMatchObject(tooMany);
    await at.ask({ method: "DELETE", headers: { "mcp-session-id": session } });
    await until(() => processBudget.held === 0);
  });

  test("what can be resumed takes a quarter of the bound, and stands in the way of no call", async () => {
    const server = createServer({ name: "loud", version: "1" });
    server.tool("loud", {}, async (_args, context) => {
      for (let told = 1; told <= 100; told += 1) {
        void context.progress(told, undefined, "x".repeat(5_000));
        await context.drained();
      }
      return "done";
    });
    await using at = await site(server, { limits: { peerBytes: mebibyte } });
    const session = await openSession(at);
    for (let id = 1; id <= 3; id += 1) {
      const params = { name: "loud", arguments: {}, _meta: { progressToken: id } };
      const { status } = await at.ask(sessionPost(session, request(id, "tools/call", params)));
      expect(status).toBe(200);
    }
    expect(processBudget.held).toBeLessThan(mebibyte / 4 + 64 * 1024);
    expect(processBudget.held).toBeGreaterThan(mebibyte / 8);
  });
});

/** A connection to a peer that does not read. */
function unread(options: ConnectionOptions): { readonly connection: Connection; readonly clock: FakeClock } {
  const clock = createFakeClock();
  const output = new PassThrough({ highWaterMark: 16 * 1_024 });
  return {
    clock,
    connection: openConnection(streamChannel(new PassThrough(), output, { clock }), { clock, ...options }),
  };
}
