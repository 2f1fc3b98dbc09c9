import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect as connectSocket } from "node:net";
import { PassThrough } from "node:stream";
import { versions } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { type Channel, type Connection, createService, openConnection, type Report } from "@parlance/mcp/jsonrpc";
import { connectStdio, nodeRpcHandler, serveHttp, serveTcp, streamChannel, tcpChannel } from "@parlance/mcp/node";
import { createServer, type Server, serveChannel } from "@parlance/mcp/server";
import { createFakeClock, type FakeClock } from "@parlance/mcp/testing";
import { nodeWebSocketChannel, serveWebSocket } from "@parlance/mcp/websocket";
import { describe, expect, test } from "vitest";
import { deferred } from "../../../packages/mcp/src/base/deferred.js";
import type { AcceptWebSocket } from "../../../packages/mcp/src/node/websocket/websocket-upgrade.js";
import { statelessPost, written } from "../../http/server/asked.js";
import { Wire } from "../../http/server/wire.js";
import { open as openWebSocket } from "../../node/websocket/wire.js";
import { speak } from "../../server/speak.js";
import { stateless, textOf } from "../../testing/frames.js";
import { serverProcess } from "../../testing/processes.js";
import { transports } from "../../transport/links.js";

const mebibyte = "x".repeat(1024 * 1024);

/** Tells 64 MiB in one turn of the event loop, and waits for nothing. */
const burst = `
  const mebibyte = "x".repeat(1024 * 1024);
  server.tool("burst", {}, (_args, context) => {
    for (let step = 1; step <= 64; step += 1) void context.progress(step, 64, mebibyte);
    return "told all";
  });
  server.tool("answers", {}, () => mebibyte);
`;

function bursting(): Server {
  const server = createServer({ name: "bursting", version: "1.0.0" });
  server.tool("burst", {}, (_args, context) => {
    for (let step = 1; step <= 64; step += 1) void context.progress(step, 64, mebibyte);
    return "told all";
  });
  server.tool("logs", {}, (_args, context) => {
    for (let line = 0; line < 64; line += 1) context.log("error", mebibyte);
    return "told all";
  });
  server.tool("few", {}, (_args, context) => {
    for (let step = 1; step <= 250; step += 1) void context.progress(step, 250);
    return "told all";
  });
  server.tool("answers", {}, () => mebibyte);
  server.tool("large", {}, () => mebibyte.repeat(24));
  return server;
}

/** Calls a tool; what its text is, and the progress that came before. */
async function told(
  client: Awaited<ReturnType<typeof connect>>,
  tool: string,
): Promise<{ readonly text: unknown; readonly steps: readonly number[] }> {
  const steps: number[] = [];
  const { content } = await client.tools.call(tool, {}, { onProgress: ({ progress }) => steps.push(progress) });
  return { text: (content[0] as { text?: string }).text, steps };
}

const all = Array.from({ length: 250 }, (_none, index) => index + 1);

/** Increasing, and the last value among them. */
function expectLatest(steps: readonly number[]): void {
  expect(steps.length).toBeLessThan(64);
  expect(steps).toEqual([...steps].sort((one, other) => one - other));
  expect(steps.at(-1)).toBe(64);
}

