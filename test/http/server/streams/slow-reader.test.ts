import { createServer as createHttpServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeHandler } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import { expect, test } from "vitest";
import { modern, stateless } from "../../../testing/frames.js";

const text = "x".repeat(512 * 1024);

test("a reader that is slow again and again leaves no listeners on the response", async () => {
  const server = createServer({ name: "long", version: "1" });
  server.tool("tell", {}, async (_args, ctx) => {
    for (let told = 1; told <= 20; told += 1) {
      void ctx.progress(told, 20, text);
      await ctx.drained();
    }
    return "told";
  });
  const listeners: number[] = [];
  const handler = nodeHandler(server);
  const http = createHttpServer((request, response: ServerResponse) => {
    response.on("drain", () => listeners.push(response.listenerCount("close"), response.listenerCount("drain")));
    handler(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": modern,
      "mcp-method": "tools/call",
      "mcp-name": "tell",
    },
    body: stateless(1, "tools/call", { name: "tell" }, { progressToken: 1 }),
  });
  expect(await answer.text()).toContain('"text":"told"');
  expect(listeners.length).toBeGreaterThan(10);
  expect(Math.max(...listeners)).toBeLessThan(6);
  http.closeAllConnections();
  http.close();
});
