import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { handshakeVersions, latestHandshake } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { nodeHandler } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { createFakeClock } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { errorOf, open } from "./opened.js";
import {
  type Asked,
  event,
  failure,
  json,
  playServer,
  progressTokenOf,
  result,
  said,
  stream,
  success,
} from "./played-server.js";
import { forgotten, methodsOf, playSession } from "./played-session.js";
import { patient, timers } from "./timers.js";

describe("a session", () => {
  test("is opened after a refused discovery, named by every request, and ended", async () => {
    await using server = await playSession({ listens: true });
    const opened = await open(server);
    expect(opened.client.revision).toBe(latestHandshake.version);
    const listening = await server.next();
    expect(listening).toMatchObject({ method: "GET", headers: { accept: "text/event-stream" } });
    const call = opened.client.tools.call("räume");
    result(await server.next(), said("ok"));
    await call;
    await opened.client.close();
    await listening.over;
    expect(methodsOf(server)).toEqual([
      "server/discover",
      "initialize",
      "notifications/initialized",
      "GET",
      "tools/call",
      "DELETE",
    ]);
    for (const { headers, message } of server.asked.slice(1)) {
      const isFirst = message.method === "initialize";
      expect(headers["mcp-session-id"]).toBe(isFirst ? undefined : "s1");
      expect(headers["mcp-protocol-version"]).toBe(isFirst ? undefined : latestHandshake.version);
      expect(headers["mcp-method"]).toBeUndefined();
    }
    expect(opened.reports).toEqual([]);
  });

  test("is ended before its stream, whose connection fetch would replace by a spare one", async () => {
    const http = createHttpServer(nodeHandler(createServer({ name: "quiet", version: "1.0.0" })));
    http.keepAliveTimeout = 1;
    let connections = 0;
    http.on("connection", () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    const connecting = connect(`http://127.0.0.1:${port}/mcp`, { era: "handshake" });
    await new Promise<void>((resolve) => http.on("request", ({ method }) => method === "GET" && resolve()));
    const open = (): Promise<number> =>
      new Promise((resolve, reject) => http.getConnections((error, count) => (error ? reject(error) : resolve(count))));
    await expect.poll(open).toBe(1); // That of the stream.
    const client = await connecting;
    const before = connections;
    await client.close();
    await expect.poll(open).toBe(0);
    expect(connections - before).toBe(1);
    await new Promise((resolve) => http.close(resolve));
  });

  test("whose server is gone is over, which is nothing to report", async () => {
    const server = await playSession();
    const opened = await open(server);
    const call = opened.client.tools.call("a");
    result(await server.next(), said("ok"));
    await call;
    await server[Symbol.asyncDispose]();
    await opened.client.close();
    expect(opened.reports).toEqual([]);
  });

  test.each([
    ["has a space", "a b"],
    ["is there twice", ["a", "b"]],
    ["is not ASCII", "\u{e9}"],
    ["is too long", "x".repeat(4_097)],
  ])("is not opened with an id that %s", async (_what, id) => {
    await using server = await playServer((asked) => {
      const result = { protocolVersion: latestHandshake.version, capabilities: {}, serverInfo: {} };
      asked.response.setHeader("mcp-session-id", id);
      return json(asked, 200, { jsonrpc: "2.0", id: asked.message.id, result });
    });
    const error = await errorOf(connect(server.url, { era: "handshake" }));
    expect(error).toMatchObject({ reason: "protocol", message: expect.stringContaining("the id of the session") });
    expect(server.asked).toHaveLength(1);
  });

  test.each(handshakeVersions)("in %s names the version only where the revision does", async (version) => {
    await using server = await playSession({ version });
    await using opened = await open(server);
    expect(opened.client.revision).toBe(version);
    const call = opened.client.tools.call("a");
    const asked = await server.next();
    expect(asked.headers["mcp-protocol-version"]).toBe(version >= "2025-06-18" ? version : undefined);
    result(asked, said("ok"));
    await call;
  });

  test("asks and is asked on the stream of a call, and on that of the session", async () => {
    const told: string[] = [];
    await using server = await playSession({ listens: true });
    await using opened = await open(server, {
      handlers: { roots: [{ uri: "file:///home" }] },
      onNotification: (method) => void told.push(method),
    });
    const question = { jsonrpc: "2.0", id: "q", method: "roots/list" };
    const listening = await server.next();
    stream(listening).write(event({ ...question, id: "first" }));
    const first = await server.next();
    expect(first.message).toEqual({ jsonrpc: "2.0", id: "first", result: { roots: [{ uri: "file:///home" }] } });
    expect(first.headers["mcp-session-id"]).toBe("s1");
    first.response.writeHead(202).end();

    const call = opened.client.tools.call("a");
    const asked = await server.next();
    const response = stream(asked);
    response.write(event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } }));
    response.write(event(question));
    const second = await server.next();
    expect(second.message).toMatchObject({ id: "q" });
    second.response.writeHead(202).end();
    response.end(event(success(asked, said("ok"))));
    await call;
    expect(told).toEqual(["notifications/message"]);
    expect(opened.reports).toEqual([]);
  });

  test("is not read on while the server does not take what it has asked for", async () => {
    const count = 1_000;
    const taken: Asked[] = [];
    let accepts = false;
    await using server = await playSession({
      listens: true,
      first: (asked) => {
        if (asked.method !== "POST" || asked.message.method !== undefined) return false;
        if (accepts) asked.response.writeHead(202).end();
        else taken.push(asked);
        return true;
      },
    });
    await using opened = await open(server);
    const response = stream(await server.next());
    const padding = `: ${"x".repeat(1_000)}\n\n`;
    for (let id = 0; id < count; id += 1) response.write(padding + event({ jsonrpc: "2.0", id, method: "ping" }));
    for (let seen = -1; seen < taken.length; ) {
      seen = taken.length;
      for (let turns = 0; turns < 500; turns += 1) await new Promise(setImmediate);
    }
    // Those that were read before the limit of 64 was reached.
    expect(taken.length).toBeGreaterThanOrEqual(64);
    expect(taken.length).toBeLessThan(300);
    accepts = true;
    for (const asked of taken) asked.response.writeHead(202).end();
    const answered = (): number =>
      server.asked.filter(({ message }) => message.id !== undefined && !message.method).length;
    while (answered() < count) await new Promise(setImmediate);
    expect(opened.reports).toEqual([]);
  });

  test("notifies the server of a cancelled call, and closes its stream", async () => {
    await using server = await playSession();
    await using opened = await open(server);
    const user = new AbortController();
    const call = errorOf(opened.client.tools.call("slow", {}, { signal: user.signal }));
    const asked = await server.next();
    stream(asked);
    user.abort();
    expect(await call).toMatchObject({ reason: "cancelled" });
    const told = await server.next();
    expect(told.message).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: asked.message.id },
    });
    told.response.writeHead(202).end();
    await asked.over;
  });

  test("fails the one call whose request is refused, and no other", async () => {
    await using server = await playSession();
    await using opened = await open(server);
    const running = opened.client.tools.call("long");
    const long = await server.next();
    const answers: (readonly [(asked: Asked) => void, object])[] = [
      [(asked) => asked.response.writeHead(413).end("large"), { reason: "protocol", status: 413 }],
      [(asked) => failure(asked, 400, -32_600, "Invalid Request"), { code: -32_600 }],
      [(asked) => failure(asked, 400, -32_000, "Bad Request"), { code: -32_000 }],
      [(asked) => asked.response.destroy(), { reason: "closed" }],
      [
        (asked) => stream(asked).end(),
        { reason: "closed", message: expect.stringMatching(/ended without a JSON-RPC response$/) },
      ],
      [(asked) => json(asked, 200, { jsonrpc: "2.0", id: 99, result: {} }), { reason: "closed" }],
      [
        // Cut off by a Content-Length that counts characters: the id is there, and nothing else will come.
        (asked) =>
          asked.response
            .writeHead(200, { "content-type": "application/json" })
            .end(`{"jsonrpc":"2.0","id":${asked.message.id},"result":{}`),
        {
          reason: "closed",
          message: expect.stringMatching(/ended without a JSON-RPC response; before that, .* must be JSON/),
        },
      ],
      [(asked) => asked.response.writeHead(202).end(), { reason: "protocol" }],
    ];
    for (const [answer, expected] of answers) {
      const call = errorOf(opened.client.tools.call("a"));
      answer(await server.next());
      expect(await call).toMatchObject(expected);
    }
    result(long, said("ok"));
    await running;
  });

  test("without a stream of its own is nothing to report, whichever way the server says so", async () => {
    for (const status of [404, 405, 501]) {
      let asked = 0;
      await using server = await playSession({
        first: ({ method, response }) => {
          if (method !== "GET") return false;
          asked += 1;
          response.writeHead(status).end();
          return true;
        },
      });
      await using opened = await open(server);
      const call = opened.client.tools.call("a");
      result(await server.next(), said("ok"));
      await call;
      expect(asked).toBe(1);
      expect(opened.reports).toEqual([]);
    }
  });
});

