import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Auth } from "@parlance/mcp/http";
import { createService, describeReport, openConnection } from "@parlance/mcp/jsonrpc";
import { createServer as createMcpServer } from "@parlance/mcp/server";
import { createFakeClock } from "@parlance/mcp/testing";
import { nodeWebSocketChannel, serveWebSocket, webSocketUpgrade } from "@parlance/mcp/websocket";
import { describe, expect, test } from "vitest";
import type {
  AcceptWebSocket,
  ServeWebSocketOptions,
} from "../../../packages/mcp/src/node/websocket/websocket-upgrade.js";
import { type Headers, handshake, open } from "./wire.js";

const served = createMcpServer({ name: "s", version: "1" });
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const pong = '{"jsonrpc":"2.0","id":1,"result":{}}';

type AuthenticationRequest = Parameters<Extract<Auth, (request: never) => unknown>>[0];

/** The response of a server to a client that it refuses. */
async function turnedAway(headers: Headers, options: ServeWebSocketOptions = {}): Promise<string> {
  await using listener = await serveWebSocket(served, options);
  const { status, body } = await handshake(listener.url, headers);
  expect(listener.connections.size).toBe(0);
  return `${status} ${(JSON.parse(body) as { error: { data: { reason: string } } }).error.data.reason}`;
}

/** A server lets a client in, and answers it. */
async function letIn(headers: Headers, options: ServeWebSocketOptions = {}): Promise<void> {
  await using listener = await serveWebSocket(served, options);
  using wire = await open(listener.url, headers);
  wire.text(ping);
  expect(await wire.message()).toBe(pong);
}

describe("a client is turned away before there is a WebSocket,", () => {
  test.each<[string, Headers, ServeWebSocketOptions, string]>([
    [
      "a page of another origin",
      { origin: "https://evil.example" },
      {},
      '403 pages of "https://evil.example" may not call: name it in allowedOrigins',
    ],
    [
      "a page without one",
      { origin: "null" },
      {},
      '403 pages that hide their origin ("null"), such as local files, may not call: open the page from a web server',
    ],
    [
      "a page whose name points here",
      { host: "evil.example:80" },
      {},
      '403 Host "evil.example:80" is not served here: name it in allowedHosts',
    ],
    [
      "two hosts",
      { host: ["127.0.0.1", "evil.example"] },
      {},
      '403 Host "127.0.0.1, evil.example" is not a host and a port',
    ],
    [
      "no subprotocol",
      { "sec-websocket-protocol": undefined },
      {},
      "400 Sec-WebSocket-Protocol must have mcp: the option protocol of a client",
    ],
    [
      "another subprotocol",
      { "sec-websocket-protocol": "mcp2, MCP" },
      {},
      "400 Sec-WebSocket-Protocol must have mcp: the option protocol of a client",
    ],
    ["without an identity", {}, { auth: () => undefined }, "401 authentication is required"],
    [
      "without an identity, at any host name",
      { host: "a.example" },
      { auth: () => undefined },
      "401 authentication is required",
    ],
  ])("%s", async (_who, headers, options, expected) => {
    expect(await turnedAway(headers, options)).toBe(expected);
  });

  test("one without a host", async () => {
    await using listener = await serveWebSocket(served);
    expect((await handshake(listener.url, { host: undefined })).status).toBe(400);
  });

  test("one that comes to another path", async () => {
    await using listener = await serveWebSocket(served, { path: "/here" });
    const { status } = await handshake(listener.url.replace("/here", "/mcp"));
    expect(status).toBe(404);
    using wire = await open(`${listener.url}?a=1`);
    wire.text(ping);
    expect(await wire.message()).toBe(pong);
  });

  test("one that speaks no WebSocket", async () => {
    await using listener = await serveWebSocket(served);
    const answer = await fetch(listener.url.replace("ws:", "http:"));
    expect(answer.status).toBe(426);
    expect(await answer.text()).toContain("only WebSockets are served here");
    for (const broken of [{ "sec-websocket-key": "short" }, { "sec-websocket-version": "7" }, { upgrade: "h2c" }]) {
      expect((await handshake(listener.url, broken)).status, JSON.stringify(broken)).toBe(400);
    }
  });

  test("one whose authentication fails or takes too long, and the server lives", async () => {
    const clock = createFakeClock();
    const reports: string[] = [];
    const authenticate = ({ url }: { url: string }): Promise<undefined> => {
      return url.endsWith("?fail") ? Promise.reject(new Error("the directory is down")) : new Promise(() => undefined);
    };
    const report = (each: Parameters<typeof describeReport>[0]): void => void reports.push(describeReport(each));
    await using listener = await serveWebSocket(served, { auth: authenticate, clock, report });
    const { status, body } = await handshake(`${listener.url}?fail`);
    expect(status).toBe(401);
    expect(body).not.toContain("directory");
    expect(reports).toEqual([expect.stringContaining("the directory is down")]);
    const slow = handshake(listener.url);
    await expect.poll(() => clock.armed).toBeGreaterThan(0);
    clock.advance(10_000);
    expect((await slow).status).toBe(503);
  });
});

