import { connect } from "@parlance/mcp/client";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { createServer } from "@parlance/mcp/server";
import { rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { initialize, initializeResult, modern, notification, request, stateless, success } from "../testing/frames.js";
import { violations } from "./violations.js";
import { Watch, watchedServer } from "./watched.js";

const core = "2025-11-25";

/** The faults of the messages of a server, in a conversation of that revision. */
function serverIn(version: string): Watch {
  const watch = new Watch("server");
  watch.received(initialize(version));
  watch.sent(initializeResult(0, version));
  expect(watch.violations).toEqual([]);
  return watch;
}

describe("a server is caught that sends", () => {
  test("the result of another method", () => {
    const watch = serverIn(core);
    watch.received(request(1, "tools/list"));
    watch.sent(success(1, { prompts: [] }));
    expect(watch.violations.join()).toMatch("/tools: expected an array");
  });

  test("a response without a request", () => {
    const watch = serverIn(core);
    watch.sent(success(1, {}));
    expect(watch.violations.join()).toMatch("without the method");
  });

  test("what an older revision has no word for", () => {
    const watch = serverIn("2024-11-05");
    watch.received(request(1, "prompts/get", { name: "p" }));
    const content = { type: "audio", data: "UklGRg==", mimeType: "audio/wav" };
    watch.sent(success(1, { messages: [{ role: "user", content }] }));
    expect(watch.violations.join()).toMatch("/messages/0/content");
  });

  test("a request, where it may send none", () => {
    const watch = new Watch("server");
    watch.received(stateless(1, "tools/list"));
    watch.sent(request(1, "roots/list"));
    watch.sent(request(2, "roots/list", { _meta: { "io.modelcontextprotocol/protocolVersion": modern } }));
    expect(watch.violations.join()).toMatch(`${modern}: roots/list is not a request that the server may send`);
  });

  test("a result of the stateless era without its type", () => {
    const watch = new Watch("server");
    watch.received(stateless(1, "tools/list"));
    watch.sent(success(1, { tools: [], ttlMs: 0, cacheScope: "private" }));
    expect(watch.violations.join()).toMatch("/resultType");
  });

  test("a notification of the other era", () => {
    const watch = serverIn(core);
    watch.sent(notification("notifications/subscriptions/acknowledged", { notifications: {} }));
    expect(watch.violations.join()).toMatch("a notification that the server may send");
  });
});

test("every conversation of a test is looked at: one whose tool answers what no schema has", async () => {
  const server = createServer({ name: "loose", version: "1" });
  server.tool("t", {}, () => "");
  server.use((next) => (method, params, operation) => {
    const result = next(method, params, operation);
    return method === "tools/call" ? { content: [{ type: "smell" }] } : result;
  });
  await using client = await connect(server);
  await client.tools.call("t");
  expect(violations.splice(0).join()).toMatch("/content/0");
});

test("so is a server on a channel, in any process", async () => {
  const [near, far] = memoryChannels();
  await using server = rawPeer(far);
  await using client = rawPeer(watchedServer(near));
  client.send(initialize(core));
  await server.next();
  server.send(success(0, { protocolVersion: core }));
  await client.next();
  expect(violations.splice(0).join()).toMatch("/capabilities");
});
