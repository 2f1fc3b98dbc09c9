/**
 * The server that is attacked, in a process of its own whose heap is bounded: HTTP and TCP on one server object. What it has
 * used at most it tells when it is asked.
 */

import { serveHttp, serveTcp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";

const server = createServer({ name: "attacked", version: "1.0.0" });
const numbers = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };
server.tool("add", { inputSchema: numbers }, ({ a, b }) => `${Number(a) + Number(b)}`);

const items = { type: "object", properties: { items: { type: "array", uniqueItems: true } } };
server.tool("unique", { inputSchema: items }, () => "unique");

server.tool(
  "wait",
  {},
  (_args, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    }),
);

server.tool("burst", {}, (_args, ctx) => {
  const message = "x".repeat(1_000);
  for (let step = 1; step <= 64_000; step += 1) void ctx.progress(step, undefined, message);
  return "done";
});

server.tool("ask", {}, async (_args, ctx) => {
  const form = { type: "object", properties: { name: { type: "string" } } };
  const name = ctx.elicit("Your name?", form);
  const roots = ctx.listRoots();
  await name;
  return `${(await roots).length}`;
});

server.resource("note:/a", {}, () => "a");

// Faults of clients are expected here, and the time to write them would be measured.
const report = () => undefined;
const http = await serveHttp(server, { port: 0, report });
const tcp = await serveTcp(server, { port: 0 }, { report });

process.on("message", () => process.send?.({ resident: process.resourceUsage().maxRSS * 1024 }));
process.send?.({ http: Number(new URL(http.url).port), tcp: tcp.address.port });
