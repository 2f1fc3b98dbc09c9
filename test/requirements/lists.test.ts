import { createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { parse, request, resultOf, stateless, success } from "../testing/frames.js";
import { echoServer } from "../testing/servers.js";
import { conversationWith, talkTo } from "../testing/talks.js";

/** Two of everything, one to a page. */
function pages(): Server {
  const listCache = { ttlMs: 1_000, cacheScope: "public" } as const;
  const server = createServer({ name: "pages", version: "1", pageSize: 1, listCache });
  for (const name of ["a", "b"]) {
    server.tool(name, {}, () => "");
    server.prompt(name, {}, () => "");
    server.resource(`${name}:1`, {}, () => "");
    server.resourceTemplate(`${name}:{x}`, {}, () => "");
  }
  return server;
}

describe.each(["tools/list", "prompts/list", "resources/list", "resources/templates/list"])("%s", (method) => {
  test("every list is the same for every connection, whatever was called before", async () => {
    const server = pages();
    await using one = talkTo(server);
    await using other = await conversationWith(server, "2025-11-25");
    const first = await one.ask(stateless(1, method));
    await one.ask(stateless(1, "tools/call", { name: "a" }));
    await one.ask(stateless(1, "resources/read", { uri: "a:1" }));
    await other.ask(request(1, "resources/subscribe", { uri: "a:1" }));
    expect(await one.ask(stateless(1, method))).toBe(first);
    expect(await other.ask(stateless(1, method))).toBe(first);
  });

  test("every page of a list is for the same readers", async () => {
    await using talk = talkTo(pages());
    const first = resultOf(await talk.ask(stateless(1, method)));
    const second = resultOf(await talk.ask(stateless(1, method, { cursor: first.nextCursor })));
    expect([first.cacheScope, second.cacheScope]).toEqual(["public", "public"]);
    expect(second.nextCursor).toBeUndefined();
  });
});

test("a call that asks for a task is answered at once where the server has none", async () => {
  await using talk = await conversationWith(echoServer(), "2025-11-25");
  const params = { name: "echo", arguments: { text: "hi" }, task: { ttl: 1_000 } };
  expect(await talk.ask(request(1, "tools/call", params))).toBe(
    success(1, { content: [{ type: "text", text: "hi" }] }),
  );
  expect(parse(await talk.ask(request(2, "tasks/list"))).error?.code).toBe(-32_601);
});
