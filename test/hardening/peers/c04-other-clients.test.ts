import { networkInterfaces } from "node:os";
import { httpHandler, rpcHandler } from "@parlance/mcp/http";
import { createService } from "@parlance/mcp/jsonrpc";
import { serveHttp } from "@parlance/mcp/node";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { describe, expect, test } from "vitest";
import { type Asked, type AskedHeaders, statelessCall, written } from "../../http/server/asked.js";
import { doors } from "../../http/server/handlers.js";
import { shop } from "../../http/server/shop.js";
import { type Answer, Wire } from "../../http/server/wire.js";
import { handshake, open as openWebSocket } from "../../node/websocket/wire.js";

const call = (headers: AskedHeaders) => statelessCall("echo", { text: "hi" }, headers);

const lan = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

/** Asks on a connection of its own. */
async function send(port: number, asked: Asked, host?: string): Promise<Answer> {
  using wire = await Wire.open(port, host);
  wire.write(written(asked));
  return await wire.answer();
}

/** One of each form: an editor, extensions of browsers, frameworks for applications, a file, and a page without an origin. */
const origins = [
  "vscode-file://vscode-app",
  "vscode-webview://1fhq0sn7cbq6eoqgh2ppoaf9e4bsp7sb2jk5v0hrq3i3fp6m0v3e",
  "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
  "moz-extension://0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0",
  "tauri://localhost",
  "capacitor://localhost",
  "app://-",
  "app://obsidian.md",
  "ionic://localhost:8100",
  "file://",
  "null",
];

/** What only looks like an origin. */
const lookalikes = (origin: string): readonly string[] => [
  `${origin}x`,
  `${origin}/`,
  `x${origin}`,
  origin.toUpperCase(),
  "https://localhost.evil.com",
];

describe.each(doors)("C4: on $on", ({ open }) => {
  test.each(origins)("pages of %s may call where they are named, and nowhere else", async (origin) => {
    await using door = await open(shop(), { allowedOrigins: [origin] });
    const { status, headers } = await door.ask(call({ origin }));
    expect({ status, allowed: headers.get("access-control-allow-origin") }).toEqual({ status: 200, allowed: origin });
    for (const other of lookalikes(origin)) {
      expect((await door.ask(call({ origin: other }))).status).toBe(403);
    }
    await using strict = await open(shop());
    expect((await strict.ask(call({ origin }))).status).toBe(403);
  });

  test("pages may send headers of their own where they are allowed", async () => {
    const origin = "https://app.example.com";
    const names = "content-type, X-Request-Id, x-tenant, x-evil";
    const asked = { origin, "access-control-request-method": "POST", "access-control-request-headers": names };
    const options = { allowedOrigins: [origin], allowedHeaders: ["X-Request-ID", "x-tenant"] };
    await using door = await open(shop(), options);
    const { headers } = await door.ask({ method: "OPTIONS", headers: asked });
    expect(headers.get("access-control-allow-headers")).toBe("content-type, x-request-id, x-tenant");
    const rpc = rpcHandler(createService().method("ping", () => "pong").call, options);
    const answer = await rpc(
      new Request("http://localhost/", { method: "OPTIONS", headers: { host: "localhost", ...asked } }),
    );
    expect(answer.headers.get("access-control-allow-headers")).toBe("content-type, x-request-id, x-tenant");
  });

  test.each([["a.example.com"], ["a.b.example.com"], ["A.EXAMPLE.com:8080"], ["b.example.org:8443"]])(
    "Host %s is below a name with a wildcard",
    async (host) => {
      await using door = await open(shop(), { allowedHosts: ["*.example.com", "*.example.org:8443"] });
      expect((await door.ask(call({ host }))).status).toBe(200);
    },
  );

  test.each([
    ["example.com"],
    [".example.com"],
    ["a..example.com"],
    ["a.example.com.evil.com"],
    ["aexample.com"],
    ["*.example.com"],
    ["a.example.com."],
    ["a.example.com@evil.com"],
    ["b.example.org"],
    ["b.example.org:8444"],
  ])("Host %s is not", async (host) => {
    await using door = await open(shop(), { allowedHosts: ["*.example.com", "*.example.org:8443"] });
    expect((await door.ask(call({ host }))).status).toBe(403);
  });
});

test.each(origins)("C4: pages of %s may open a WebSocket where they are named, and nowhere else", async (origin) => {
  await using listener = await serveWebSocket(shop(), { allowedOrigins: [origin] });
  const statusOf = async (from: string, url = listener.url): Promise<number> => {
    const { status, wire } = await handshake(url, { origin: from });
    wire[Symbol.dispose]();
    return status;
  };
  expect(await statusOf(origin)).toBe(101);
  expect(await Promise.all(lookalikes(origin).map((each) => statusOf(each)))).toEqual([403, 403, 403, 403, 403]);
  await using strict = await serveWebSocket(shop());
  expect(await statusOf(origin, strict.url)).toBe(403);
});

