import { versions } from "@parlance/mcp";
import { connect, LocalError, type ToolTypes } from "@parlance/mcp/client";
import { createServer, type Server } from "@parlance/mcp/server";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { modern, notification, parse, success } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { errorOf, openWith } from "../session/openings.js";

function library(): Server {
  const server = createServer({ name: "library", version: "1", pageSize: 2, listCache: { ttlMs: 60_000 } });
  for (const name of ["a", "b", "c"]) server.resource(`book:${name}`, { name }, () => `text of ${name}`);
  const shelves = ["poems", "plays"];
  server.resourceTemplate("shelf:{shelf}", { name: "shelf", complete: { shelf: shelves } }, ({ shelf }) => shelf);
  server.prompt(
    "review",
    { arguments: { book: { required: true } }, complete: { book: (_typed, settled) => Object.keys(settled) } },
    ({ book }) => `Review ${book}`,
  );
  server.tool(
    "lend",
    { inputSchema: z.object({ book: z.string() }), outputSchema: z.object({ days: z.number() }) },
    ({ book }, ctx) => {
      void ctx.progress(1, 2, "looking");
      ctx.log("info", `lending ${book}`);
      ctx.log("error", `${book} is torn`);
      return { days: 14 };
    },
  );
  return server;
}

describe.each(versions)("in %s, a client", (revision) => {
  test("lists all pages, or takes one after the other", async () => {
    await using client = await connect(library(), { revision });
    const all = await client.resources.list().all();
    expect(all.map(({ uri }) => uri)).toEqual(["book:a", "book:b", "book:c"]);
    for await (const { uri } of client.resources.list()) {
      expect(uri).toBe("book:a");
      break;
    }
    assertNoLeaks(client.connection);
  });

  test("reads a resource, and one of a family", async () => {
    await using client = await connect(library(), { revision });
    expect((await client.resources.read("book:b")).contents).toMatchObject([{ uri: "book:b", text: "text of b" }]);
    const [family] = await client.resources.templates().all();
    expect(family?.uriTemplate).toBe("shelf:{shelf}");
    expect((await client.resources.read("shelf:poems")).contents).toMatchObject([{ text: "poems" }]);
  });

  test("cannot set a log level that does not exist, and goes on as before", async () => {
    await using client = await connect(library(), { revision });
    const typo = "warn" as "warning"; // As a program without types could.
    expect(await errorOf(client.setLogLevel(typo))).toMatchObject({
      name: "LocalError",
      reason: "refused",
      message: expect.stringMatching(/^logging\/setLevel: there is no level "warn": .*warning/) as unknown,
    });
    expect((await client.tools.call("lend", { book: "a" })).content).toMatchObject([{ text: '{"days":14}' }]);
  });

  test("gets an error that names the missing resource", async () => {
    await using client = await connect(library(), { revision });
    expect(await errorOf(client.resources.read("book:z"))).toMatchObject({
      name: "RpcError",
      data: { uri: "book:z" },
    });
  });

  test("fills in a prompt", async () => {
    await using client = await connect(library(), { revision });
    expect((await client.prompts.list().all()).map(({ name }) => name)).toEqual(["review"]);
    expect((await client.prompts.get("review", { book: "a" })).messages).toEqual([
      { role: "user", content: { type: "text", text: "Review a" } },
    ]);
  });

  test("has an argument completed, that of a prompt or of a family", async () => {
    await using client = await connect(library(), { revision });
    const shelf = { type: "ref/resource", uri: "shelf:{shelf}" } as const;
    expect((await client.complete(shelf, { name: "shelf", value: "po" })).values).toEqual(["poems"]);
    const book = { type: "ref/prompt", name: "review" } as const;
    const { values } = await client.complete(
      book,
      { name: "book", value: "" },
      { context: { arguments: { shelf: "plays" } } },
    );
    expect(values).toEqual(["2024-11-05", "2025-03-26"].includes(revision) ? [] : ["shelf"]);
  });

  test("calls a tool, and receives its progress", async () => {
    const progress: unknown[] = [];
    await using client = await connect(library(), { revision });
    const onProgress = (each: unknown): void => void progress.push(each);
    const { content } = await client.tools.call("lend", { book: "a" }, { onProgress });
    expect(content).toEqual([{ type: "text", text: '{"days":14}' }]);
    expect(progress).toMatchObject([{ progress: 1, total: 2 }]);
  });

  test("receives log messages from the level that it has set", async () => {
    const heard: unknown[] = [];
    const onNotification = (_method: string, params: unknown): void => void heard.push(params);
    await using client = await connect(library(), { revision, onNotification });
    await client.setLogLevel("error");
    await client.tools.call("lend", { book: "a" });
    await turn();
    expect(heard).toMatchObject([{ level: "error", data: "a is torn" }]);
  });

  test("does nothing with a signal that is aborted, or once it is closed", async () => {
    const client = await connect(library(), { revision });
    const signal = AbortSignal.abort();
    await client.resources.list().all();
    expect(await errorOf(client.resources.list({ signal }).all())).toMatchObject({ reason: "cancelled" });
    expect(await errorOf(client.setLogLevel("error", { signal }))).toMatchObject({ reason: "cancelled" });
    expect(await errorOf(client.ping({ signal }))).toMatchObject({ reason: "cancelled" });
    await client.close();
    for (const verb of [client.resources.list().all(), client.setLogLevel("error"), client.ping()]) {
      expect(await errorOf(verb)).toMatchObject({ name: "LocalError", reason: "closed" });
    }
  });

  test("gets a sign of life", async () => {
    await using client = await connect(library(), { revision });
    await client.ping();
    assertNoLeaks(client.connection);
  });
});