describe("A6: 64 MiB of progress in one turn, to a client that reads", () => {
  test("lose no call on stdio, and the latest value arrives before the result", async () => {
    await using client = await connectStdio(serverProcess(burst));
    const others = Array.from({ length: 20 }, () => told(client, "answers"));
    const { text, steps } = await told(client, "burst");
    expect(text).toBe("told all");
    expectLatest(steps);
    expect((await Promise.all(others)).map((other) => other.text)).toEqual(others.map(() => mebibyte));
  });

  test("lose no call on TCP", async () => {
    await using listening = await serveTcp(bursting(), { port: 0 });
    await using client = await connect(() => tcpChannel(listening.address));
    expectLatest((await told(client, "burst")).steps);
    expect((await told(client, "few")).steps).toEqual(all);
  });

  test("lose no call on a WebSocket", async () => {
    await using listener = await serveWebSocket(bursting());
    await using client = await connect(() => nodeWebSocketChannel(listener.url));
    expectLatest((await told(client, "burst")).steps);
    expect((await told(client, "few")).steps).toEqual(all);
  });

  test.each(["2025-11-25", "2026-07-28"])("lose no call on HTTP in %s", async (revision) => {
    await using http = await serveHttp(bursting());
    await using client = await connect(http.url, { revision });
    expectLatest((await told(client, "burst")).steps);
    expect((await told(client, "few")).steps).toEqual(all);
  });
});

test("A6: 64 MiB of log messages in one turn are dropped beyond 16 MiB, with one report, and lose no call", async () => {
  const reports: Report[] = [];
  await using listening = await serveTcp(bursting(), { port: 0 }, { report: (report) => void reports.push(report) });
  let lines = 0;
  await using client = await connect(() => tcpChannel(listening.address), {
    revision: "2025-11-25",
    onNotification(method) {
      if (method === "notifications/message") lines += 1;
    },
  });
  expect((await told(client, "logs")).text).toBe("told all");
  expect(lines).toBeLessThan(20);
  expect(reports).toEqual([{ kind: "dropped", method: "notifications/message", unread: true }]);
});

test.each(versions)("A6: a thousand changes of a list in one turn are one notification, in %s", async (version) => {
  const server = bursting();
  await using peer = await speak(server, version);
  const isListening = version === "2026-07-28";
  if (isListening) await peer.ask("subscriptions/listen", { notifications: { toolsListChanged: true } }, "changes");
  for (let number = 0; number < 1_000; number += 1) server.tool(`tool-${number}`, {}, () => "");
  expect((await peer.next()).method).toBe("notifications/tools/list_changed");
  // The next frame is the response to a later call.
  expect(textOf(JSON.stringify(await peer.ask("tools/call", { name: "tool-999" }, "call")))).toBe("");
  if (isListening) peer.cancel("changes");
});

test("A6: a hundred answers of 1 MiB in one turn all arrive", async () => {
  await using listening = await serveTcp(bursting(), { port: 0 });
  await using client = await connect(() => tcpChannel(listening.address));
  const calls = await Promise.all(Array.from({ length: 100 }, () => told(client, "answers")));
  expect(calls.map(({ text }) => (text as string).length)).toEqual(calls.map(() => mebibyte.length));
});

test("A6: progress can be awaited for room", async () => {
  const clock = createFakeClock();
  const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1_024 })];
  const server = createServer({ name: "waiting", version: "1.0.0" });
  const waits: string[] = [];
  server.tool("wait", {}, async (_args, context) => {
    await context.progress(1);
    waits.push("told a little");
    await context.progress(2, undefined, mebibyte);
    waits.push("told much");
    return "done";
  });
  const connection = serveChannel(server, streamChannel(input, output, { clock }), { clock });
  input.write(`${stateless(1, "tools/call", { name: "wait", arguments: {} }, { progressToken: 1 })}\n`);
  await turns();
  expect(waits).toEqual(["told a little"]);
  output.resume();
  await once(output, "data");
  while (waits.length < 2) await turns();
  await connection.close();
});

