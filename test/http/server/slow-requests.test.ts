import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { nodeHandler } from "@parlance/mcp/node";
import { expect, test } from "vitest";
import { statelessCall, written } from "./asked.js";
import { shop } from "./shop.js";
import { Wire } from "./wire.js";

/** The timeouts of `serveHttp`, a hundred times shorter. */
const times = { headersTimeout: 100, requestTimeout: 300, connectionsCheckingInterval: 50 };

/** A request that stops before its end. */
const whole = Buffer.from(written(statelessCall("echo", { text: "no" })));

test.each([
  ["within its headers", whole.subarray(0, 40)],
  ["within its body", whole.subarray(0, -1)],
  ["before its body", whole.subarray(0, whole.indexOf("\r\n\r\n") + 4)],
])("a request that stops %s is closed in time, runs nothing, and is nothing to report", async (_name, bytes) => {
  const ran: string[] = [];
  const reports: string[] = [];
  const server = shop((tool) => ran.push(tool));
  const handler = nodeHandler(server, { report: (each) => void reports.push(describeReport(each)) });
  const http = createServer(times, handler).listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  using slow = await Wire.open(port);
  slow.write(bytes);
  expect((await slow.head()).status).toBe(408);
  await slow.closed();
  using other = await Wire.open(port);
  expect((await other.ask(written(statelessCall("echo", { text: "alive" })))).status).toBe(200);
  expect({ ran, reports }).toEqual({ ran: ["echo"], reports: [] });
  handler.close();
  http.close();
  http.closeAllConnections();
});