describe("a client is let in,", () => {
  test.each<[string, Headers, ServeWebSocketOptions]>([
    ["a program of this machine", {}, {}],
    ["a page of this machine", { origin: "http://localhost:3000" }, {}],
    [
      "a page of an origin that is named",
      { origin: "https://app.example" },
      { allowedOrigins: ["https://app.example"] },
    ],
    ["at a host that is named", { host: "mcp.example" }, { allowedHosts: ["mcp.example"] }],
    ["by one subprotocol of several", { "sec-websocket-protocol": "mcp2, mcp" }, {}],
    ["by a subprotocol that the server names", { "sec-websocket-protocol": "mine" }, { protocol: "mine" }],
    ["somebody known, at any host", { host: "a.example" }, { auth: () => ({ principal: "ada" }) }],
  ])("%s", async (_who, headers, options) => {
    await letIn(headers, options);
  });

  test("and gets the chosen subprotocol, and no compression", async () => {
    await using listener = await serveWebSocket(served);
    const offers = { "sec-websocket-protocol": "mcp2, mcp", "sec-websocket-extensions": "permessage-deflate" };
    const { head, wire } = await handshake(listener.url, offers);
    wire.socket.destroy();
    expect(head).toContain("\r\nsec-websocket-protocol: mcp\r\n");
    expect(head).not.toContain("sec-websocket-extensions");
  });

  test("and the handler knows the principal", async () => {
    const authenticate = ({ header, url }: AuthenticationRequest): { principal: string } | undefined => {
      const name = /^Bearer (.+)$/.exec(header("authorization") ?? "")?.[1];
      return name === undefined ? undefined : { principal: `${name} of ${url}` };
    };
    const accept: AcceptWebSocket = (channel, { auth }) =>
      openConnection(channel, { auth, handle: (_method, _params, exchange) => exchange.principal });
    await using listener = await serveWebSocket(accept, { auth: authenticate });
    using wire = await open(listener.url, { authorization: "Bearer ada" });
    wire.text(ping);
    expect(await wire.message()).toBe('{"jsonrpc":"2.0","id":1,"result":"ada of /mcp"}');
    expect((await handshake(listener.url)).status).toBe(401);
  });
});

describe("a server limits its connections", () => {
  test("and no more, from one address and in all, until one of them ends", async () => {
    for (const options of [{ maxConnections: 2 }, { maxConnectionsPerAddress: 2 }]) {
      await using listener = await serveWebSocket(served, options);
      using first = await open(listener.url);
      using second = await open(listener.url);
      const { status, head } = await handshake(listener.url);
      expect(status).toBe(503);
      expect(head).toContain("\r\nretry-after: 1\r\n");
      first.socket.destroy();
      await expect.poll(() => listener.connections.size).toBe(1);
      using third = await open(listener.url);
      third.text(ping);
      second.text(ping);
      expect([await third.message(), await second.message()]).toEqual([pong, pong]);
    }
  });

  test("with those counted whose caller is not known yet", async () => {
    await using listener = await serveWebSocket(served, {
      maxConnections: 1,
      auth: () => new Promise(() => undefined),
    });
    const handshakes = [handshake(listener.url), handshake(listener.url)];
    const turnedAway = await Promise.race(handshakes);
    expect(turnedAway.status).toBe(503);
    expect(turnedAway.body).toContain("too many connections to this server");
    await listener.close();
    const bodies = (await Promise.all(handshakes)).map(({ body }) => body);
    expect(bodies).toContainEqual(expect.stringContaining("the server is shutting down"));
  });
});

describe("a server does not start", () => {
  test("at an address that other machines reach, without authentication", async () => {
    await expect(serveWebSocket(served, { host: "0.0.0.0" })).rejects.toThrow(
      "Any machine that can reach 0.0.0.0 could call this server without authentication: set auth, or exposed: true",
    );
    await using told = await serveWebSocket(served, { host: "0.0.0.0", exposed: true });
    await using asking = await serveWebSocket(served, { host: "0.0.0.0", auth: () => undefined });
    expect([told.port, asking.port]).not.toContain(0);
  });

  test("with an invalid origin, or at a port in use", async () => {
    await expect(serveWebSocket(served, { allowedOrigins: ["example.com"] })).rejects.toThrow("is not an origin");
    await using listener = await serveWebSocket(served);
    await expect(serveWebSocket(served, { port: listener.port })).rejects.toThrow("is in use");
  });
});

test("a server that is there already keeps its pages, and serves WebSockets beside them", async () => {
  const web = createServer((_request, response) => void response.end("a page")).listen(0, "127.0.0.1");
  const upgrade = webSocketUpgrade(served);
  web.on("upgrade", upgrade);
  await new Promise((resolve) => web.once("listening", resolve));
  const { port } = web.address() as AddressInfo;
  using wire = await open(`ws://127.0.0.1:${port}/anywhere`);
  wire.text(ping);
  expect(await wire.message()).toBe(pong);
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("a page");
  expect(upgrade.connections.size).toBe(1);
  const closed = upgrade.close();
  expect(await wire.closing()).toBe("1000");
  wire.socket.end();
  await closed;
  expect((await handshake(`ws://127.0.0.1:${port}/`)).status).toBe(503);
  web.close();
});

test("a connection that is opened with all of its caller knows it", async () => {
  const service = createService().method("who", (_params, { principal }) => principal);
  const open: AcceptWebSocket = (channel, caller) => openConnection(channel, { handle: service.call, ...caller });
  await using listener = await serveWebSocket(open, { auth: () => ({ principal: "ada" }) });
  const connection = openConnection(nodeWebSocketChannel(listener.url));
  expect(await connection.call("who")).toBe("ada");
  await connection.close();
});