describe("A6: a peer that does not read is given up, and the report has the reason", () => {
  const reasons = (reports: readonly Report[]): string[] =>
    reports.flatMap((report) => (report.kind === "given-up" ? [report.error.message] : []));

  /** Sends 16 MiB to a peer that reads nothing. */
  function givenUp(channel: Channel, clock: FakeClock): { connection: Connection; isGivenUp: Promise<void> } {
    const reports: Report[] = [];
    const connection = openConnection(channel, { clock, report: (report) => void reports.push(report) });
    for (let count = 0; count < 16; count += 1) connection.notify("news", [mebibyte]);
    const wait = async (): Promise<void> => {
      while (connection.phase !== "closed") {
        await turns();
        clock.advance(1_000);
      }
      expect(reasons(reports)).toEqual(["the peer does not read: nothing was read for 30000 ms"]);
    };
    return { connection, isGivenUp: wait() };
  }

  test("on a stream", async () => {
    const clock = createFakeClock();
    const reports: Report[] = [];
    const output = new PassThrough({ highWaterMark: 1_024 });
    const connection = openConnection(streamChannel(new PassThrough(), output, { clock }), {
      clock,
      report: (report) => void reports.push(report),
    });
    connection.notify("news", [mebibyte]);
    await turns();
    clock.advance(30_000);
    await turns();
    clock.advance(1_000);
    await connection.closed;
    expect(reasons(reports)).toEqual(["the peer does not read: nothing was read for 30000 ms"]);
  });

  const { "a WebSocket": _reads, ...unread } = transports;

  test.each(Object.entries(unread))("on %s", async (_name, { link }) => {
    const { near, far, clock } = await link();
    await givenUp(near, clock).isGivenUp;
    far.close();
  });

  test("on a WebSocket", async () => {
    const clock = createFakeClock();
    const accepted = deferred<ReturnType<typeof givenUp>>();
    const accept: AcceptWebSocket = (channel) => {
      const given = givenUp(channel, clock);
      accepted.resolve(given);
      return given.connection;
    };
    await using listener = await serveWebSocket(accept, { clock });
    using _wire = await openWebSocket(listener.url);
    await (await accepted.promise).isGivenUp;
  });

  test("on HTTP without MCP", async () => {
    const clock = createFakeClock();
    const reports: Report[] = [];
    const service = createService().method("large", () => mebibyte.repeat(24));
    const handler = nodeRpcHandler(service.call, { clock, report: (report) => void reports.push(report) });
    const http = createHttpServer(handler).listen(0, "127.0.0.1");
    await once(http, "listening");
    using wire = await Wire.open((http.address() as AddressInfo).port);
    wire.write(written({ headers: {}, body: '{"jsonrpc":"2.0","id":1,"method":"large"}' }));
    while (reports.length === 0) {
      await turns();
      clock.advance(1_000);
    }
    expect(reasons(reports)).toEqual(["the peer does not read: nothing was read for 30000 ms"]);
    handler.close();
    http.close();
    await once(http, "close");
  });

  test("on HTTP, and others are served meanwhile", async () => {
    const clock = createFakeClock();
    const reports: Report[] = [];
    await using http = await serveHttp(bursting(), { clock, report: (report) => void reports.push(report) });
    const socket = connectSocket(http.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(written(statelessPost("tools/call", { name: "large", arguments: {} })));
    socket.pause();
    await using client = await connect(http.url);
    while (reports.length === 0) {
      expect((await told(client, "answers")).text).toBe(mebibyte);
      clock.advance(30_000);
    }
    expect(reasons(reports)).toEqual(["the peer does not read: nothing was read for 30000 ms"]);
    socket.destroy();
  });
});

describe("A6: a progress token of more than 256 bytes is refused", () => {
  const token = "é".repeat(128);
  const accepted = [token, 2 ** 53 - 1];

  test.each(["2025-11-25", "2026-07-28"])("in %s", async (revision) => {
    await using client = await connect(bursting(), { revision });
    const call = (progressToken: unknown): Promise<unknown> =>
      client.call("tools/call", { name: "few", arguments: {}, _meta: { progressToken } });
    for (const each of accepted) await call(each);
    await expect(call(`${token}x`)).rejects.toMatchObject({
      code: -32_602,
      data: { errors: [{ path: "/_meta/progressToken", message: "must have at most 256 bytes, got 257" }] },
    });
  });
});

/** Lets everything happen that can happen without time passing. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