describe("an answer without what is looked at first is invalid:", () => {
  const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {} };

  test.each<[string, string, object]>([
    ["tools/list", "tools must be an array, got a string", { tools: "t" }],
    ["resources/list", "resources must be an array, got an object", { resources: { name: "t" } }],
    ["resources/templates/list", "resourceTemplates must be an array, got a number", { resourceTemplates: 1 }],
    ["prompts/list", "prompts must be an array, got a boolean", { prompts: true }],
    ["prompts/get", "messages is not an array", {}],
    ["resources/read", "contents is not an array", { contents: "text" }],
    ["tools/call", "content must be an array, got an object", { content: {} }],
    ["completion/complete", "completion.values is not an array of strings", { completion: { values: [1] } }],
  ])("%s: %s", async (method, why, result) => {
    await using open = await openWith(modern, {}, capabilities);
    const { tools, resources, prompts } = open.client;
    const acts: Readonly<Record<string, () => Promise<unknown>>> = {
      "tools/list": () => tools.list().all(),
      "resources/list": () => resources.list().all(),
      "resources/templates/list": () => resources.templates().all(),
      "prompts/list": () => prompts.list().all(),
      "prompts/get": () => prompts.get("p"),
      "resources/read": () => resources.read("a:b"),
      "tools/call": () => tools.call("t"),
      "completion/complete": () => open.client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" }),
    };
    const outcome = errorOf(acts[method]?.() ?? Promise.resolve());
    open.peer.send(success(parse(await open.peer.next()).id ?? "", { resultType: "complete", ...result }));
    expect(await outcome).toEqual(new LocalError("protocol", `${method}: the server's answer is invalid: ${why}`));
  });
});

describe("structured content", () => {
  const outputSchema = {
    type: "object",
    properties: { days: { type: "number" }, word: { type: "string", pattern: "^(a+)+$" } },
    required: ["days"],
  };
  const listed = { resultType: "complete", tools: [{ name: "lend", inputSchema: { type: "object" }, outputSchema }] };
  const lend = async (result: object, isListed = true): Promise<unknown> => {
    await using open = await openWith(modern);
    const reply = async (answer: object): Promise<void> => {
      open.peer.send(success(parse(await open.peer.next()).id ?? "", answer));
    };
    if (isListed) await Promise.all([open.client.tools.list().all(), reply(listed)]);
    const call = open.client.tools.call("lend");
    await reply({ resultType: "complete", content: [], ...result });
    return call.then(
      ({ structuredContent }) => structuredContent,
      (error: Error) => error.message,
    );
  };

  test("that fits the schema which the server has listed is given", async () => {
    expect(await lend({ structuredContent: { days: 14 } })).toEqual({ days: 14 });
  });

  test.each<[string, object, string]>([
    ["does not fit", { structuredContent: { days: "many" } }, "/days"],
    ["is not there", {}, "has no structuredContent, though it has an outputSchema"],
  ])("that %s makes the answer invalid", async (_, result, why) => {
    expect(await lend(result)).toContain(why);
  });

  test("of a tool that may have changed since is checked against what it is now", async () => {
    await using open = await openWith(modern);
    const reply = async (method: string, answer: object): Promise<void> => {
      const asked = parse(await open.peer.next());
      expect(asked.method).toBe(method);
      open.peer.send(success(asked.id ?? "", { resultType: "complete", ...answer }));
    };
    await Promise.all([open.client.tools.list().all(), reply("tools/list", listed)]);
    open.peer.send(notification("notifications/tools/list_changed", {}));
    await turn();
    const wordy = { ...listed.tools[0], outputSchema: { type: "object", properties: { days: { type: "string" } } } };
    const many = { content: [], structuredContent: { days: "many" } };
    const first = open.client.tools.call("lend");
    await reply("tools/list", { tools: [wordy] });
    await reply("tools/call", many);
    expect((await first).structuredContent).toEqual({ days: "many" });
    const second = errorOf(open.client.tools.call("lend"));
    await reply("tools/call", { content: [], structuredContent: { days: 14 } });
    expect(await second).toMatchObject({ reason: "protocol" });
    open.peer.send(notification("notifications/tools/list_changed", {}));
    await turn();
    const other = open.client.tools.call("other"); // Nothing was known of it.
    await reply("tools/call", many);
    await other;
  });

  test("of a tool that failed, or was not listed, is not looked at", async () => {
    expect(await lend({ isError: true })).toBeUndefined();
    expect(await lend({ structuredContent: { days: "many" } }, false)).toEqual({ days: "many" });
  });

  test("is not matched with a pattern that takes a server's choice of time", async () => {
    const told = await lend({ structuredContent: { days: 1, word: `${"a".repeat(40)}!` } });
    expect(["string", "object"]).toContain(typeof told); // It comes to an end.
  });
});

