import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, createConnection } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { originCheck } from "@parlance/mcp/http";
import { createService } from "@parlance/mcp/jsonrpc";
import { nodeHandler, nodeRpcHandler, serveHttp } from "@parlance/mcp/node";
import { serveWebSocket, webSocketUpgrade } from "@parlance/mcp/websocket";
import { describe, expect, test } from "vitest";
import type { NodeHandlerOptions } from "../../../packages/mcp/src/node/http/node-handler.js";
import { proxied } from "../../cli/commands/proxy/proxied.js";
import { headersOf, statelessCall } from "../../http/server/asked.js";
import { shop } from "../../http/server/shop.js";

/** An address of this machine that others reach it at. */
const lan = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

/** The response to a request of this machine, sent to an address with headers. */
async function statusOf(
  address: string,
  port: number,
  headers: Record<string, string>,
  path = "/mcp",
): Promise<number> {
  const asked = statelessCall("echo", { text: "hi" }, headers);
  const sent = request({
    host: address,
    port,
    path,
    method: "POST",
    headers: Object.fromEntries(headersOf(asked)),
    agent: false,
  });
  sent.end(asked.body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode ?? 0;
}

interface Listening extends AsyncDisposable {
  readonly port: number;
}

/** A framework that listens on every interface, as Express does by default, and hands requests on. */
async function everywhere(options: NodeHandlerOptions = {}): Promise<Listening> {
  const handler = nodeHandler(shop(), options);
  const server = createServer(handler).listen(0, "::");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      handler.close();
      await closed(server);
    },
  };
}

async function closed(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}

