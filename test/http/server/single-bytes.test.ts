import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { connect as connectSocket } from "node:net";
import { httpHandler } from "@parlance/mcp/http";
import { nodeHandler, serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { createFakeClock } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import { readBody } from "../../../packages/mcp/src/http/client/body.js";
import { inForm } from "../../testing/forms.js";
import { modern, stateless } from "../../testing/frames.js";
import { heap } from "./heap.js";

const server = createServer({ name: "bytes", version: "1" });
const count = inForm({ long: 256, short: 128 }) * 1024;
const allowed = 16 * count; // Sixteen bytes for each; an object for each would be ten times that.

const requestHeaders = { accept: "application/json, text/event-stream", "content-type": "application/json" };

/** A body of single bytes, each a chunk of its own. It comes to its end when the function is called. */
function singleBytes(): { readonly body: ReadableStream<Uint8Array>; readonly isRead: Promise<void>; end(): void } {
  let left = count;
  let end = (): void => undefined;
  let read = (): void => undefined;
  const isRead = new Promise<void>((resolve) => {
    read = resolve;
  });
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      left -= 1;
      if (left >= 0) return controller.enqueue(Uint8Array.of(0x20));
      read();
      return new Promise<void>((resolve) => {
        end = () => {
          controller.close();
          resolve();
        };
      });
    },
  });
  return { body, isRead, end: () => end() };
}

test("a request in chunks of one byte costs about its bytes", async () => {
  await using http = await serveHttp(server);
  await fetch(http.url); // The first one in a process loads a client of HTTP, which stays.
  const before = await heap();
  const socket = connectSocket(http.port, "127.0.0.1");
  const head = Object.entries({ host: "localhost", ...requestHeaders, "transfer-encoding": "chunked" });
  socket.write(`POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
  await new Promise<void>((resolve) => socket.write("1\r\n \r\n".repeat(count), () => resolve()));
  await expect.poll(() => socket.bytesWritten > 6 * count && socket.writableLength === 0).toBe(true);
  await fetch(http.url); // By now the server has read what came before.
  expect((await heap()) - before).toBeLessThan(allowed);
  socket.destroy();
});

test("so does one that a platform hands over byte by byte", async () => {
  const handler = httpHandler(server);
  const { body, isRead, end } = singleBytes();
  const before = await heap();
  const init = { method: "POST", headers: requestHeaders, body, duplex: "half" };
  const answering = handler(new Request("http://localhost/mcp", init));
  await isRead;
  expect((await heap()) - before).toBeLessThan(allowed);
  end();
  expect((await answering).status).toBe(400);
});

test("and so does an answer that a client reads", async () => {
  const { body, isRead, end } = singleBytes();
  const before = await heap();
  const reading = readBody(new Response(body), 2 * count, new AbortController().signal);
  await isRead;
  expect((await heap()) - before).toBeLessThan(allowed);
  end();
  expect(await reading).toMatchObject({ isWhole: true, bytes: { length: count } });
});

test("a client that goes leaves no timer for signs of life, though its handler never ends", async () => {
  const clock = createFakeClock();
  const deaf = createServer({ name: "deaf", version: "1" });
  let hasBegun = (): void => undefined;
  let letGo = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  deaf.tool("wait", {}, () => {
    hasBegun();
    return new Promise<string>((resolve) => {
      letGo = () => resolve("gone");
    });
  });
  const handler = nodeHandler(deaf, { clock });
  const gone: Promise<void>[] = [];
  const http = createHttpServer((request, response: ServerResponse) => {
    gone.push(new Promise((resolve) => response.on("close", () => resolve())));
    handler(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as { readonly port: number };
  const leaving = new AbortController();
  const headers = { ...requestHeaders, "mcp-protocol-version": modern, "mcp-method": "tools/call", "mcp-name": "wait" };
  const body = stateless(1, "tools/call", { name: "wait" });
  const call = fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body, signal: leaving.signal });
  await begun;
  leaving.abort();
  await expect(call).rejects.toThrow();
  await Promise.all(gone);
  expect(clock.armed).toBe(0);
  letGo();
  http.close();
});