test("calls of other tools can be left untyped", async () => {
  const days = z.object({ days: z.number() });
  const known = { lend: { inputSchema: z.object({ book: z.string() }), outputSchema: days } };
  await using client = await connect<ToolTypes & typeof known>(library());
  const { structuredContent } = await client.tools.call("lend", { book: "a" });
  const lent: number | undefined = structuredContent?.days;
  expect(lent).toBe(14);
  // @ts-expect-error a book has a name, not a number
  expect((await client.tools.call("lend", { book: 5 })).isError).toBe(true);
  await expect(client.tools.call("borrow", { anything: 5 })).rejects.toMatchObject({ code: -32_602 });
});

test("calls of a tool whose schemas are known are typed by them", async () => {
  const tools = {
    lend: { inputSchema: z.object({ book: z.string() }), outputSchema: z.object({ days: z.number() }) },
  };
  await using client = await connect<typeof tools>(library());
  const { structuredContent } = await client.tools.call("lend", { book: "a" });
  const days: number | undefined = structuredContent?.days;
  expect(days).toBe(14);
  // @ts-expect-error a book has a name, not a number
  const wrong = await client.tools.call("lend", { book: 5 });
  expect(wrong.isError).toBe(true);
  // @ts-expect-error there is no such tool
  await expect(client.tools.call("borrow")).rejects.toMatchObject({ code: -32_602 });
});

test("a tool that is gone from the list is listed again once, and then called as any other", async () => {
  await using open = await openWith("2025-11-25");
  const reply = async (method: string, result: object): Promise<void> => {
    const asked = parse(await open.peer.next());
    expect(asked.method).toBe(method);
    open.peer.send(success(asked.id ?? "", result));
  };
  const tool = { name: "lend", inputSchema: { type: "object" }, outputSchema: { type: "object" } };
  await Promise.all([open.client.tools.list().all(), reply("tools/list", { tools: [tool] })]);
  open.peer.send(notification("notifications/tools/list_changed"));
  await turn();
  const call = open.client.tools.call("lend");
  await reply("tools/list", { tools: [] });
  await reply("tools/call", { content: [] });
  await call;
  const again = open.client.tools.call("lend");
  await reply("tools/call", { content: [] });
  await again;
});

test("what a server calls the members of its structured content cannot write to a terminal", async () => {
  await using open = await openWith("2025-11-25");
  const reply = async (result: object): Promise<void> => {
    open.peer.send(success(parse(await open.peer.next()).id ?? "", result));
  };
  const outputSchema = { type: "object", additionalProperties: { type: "number" } };
  const listed = { tools: [{ name: "lend", inputSchema: { type: "object" }, outputSchema }] };
  await Promise.all([open.client.tools.list().all(), reply(listed)]);
  const call = errorOf(open.client.tools.call("lend"));
  await reply({ content: [], structuredContent: { "\u001b[2Jx": "no number" } });
  const { message } = await call;
  expect(message).toContain("outputSchema forbids");
  expect(message).not.toContain("\u001b");
});