describe("a stream that breaks off", () => {
  test("is resumed after its last event, not before the retry delay of the server", async () => {
    const clock = createFakeClock();
    await using server = await playSession({ listens: true });
    await using opened = await open(server, { clock, ...patient });
    stream(await server.next());
    const steps: number[] = [];
    const onProgress = ({ progress }: { progress: number }): void => void steps.push(progress);
    const call = opened.client.tools.call("slow", {}, { onProgress });
    const asked = await server.next();
    const step = (progress: number): string =>
      event({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: progressTokenOf(asked), progress },
      });
    stream(asked).end(`id: 1\nretry: 500\ndata:\n\nid: 2\n${step(1)}`);
    await timers(clock, 1);
    clock.advance(499);
    expect(clock.armed).toBe(1);
    clock.advance(1);
    const second = await server.next();
    expect(second).toMatchObject({ method: "GET", headers: { "last-event-id": "2", "mcp-session-id": "s1" } });
    stream(second).write(`id: 3\n${step(2)}`, () => second.response.destroy());
    await timers(clock, 1);
    clock.advance(500);
    const third = await server.next();
    expect(third.headers["last-event-id"]).toBe("3");
    stream(third).end(event(success(asked, said("ok"))));
    expect((await call).content).toEqual([{ type: "text", text: "ok" }]);
    expect(steps).toEqual([1, 2]);
  });

  test("is given up when the server refuses it, or closes it too often", async () => {
    const clock = createFakeClock();
    await using server = await playSession({ listens: true });
    await using opened = await open(server, { clock, ...patient, random: () => 0 });
    stream(await server.next());
    const refused = errorOf(opened.client.tools.call("slow"));
    stream(await server.next()).end("id: 1\ndata:\n\n");
    await timers(clock, 1);
    clock.advance(1_000);
    failure(await server.next(), 400, -32_000, "no such event");
    expect(await refused).toMatchObject({ status: 400 });

    const lost = errorOf(opened.client.tools.call("slow"));
    stream(await server.next()).end("id: 1\nretry: 1\ndata:\n\n");
    for (const wait of [250, 500, 1_000, 2_000, 4_000]) {
      await timers(clock, 1);
      clock.advance(wait);
      (await server.next()).response.writeHead(503).end();
    }
    expect(await lost).toMatchObject({
      reason: "closed",
      message: expect.stringMatching(/ended without a JSON-RPC response$/),
    });
  });

  test("is not resumed for a call that was cancelled", async () => {
    const clock = createFakeClock();
    await using server = await playSession();
    await using opened = await open(server, { clock, ...patient });
    const user = new AbortController();
    const call = errorOf(opened.client.tools.call("slow", {}, { signal: user.signal }));
    stream(await server.next()).end("id: 1\ndata:\n\n");
    await timers(clock, 1);
    user.abort();
    await call;
    (await server.next()).response.writeHead(202).end();
    clock.advance(60_000);
    const next = opened.client.tools.call("a");
    result(await server.next(), said("ok"));
    await next;
    expect(methodsOf(server).filter((method) => method === "GET")).toHaveLength(1);
  });

  test("comes back for the stream of the session for as long as that lasts", async () => {
    const clock = createFakeClock();
    const told: string[] = [];
    await using server = await playSession({ listens: true });
    await using opened = await open(server, {
      clock,
      ...patient,
      random: () => 0,
      onNotification: (method) => void told.push(method),
    });
    const changed = event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    stream(await server.next()).end(`id: 7\n${changed}`);
    await timers(clock, 1);
    clock.advance(1_000);
    for (const wait of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      const asked = await server.next();
      expect(asked.headers["last-event-id"]).toBe("7");
      asked.response.writeHead(503).end();
      await timers(clock, 1);
      clock.advance(wait);
    }
    stream(await server.next()).write(changed);
    while (told.length < 2) await new Promise(setImmediate);
    expect(opened.reports).toEqual([]);
  });
});