test.each(origins)("C4: pages of %s may call plain JSON-RPC where they are named, and nowhere else", async (origin) => {
  const service = createService().method("ping", () => "pong");
  const statusOf = async (from: string, allowedOrigins: readonly string[] = []): Promise<number> => {
    const headers = { host: "localhost", "content-type": "application/json", origin: from };
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const handler = rpcHandler(service.call, { allowedOrigins });
    return (await handler(new Request("http://localhost/", { method: "POST", headers, body }))).status;
  };
  expect(await statusOf(origin, [origin])).toBe(200);
  for (const other of lookalikes(origin)) expect(await statusOf(other, [origin])).toBe(403);
  expect(await statusOf(origin)).toBe(403);
});

test.each([
  ["vscode-file://vscode-app/"],
  ["vscode-file:"],
  ["chrome-extension://*"],
  ["tauri://a b"],
  ["tauri://localhost/index.html"],
  ["app://user@host"],
  ["app://host?x"],
  ["NULL"],
  ["https://app.example.com:443"],
  [""],
])("C4: %s is no origin that could be allowed", (origin) => {
  expect(() => httpHandler(shop(), { allowedOrigins: [origin] })).toThrow(TypeError);
});

test.each([["*"], ["*."], ["*.com"], ["**.example.com"], ["a.*.example.com"], ["*example.com"], ["*.[::1]"]])(
  "C4: %s is no host that could be allowed",
  (host) => {
    expect(() => httpHandler(shop(), { allowedHosts: [host] })).toThrow(TypeError);
  },
);

test.each([["x y"], [""], ["x:y"], ["é"]])("C4: %j is no header that could be allowed", (name) => {
  expect(() => httpHandler(shop(), { allowedHeaders: [name] })).toThrow("allowedHeaders: ");
});

describe("C4: serveHttp", () => {
  const statusAt = async (port: number, path: string): Promise<number> =>
    (await send(port, { ...call({}), path })).status;

  test("answers at its path with a slash at the end and without", async () => {
    await using http = await serveHttp(shop());
    expect(await statusAt(http.port, "/mcp/")).toBe(200);
    expect(await statusAt(http.port, "/mcp/?a=/b/")).toBe(200);
    for (const path of ["/mcp//", "/mcp/x", "/", "/mcpx", "/MCP"]) expect(await statusAt(http.port, path)).toBe(404);
  });

  test("answers at more than one path; its URL has the first", async () => {
    await using http = await serveHttp(shop(), { path: ["/mcp", "/"] });
    expect(http.url).toBe(`http://127.0.0.1:${http.port}/mcp`);
    for (const path of ["/", "/mcp", "/mcp/", "/?x"]) expect(await statusAt(http.port, path)).toBe(200);
    expect(await statusAt(http.port, "/other")).toBe(404);
    await using webSockets = await serveWebSocket(shop(), { path: ["/ws/", "/"] });
    expect(webSockets.url).toBe(`ws://127.0.0.1:${webSockets.port}/ws/`);
    for (const path of ["/ws", "/ws/", "/"]) {
      using wire = await openWebSocket(`ws://127.0.0.1:${webSockets.port}${path}`);
      wire.text('{"jsonrpc":"2.0","id":1,"method":"ping"}');
      expect(await wire.message()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
    }
  });

  test.each([["mcp"], [[]], [["/mcp", "x"]], ["/mcp?x"], [""]])("refuses %j as a path", async (path) => {
    await expect(serveHttp(shop(), { path })).rejects.toThrow("is not a path: write one like");
    await expect(serveWebSocket(shop(), { path })).rejects.toThrow(TypeError);
  });

  // Without a network there is no other address than those of the loopback interface.
  test.skipIf(lan === undefined)("answers to the address of this machine where it is exposed", async () => {
    const address = lan ?? "";
    await using http = await serveHttp(shop(), { host: "0.0.0.0", exposed: true });
    const statusOf = async (headers: AskedHeaders): Promise<number> =>
      (await send(http.port, call(headers), address)).status;
    const host = `${address}:${http.port}`;
    expect(await statusOf({ host })).toBe(200);
    expect(await statusOf({ host, origin: `http://${host}` })).toBe(200);
    expect(await statusOf({ host, origin: "http://evil.example" })).toBe(403);
    expect(await statusOf({ host: "203.0.113.7" })).toBe(403);
    expect(await statusOf({ host: "evil.example", origin: "http://evil.example" })).toBe(403);
    await using named = await serveHttp(shop(), { host: "0.0.0.0", auth: () => ({ principal: "a" }) });
    expect((await send(named.port, call({ host }), address)).status).toBe(200);
  });
});