// Without a network there is no address from which a request could come as from another machine.
describe.skipIf(lan === undefined)("A10: over the network, this machine's own names", () => {
  const address = lan ?? "";

  test.each([["localhost"], ["127.0.0.1"], ["[::1]"], ["localhost:3000"]])(
    "Host %s is refused by a handler in a framework that listens on every interface",
    async (host) => {
      await using door = await everywhere();
      expect(await statusOf(address, door.port, { host })).toBe(403);
      expect(await statusOf("127.0.0.1", door.port, { host })).toBe(200);
      expect(await statusOf("::1", door.port, { host })).toBe(200);
    },
  );

  test.each<[string, NodeHandlerOptions]>([
    ["authenticate asks who calls", { auth: () => ({ principal: "a" }) }],
    ["the name is in allowedHosts, as for a port that a container publishes", { allowedHosts: ["localhost"] }],
    ["it is exposed", { exposed: true }],
  ])("are served where %s", async (_, options) => {
    await using door = await everywhere(options);
    expect(await statusOf(address, door.port, { host: `localhost:${door.port}` })).toBe(200);
  });

  test.each([["shown by nodeHandler"], ["shown by serveHttp"]])(
    "a list of hosts holds beside auth too: %s",
    async (by) => {
      const options = { allowedHosts: ["mcp.example.com"], auth: () => ({ principal: "a" }) };
      const open = async (): Promise<AsyncDisposable & { readonly port: number }> => {
        if (by === "shown by nodeHandler") return await everywhere(options);
        const http = await serveHttp(shop(), { host: "0.0.0.0", ...options });
        return { port: http.port, [Symbol.asyncDispose]: () => http.close() };
      };
      await using door = await open();
      expect(await statusOf(address, door.port, { host: "mcp.example.com" })).toBe(200);
      expect(await statusOf(address, door.port, { host: "evil.example" })).toBe(403);
      // Who calls is asked, so the names of this machine may be used from another, as through the port of a container.
      expect(await statusOf(address, door.port, { host: "localhost" })).toBe(200);
    },
  );

  test("a page of that machine's own server is not one of this machine's", async () => {
    await using door = await everywhere({ allowedHosts: ["mcp.example.com"] });
    const headers = { host: "localhost", origin: "http://localhost:5173" };
    expect(await statusOf(address, door.port, headers)).toBe(403);
    expect(await statusOf("127.0.0.1", door.port, headers)).toBe(200);
    expect(await statusOf(address, door.port, { host: "mcp.example.com" })).toBe(200);
  });

  test("are refused for plain JSON-RPC, and at paths where nothing is", async () => {
    const rpc = nodeRpcHandler(createService().method("ping", () => "pong").call);
    const server = createServer(rpc).listen(0, "0.0.0.0");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expect(await statusOf(address, port, { host: "localhost" })).toBe(403);
    await closed(server);
    await using http = await serveHttp(shop(), { host: "0.0.0.0", auth: () => ({ principal: "a" }) });
    expect(await statusOf(address, http.port, { host: "localhost" }, "/other")).toBe(404);
  });

  test("are refused before there is a WebSocket, unless it is exposed", async () => {
    const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    const headers = { ...upgrade, "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-protocol": "mcp" };
    const answerOf = async (port: number): Promise<string> => {
      const lines = Object.entries({ host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      const socket = createConnection({ host: address, port });
      socket.write(`GET /mcp HTTP/1.1\r\n${lines.join("")}\r\n`);
      const [head] = (await once(socket, "data")) as [Buffer];
      socket.destroy();
      return head.toString("latin1").split("\r\n", 1)[0] ?? "";
    };
    const http = createServer();
    const upgrades = webSocketUpgrade(shop());
    http.on("upgrade", upgrades).listen(0, "0.0.0.0");
    await once(http, "listening");
    expect(await answerOf((http.address() as AddressInfo).port)).toBe("HTTP/1.1 403 Forbidden");
    await upgrades.close();
    await closed(http);
    await using exposed = await serveWebSocket(shop(), { host: "0.0.0.0", exposed: true });
    expect(await answerOf(exposed.port)).toBe("HTTP/1.1 101 Switching Protocols");
  });
});

test("A10: on a Unix socket there is no other machine", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parlance-"));
  const handler = nodeHandler(shop());
  const server = createServer(handler).listen(join(folder, "s"));
  await once(server, "listening");
  const asked = statelessCall("echo", { text: "hi" });
  const headers = Object.fromEntries(headersOf(asked));
  const sent = request({ socketPath: join(folder, "s"), path: "/mcp", method: "POST", headers });
  sent.end(asked.body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
  handler.close();
  await closed(server);
  rmSync(folder, { recursive: true });
});

test("A10: a connection that is gone does not pass for a Unix socket", async () => {
  const ran: string[] = [];
  const handler = nodeHandler(shop((tool) => ran.push(tool)));
  // A body parser reads first; then the client goes, and the framework hands the request on all the same.
  const server = createServer((received, response) => {
    void json(received).then((body) => {
      received.socket.destroy();
      handler(Object.assign(received, { body }), response);
      setImmediate(() => server.emit("handled"));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const handled = once(server, "handled");
  await expect(statusOf("127.0.0.1", port, { host: "localhost" })).rejects.toThrow();
  await handled;
  handler.close();
  await closed(server);
  expect(ran).toEqual([]);
});

describe("A10: a Host that names this machine", () => {
  const guard = originCheck({ allowedHosts: ["mcp.example.com"] });

  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "127.8.8.8"],
    ["::1", "::1"],
    ["::ffff:127.0.0.1", "::ffff:127.0.0.1"],
    ["192.168.1.5", "127.0.0.1"],
    ["127.0.0.1", undefined],
    [undefined, undefined],
  ])("is let in on a connection to %s from %s", (local, remote) => {
    expect(guard("localhost", undefined, { local, remote })).toBeUndefined();
  });

  test.each([
    ["192.168.1.5", "192.168.1.7"],
    ["192.168.1.5", "192.168.1.5"],
    ["172.17.0.2", "172.17.0.1"],
    ["::ffff:192.168.1.5", "::ffff:192.168.1.7"],
    ["fe80::1%eth0", "fe80::2%eth0"],
    ["1.2.3.4", "127.0.0.1.evil.example"],
    ["::ffff:7f00:1", "::2"],
    ["192.168.1.5", undefined],
    [undefined, "192.168.1.7"],
  ])("is refused on one to %s from %s", (local, remote) => {
    expect(guard("localhost", undefined, { local, remote })).toMatchObject({ status: 403 });
    expect(guard("mcp.example.com", undefined, { local, remote })).toBeUndefined();
  });

  test("says what to do", () => {
    expect(guard("localhost", undefined, { local: "10.0.0.1", remote: "10.0.0.2" })?.reason).toBe(
      'Host "localhost" is this machine\'s own, and the request comes from another: give auth, name it in allowedHosts, or set exposed',
    );
  });
});

describe("A10: parlance proxy", () => {
  test("forwards nothing of a page of another site: no POST, no form, no upgrade", async () => {
    const seen: string[] = [];
    await using stand = await proxied((request, response) => {
      seen.push(`${request.method} ${request.headers.origin ?? ""}`);
      response.end("{}");
    });
    const { port } = new URL(stand.near);
    const evil = { origin: "https://evil.example" };
    for (const headers of [
      evil,
      { origin: "null" },
      { ...evil, "content-type": "text/plain" },
      { ...evil, expect: "100-continue" },
      { ...evil, connection: "Upgrade", upgrade: "websocket" },
      { origin: `http://evil.example:${port}`, host: `evil.example:${port}` },
    ]) {
      expect(await statusOf("127.0.0.1", Number(port), { host: `127.0.0.1:${port}`, ...headers })).toBe(403);
    }
    expect(seen).toEqual([]);
    for (const origin of [stand.near, "http://localhost:5173"]) {
      expect(await statusOf("127.0.0.1", Number(port), { host: `127.0.0.1:${port}`, origin })).toBe(200);
    }
    expect(seen).toEqual([`POST ${stand.far}`, "POST http://localhost:5173"]);
  });

  test("forwards those of an origin that is allowed by name", async () => {
    await using stand = await proxied(
      (_, response) => response.end("{}"),
      ["--allow-origin", "vscode-file://vscode-app"],
    );
    const { port, host } = new URL(stand.near);
    expect(await statusOf("127.0.0.1", Number(port), { host, origin: "vscode-file://vscode-app" })).toBe(200);
    expect(await statusOf("127.0.0.1", Number(port), { host, origin: "https://evil.example" })).toBe(403);
  });
});
