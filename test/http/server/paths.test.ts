import { connect as connectSocket } from "node:net";
import { httpHandler, memoryEventStore } from "@parlance/mcp/http";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";

const server = createServer({ name: "paths", version: "1" });

/** The response of a server to raw bytes. */
function said(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connectSocket(port, "127.0.0.1", () => socket.write(request));
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    socket.on("error", reject).on("close", () => resolve(text));
  });
}

test("another path than that of the server leads nowhere, and says where the server is", async () => {
  await using http = await serveHttp(server);
  const answer = await fetch(new URL("/", http.url));
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain("the server is at /mcp");
});

test("who may not in, does not learn on another path what there is", async () => {
  await using http = await serveHttp(server);
  const answer = await said(http.port, "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
  expect(answer).toContain("HTTP/1.1 403");
  expect(answer).not.toContain("/mcp");
});

test("a port that is taken is named, with the remedy", async () => {
  await using http = await serveHttp(server);
  await expect(serveHttp(server, { port: http.port })).rejects.toThrow(
    `127.0.0.1:${http.port} is in use: choose another address`,
  );
});

test("an address that others reach is not listened at before somebody says that it may", async () => {
  await expect(serveHttp(server, { host: "0.0.0.0" })).rejects.toThrow("set auth, or exposed: true");
  await using http = await serveHttp(server, { host: "0.0.0.0", exposed: true });
  expect(http.url).toContain("0.0.0.0");
});

test.each(["//", "//mcp?a=1", "/mcp?a=1&b=%zz"])("HTTP+SSE names the URL for POSTs on a path like %s", async (path) => {
  const handler = httpHandler(server, {
    legacySse: true,
    sessions: { eventStore: memoryEventStore({ maxEvents: 10 }) },
  });
  const headers = { accept: "text/event-stream" };
  const answer = await handler(new Request(`http://localhost${path}`, { headers }));
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  const endpoint = /^data: (.*)$/m.exec(new TextDecoder().decode(value))?.[1] ?? "";
  expect(endpoint).toMatch(/^\/.*[?&]sessionId=[0-9a-f-]{36}$/);
  await reader.cancel();
  handler.close();
});
