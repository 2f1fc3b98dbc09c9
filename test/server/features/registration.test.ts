import { versions } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { createServer, type Registration, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { failure, request, success } from "../../testing/frames.js";
import { conversationWith } from "../../testing/talks.js";
import { type Speaker, speak } from "../speak.js";

const info = { name: "lists", version: "1" };

/** Every kind of definition, in a way that lets one test speak of all. */
const kinds = [
  ["tools/list", "tools", "name", (server: Server, n: number) => server.tool(`t${n}`, {}, () => "")],
  ["prompts/list", "prompts", "name", (server: Server, n: number) => server.prompt(`p${n}`, {}, () => "")],
  ["resources/list", "resources", "uri", (server: Server, n: number) => server.resource(`r:${n}`, {}, () => "")],
  [
    "resources/templates/list",
    "resourceTemplates",
    "uriTemplate",
    (server: Server, n: number) => server.resourceTemplate(`u${n}:{x}`, {}, () => ""),
  ],
] as const;

interface Page {
  readonly items: readonly string[];
  readonly nextCursor: string | undefined;
}

describe.each(kinds)("%s", (method, member, key, define) => {
  async function page(peer: Speaker, cursor?: string): Promise<Page> {
    const result = await peer.result(method, cursor === undefined ? {} : { cursor });
    const items = result[member] as readonly Readonly<Record<string, string>>[];
    return { items: items.map((item) => item[key] ?? ""), nextCursor: result.nextCursor as string | undefined };
  }

  function defined(count: number, pageSize?: number): { server: Server; registrations: Registration<object>[] } {
    const server = createServer({ ...info, ...(pageSize === undefined ? {} : { pageSize }) });
    const registrations = Array.from({ length: count }, (_, n) => define(server, n) as Registration<object>);
    return { server, registrations };
  }

  test.each(versions)("comes in pages in %s", async (version) => {
    const { server, registrations } = defined(5, 2);
    await using peer = await speak(server, version);
    const first = await page(peer);
    const second = await page(peer, first.nextCursor);
    const third = await page(peer, second.nextCursor);
    expect([first, second, third].map(({ items }) => items.length)).toEqual([2, 2, 1]);
    expect([...first.items, ...second.items, ...third.items]).toEqual(registrations.map(({ name }) => name));
    expect(third.nextCursor).toBeUndefined();
  });

  test("is one page unless there are more than a hundred", async () => {
    await using hundred = await speak(defined(100).server, "2025-11-25");
    expect((await page(hundred)).nextCursor).toBeUndefined();
    await using more = await speak(defined(101).server, "2025-11-25");
    expect((await page(more)).nextCursor).toBeDefined();
  });

  test("refuses what is no cursor of it", async () => {
    await using peer = await speak(defined(5, 2).server, "2026-07-28");
    const { nextCursor = "" } = await page(peer);
    const alike = nextCursor.replace("s", "%73");
    for (const cursor of ["", "2", 2, null, {}, "%", "tools%20", `${nextCursor}x`, alike, nextCursor.slice(1)]) {
      expect(await peer.error(method, { cursor })).toEqual({
        code: -32_602,
        message: "Invalid params",
        data: { errors: [{ path: "/cursor", message: "is not a cursor of this list: start again without one" }] },
      });
    }
  });

  test("a cursor stays where it is while the list changes around it", async () => {
    const { server, registrations } = defined(5, 2);
    await using peer = await speak(server, "2026-07-28");
    const { nextCursor } = await page(peer);
    registrations[0]?.remove();
    define(server, 7);
    expect((await page(peer, nextCursor)).items).toEqual([registrations[2]?.name, registrations[3]?.name]);
    registrations[1]?.disable();
    expect(await peer.error(method, { cursor: nextCursor })).toMatchObject({ code: -32_602 });
  });

  test("hides what is disabled, and shows it again in its place", async () => {
    const { server, registrations } = defined(3);
    await using peer = await speak(server, "2026-07-28");
    const names = registrations.map(({ name }) => name);
    registrations[1]?.disable();
    expect(registrations[1]?.enabled).toBe(false);
    expect((await page(peer)).items).toEqual([names[0], names[2]]);
    registrations[1]?.enable();
    expect((await page(peer)).items).toEqual(names);
  });

  test("a name is free again when its definition is removed", async () => {
    const { server, registrations } = defined(1);
    const [first] = registrations;
    expect(() => define(server, 0)).toThrow("is already defined");
    first?.remove();
    first?.remove();
    define(server, 0);
    expect(() => first?.update({ description: "d" })).toThrow("was removed: define it anew");
    expect(() => first?.enable()).toThrow("was removed");
    expect(() => first?.disable()).toThrow("was removed");
    first?.remove();
    expect(first?.enabled).toBe(false);
    await using peer = await speak(server, "2026-07-28");
    expect((await page(peer)).items).toHaveLength(1);
  });

  test("shows what is updated, and keeps the rest", async () => {
    const { server, registrations } = defined(2);
    await using peer = await speak(server, "2026-07-28");
    registrations[1]?.update({ title: "Title", description: "d" });
    registrations[1]?.update({ description: "Description" });
    const result = await peer.result(method);
    expect(result[member]).toMatchObject([
      { [key]: registrations[0]?.name },
      { [key]: registrations[1]?.name, title: "Title", description: "Description" },
    ]);
  });

  test("is empty, not unknown, when the last definition is gone: the capability was promised", async () => {
    const { server, registrations } = defined(1);
    await using peer = await speak(server, "2026-07-28");
    registrations[0]?.remove();
    expect(await page(peer)).toEqual({ items: [], nextCursor: undefined });
  });

  test("is read to its end by a client", async () => {
    const { server, registrations } = defined(7, 2);
    await using client = await connect(server);
    const names: unknown[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const result = await client.call(method, cursor === undefined ? {} : { cursor });
      const items = new Map(Object.entries(result)).get(member) as Readonly<Record<string, unknown>>[];
      names.push(...items.map((item) => item[key]));
      cursor = result.nextCursor;
    }
    expect(names).toEqual(registrations.map(({ name }) => name));
  });
});

describe("a definition that is changed while it is served", () => {
  test("is called no more while it is disabled, and again when it is enabled", async () => {
    const server = createServer(info);
    const tool = server.tool("a", {}, () => "called");
    await using talk = await conversationWith(server, "2025-11-25");
    tool.disable();
    await talk.peer.next();
    expect(await talk.ask(request(1, "tools/call", { name: "a" }))).toBe(
      failure(1, -32_602, "Unknown tool: a", { errors: [{ path: "/name", message: "is not a tool of this server" }] }),
    );
    tool.enable();
    await talk.peer.next();
    expect(await talk.ask(request(2, "tools/call", { name: "a" }))).toBe(
      success(2, { content: [{ type: "text", text: "called" }] }),
    );
  });

  test("takes a new schema", async () => {
    const server = createServer(info);
    const tool = server.tool("a", { inputSchema: { type: "object" } }, () => "called");
    await using peer = await speak(server, "2026-07-28");
    expect(await peer.result("tools/call", { name: "a" })).not.toHaveProperty("isError");
    tool.update({ inputSchema: { type: "object", required: ["b"] } });
    expect(await peer.result("tools/call", { name: "a" })).toMatchObject({ isError: true });
  });

  test("is as it was when the change is refused", async () => {
    const server = createServer(info);
    const tool = server.tool("a", { inputSchema: z.object({ b: z.string() }) }, () => "called");
    const before = server.changes.size;
    expect(() => tool.update({ inputSchema: { type: "string" } as never })).toThrow();
    tool.update({ title: "A" });
    await using peer = await speak(server, "2026-07-28");
    expect(await peer.result("tools/list")).toMatchObject({
      tools: [{ name: "a", title: "A", inputSchema: { required: ["b"] } }],
    });
    expect(server.changes.size).toBe(before);
  });

  test("may be a template: what it completes and matches changes with it", async () => {
    const server = createServer(info);
    const template = server.resourceTemplate("a:{+x}", {}, ({ x }) => x);
    await using peer = await speak(server, "2026-07-28");
    expect(await peer.error("resources/read", { uri: "a:1/../2" })).toMatchObject({ code: -32_602 });
    template.update({ traversal: true });
    expect(await peer.result("resources/read", { uri: "a:1/../2" })).toMatchObject({ contents: [{ text: "1/../2" }] });
    template.disable();
    expect(await peer.error("resources/read", { uri: "a:1" })).toMatchObject({ data: { uri: "a:1" } });
  });
});

test.each([0, -1, 1.5, Number.POSITIVE_INFINITY])("a page of %s items makes no sense", (pageSize) => {
  expect(() => createServer({ ...info, pageSize })).toThrow(RangeError);
});

test("a resource of a template may be the last of a page", async () => {
  const server = createServer({ ...info, pageSize: 2 });
  server.resource("a:0", {}, () => "");
  const list = (): { uri: string }[] => [{ uri: "a:1" }, { uri: "a:%C3%BC%202" }, { uri: "a:3" }];
  server.resourceTemplate("a:{x}", { list }, () => "");
  await using peer = await speak(server, "2026-07-28");
  const uris: string[] = [];
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const result = await peer.result("resources/list", cursor === undefined ? {} : { cursor });
    uris.push(...(result.resources as { uri: string }[]).map(({ uri }) => uri));
    cursor = result.nextCursor as string | undefined;
  }
  expect(uris).toEqual(["a:0", "a:1", "a:%C3%BC%202", "a:3"]);
});

test("a resource is at a URI; for an almost valid one, the error shows the right spelling", () => {
  const server = createServer(info);
  expect(() => server.resource("a:ü|2", {}, () => "")).toThrow(
    'A resource may not be at "a:ü|2": it must be written "a:%C3%BC%7C2"',
  );
  expect(() => server.resource("a:%C3%BC%7C2", {}, () => "")).not.toThrow();
});