describe("a session that the server has forgotten", () => {
  test("is begun anew, and the call that was refused is made again; what was running fails", async () => {
    await using server = await playSession();
    await using opened = await open(server);
    const running = errorOf(opened.client.tools.call("running"));
    stream(await server.next());
    const calls = [opened.client.tools.call("a"), opened.client.tools.call("b")];
    forgotten(await server.next());
    forgotten(await server.next());
    expect(await running).toMatchObject({ reason: "closed", message: expect.stringContaining("the session is over") });
    for (const _ of calls) {
      const again = await server.next();
      expect(again.headers["mcp-session-id"]).toBe("s2");
      result(again, said(String(again.message.params?.name)));
    }
    expect((await Promise.all(calls)).map(({ content }) => content[0])).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]);
    expect(methodsOf(server).filter((method) => method === "initialize")).toHaveLength(2);
    expect(
      server.asked.find(({ message }) => message.params?.protocolVersion !== undefined)?.headers,
    ).not.toHaveProperty("mcp-session-id");
  });

  test("is not reopened for a client without reopen", async () => {
    await using server = await playSession();
    await using opened = await open(server, { reopen: false });
    const call = errorOf(opened.client.tools.call("a"));
    forgotten(await server.next());
    expect(await call).toMatchObject({ reason: "closed", message: expect.stringContaining("the session is over") });
    expect((await opened.client.closed).reason).toBe("failed");
  });

  test("twice in a row is an error", async () => {
    await using server = await playSession();
    await using opened = await open(server);
    const call = errorOf(opened.client.tools.call("a"));
    forgotten(await server.next());
    forgotten(await server.next());
    expect(await call).toMatchObject({ reason: "closed" });
  });

  test("is begun anew for a subscription too", async () => {
    await using server = await playSession({ capabilities: { resources: { subscribe: true } } });
    await using opened = await open(server);
    const opening = opened.client.resources.subscribe("a:b");
    forgotten(await server.next());
    const again = await server.next();
    expect(again).toMatchObject({ message: { method: "resources/subscribe" }, headers: { "mcp-session-id": "s2" } });
    result(again, {});
    const closing = (await opening).close();
    result(await server.next(), {});
    await closing;
  });

  test("gives its subscriptions back, and says that something may be missing", async () => {
    const clock = createFakeClock();
    await using server = await playSession({ listens: true, capabilities: { resources: { subscribe: true } } });
    await using opened = await open(server, { clock, random: () => 0 });
    stream(await server.next());
    const opening = opened.client.resources.subscribe("a:b");
    const first = await server.next();
    expect(first.message.method).toBe("resources/subscribe");
    result(first, {});
    const subscription = await opening;
    const changes = subscription[Symbol.asyncIterator]();
    const read = opened.client.resources.read("a:b");
    forgotten(await server.next());
    const next = [await server.next(), await server.next()];
    for (const each of next) {
      if (each.method === "GET") stream(each);
      else result(each, { contents: [] });
    }
    await read;
    await timers(clock, 1);
    clock.advance(1_000);
    const again = await server.next();
    expect(again.message.method).toBe("resources/subscribe");
    expect(again.headers["mcp-session-id"]).toBe("s2");
    result(again, {});
    expect((await changes.next()).value).toEqual({ kind: "missed" });
    const closing = subscription.close();
    result(await server.next(), {});
    await closing;
  });
});
