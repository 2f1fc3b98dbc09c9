import { connect } from "@parlance/mcp/client";
import { createServer } from "@parlance/mcp/server";
import { serveWebSocket } from "@parlance/mcp/websocket";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";

afterEach(() => vi.unstubAllGlobals());

test("a client connects to the URL of a WebSocket, where the platform has those", async () => {
  vi.stubGlobal("WebSocket", WebSocket); // As later versions of Node have one.
  const server = createServer({ name: "clock", version: "1" });
  server.tool("hour", {}, () => "seven");
  await using listener = await serveWebSocket(server);
  await using client = await connect(listener.url);
  expect(await client.tools.call("hour")).toMatchObject({ content: [{ text: "seven" }] });
});

test("where it has none, the error says what there is instead", async () => {
  vi.stubGlobal("WebSocket", undefined);
  await expect(connect("wss://example.com/mcp")).rejects.toThrow("use @parlance/mcp/websocket");
});

test.each([
  ["headers", { headers: { "x-key": "1" } }],
  ["auth", { auth: (fetch: (url: URL, init: RequestInit) => Promise<Response>) => fetch }],
])("%s cannot be sent to a WebSocket URL, and that is said", async (name, options) => {
  await expect(connect("ws://127.0.0.1:1/mcp", options)).rejects.toThrow(
    `connect: ${name} does not work with a WebSocket URL`,
  );
});
