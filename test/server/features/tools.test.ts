import { createServer, type Server } from "@parlance/mcp/server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { failure, notification, parse, request, resultOf, stateless, success, textOf } from "../../testing/frames.js";
import { conversationWith, talkTo } from "../../testing/talks.js";

const calculator = { name: "calculator", version: "1.0.0" };
const call = (args?: unknown, name = "add"): string => request(1, "tools/call", { name, arguments: args });
const text = (words: string): { type: "text"; text: string } => ({ type: "text", text: words });

/** The same tool, by zod and by JSON Schema: it returns its arguments as it got them. */
const schemas = {
  zod: z.object({ a: z.number(), b: z.number().default(10), unit: z.enum(["m", "km"]).optional() }),
  "JSON Schema": {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number", default: 10 }, unit: { enum: ["m", "km"] } },
    required: ["a"],
  },
} as const;

function adding(kind: keyof typeof schemas): Server {
  const server = createServer(calculator);
  server.tool("add", { inputSchema: schemas[kind] }, (args) => JSON.stringify(args));
  return server;
}

describe.each(["zod", "JSON Schema"] as const)("arguments checked by %s", (kind) => {
  test("that fit reach the handler", async () => {
    await using talk = await conversationWith(adding(kind), "2025-11-25");
    const args = { a: 1, b: 2, unit: "km" };
    expect(await talk.ask(call(args))).toBe(success(1, { content: [text(JSON.stringify(args))] }));
  });

  test.each([
    ["a missing one", {}, "/a"],
    ["one of another type", { a: "1" }, "/a"],
    ["one that is null", { a: null }, "/a"],
    ["one that is not in the list", { a: 1, unit: "mile" }, "/unit"],
  ])("that do not fit are a result which says where: %s", async (_name, args, path) => {
    await using talk = await conversationWith(adding(kind), "2025-11-25");
    const { result } = parse(await talk.ask(call(args)));
    expect(result?.isError).toBe(true);
    expect(result?.content).toEqual([
      text(expect.stringMatching(new RegExp(`^Invalid arguments for tool add:\n${path}: .+$`))),
    ]);
  });

  test("with faults in two places get both", async () => {
    await using talk = await conversationWith(adding(kind), "2025-11-25");
    expect(textOf(await talk.ask(call({ a: "1", b: "2" })))).toMatch(
      /^Invalid arguments for tool add:\n\/a: .+\n\/b: .+$/,
    );
  });

  test("that are left out are none", async () => {
    await using talk = await conversationWith(adding(kind), "2025-11-25");
    expect(textOf(await talk.ask(call()))).toContain("/a: ");
  });

  test("with faults get a result with isError in the stateless era, too, and not an error", async () => {
    await using talk = talkTo(adding(kind));
    const answer = parse(await talk.ask(stateless(1, "tools/call", { name: "add", arguments: {} })));
    expect(answer.result).toMatchObject({ isError: true, resultType: "complete" });
  });
});

describe("a default", () => {
  test("of zod is filled in", async () => {
    await using talk = await conversationWith(adding("zod"), "2025-11-25");
    expect(parse(await talk.ask(call({ a: 1 }))).result?.content).toEqual([text('{"a":1,"b":10}')]);
  });

  test("of JSON Schema is an annotation", async () => {
    await using talk = await conversationWith(adding("JSON Schema"), "2025-11-25");
    expect(parse(await talk.ask(call({ a: 1 }))).result?.content).toEqual([text('{"a":1}')]);
  });
});

describe("a schema that needs time", () => {
  const server = (): Server => {
    const even = z.number().refine(async (value) => value % 2 === 0, "must be even");
    const created = createServer(calculator);
    created.tool("add", { inputSchema: z.object({ a: even }) }, async ({ a }) => `${a}`);
    return created;
  };

  test("is waited for", async () => {
    await using talk = await conversationWith(server(), "2025-11-25");
    expect(parse(await talk.ask(call({ a: 2 }))).result?.content).toEqual([text("2")]);
  });

  test("and says no is a result", async () => {
    await using talk = await conversationWith(server(), "2025-11-25");
    expect(parse(await talk.ask(call({ a: 3 }))).result).toEqual({
      content: [text("Invalid arguments for tool add:\n/a: must be even")],
      isError: true,
    });
  });
});

describe("a tool without a schema takes no arguments:", () => {
  const server = createServer(calculator);
  server.tool("add", {}, (args) => JSON.stringify(args));

  test.each([undefined, {}])("%j", async (args) => {
    await using talk = await conversationWith(server, "2025-11-25");
    expect(parse(await talk.ask(call(args))).result?.content).toEqual([text("{}")]);
  });

  test("any is refused", async () => {
    await using talk = await conversationWith(server, "2025-11-25");
    expect(parse(await talk.ask(call({ a: 1 }))).result).toMatchObject({ isError: true });
  });
});

describe("params that are no call are -32602:", () => {
  test.each<[string, object | undefined, string, string]>([
    ["none", undefined, "/name", "must be a string, got nothing"],
    ["no name", { arguments: {} }, "/name", "must be a string, got nothing"],
    ["a name that is a number", { name: 1 }, "/name", "must be a string, got a number"],
    ["arguments that are an array", { name: "add", arguments: [] }, "/arguments", "must be an object, got an array"],
    ["arguments that are null", { name: "add", arguments: null }, "/arguments", "must be an object, got null"],
    ["arguments that are a text", { name: "add", arguments: "{}" }, "/arguments", "must be an object, got a string"],
  ])("%s", async (_name, params, path, message) => {
    await using talk = await conversationWith(adding("zod"), "2025-11-25");
    expect(await talk.ask(request(1, "tools/call", params))).toBe(
      failure(1, -32_602, "Invalid params", { errors: [{ path, message }] }),
    );
  });

  test.each(["subtract", "", "Add", "__proto__", "constructor", "hasOwnProperty"])(
    "the unknown tool %j",
    async (name) => {
      await using talk = await conversationWith(adding("zod"), "2025-11-25");
      expect(await talk.ask(call({}, name))).toBe(
        failure(1, -32_602, `Unknown tool: ${name}`, {
          errors: [{ path: "/name", message: "is not a tool of this server" }],
        }),
      );
    },
  );

  test("a cursor, because the list has one page", async () => {
    await using talk = await conversationWith(adding("zod"), "2025-11-25");
    for (const cursor of ["", "2", 2, null]) {
      expect(await talk.ask(request(1, "tools/list", { cursor }))).toBe(
        failure(1, -32_602, "Invalid params", {
          errors: [{ path: "/cursor", message: "is not a cursor of this list: start again without one" }],
        }),
      );
    }
  });
});

describe("the name of a tool", () => {
  test.each(["a", "A-b_c.9", "x".repeat(128), "__proto__", "constructor"])(
    "may be %j, and is its key",
    async (name) => {
      const server = createServer(calculator);
      server.tool(name, {}, () => "here");
      await using talk = await conversationWith(server, "2025-11-25");
      expect(parse(await talk.ask(request(1, "tools/list"))).result?.tools).toMatchObject([{ name }]);
      expect(parse(await talk.ask(call({}, name))).result?.content).toEqual([text("here")]);
    },
  );

  test.each(["", "a b", "a,b", "a/b", "ä", "a\n", "x".repeat(129)])("may not be %j", (name) => {
    expect(() => createServer(calculator).tool(name, {}, () => "")).toThrow(
      new TypeError(`A tool may not be called ${JSON.stringify(name)}: 1 to 128 of A-Z a-z 0-9 _ - . are allowed`),
    );
  });

  test("may not be given twice", () => {
    const server = adding("zod");
    expect(() => server.tool("add", {}, () => "")).toThrow(
      new TypeError("The tool add is already defined: update(changes) of its registration changes it"),
    );
  });

  test("of a tool that was refused for its schema is free", () => {
    const server = createServer(calculator);
    const inputSchema = { type: "string" };
    expect(() => server.tool("add", { inputSchema }, () => "")).toThrow(/object/);
    server.tool("add", {}, () => "");
  });
});

describe("tools/list", () => {
  const annotations = { readOnlyHint: true };

  test("has all that was said of a tool, in the order of definition", async () => {
    const server = createServer(calculator);
    server.tool("zebra", { title: "Z", description: "Last in the zoo", annotations, _meta: { "x/y": 1 } }, () => "");
    server.tool("ape", { inputSchema: z.object({ a: z.int() }), outputSchema: z.object({ b: z.string() }) }, () => ({
      b: "",
    }));
    await using talk = talkTo(server);
    const [zebra, ape] = resultOf(await talk.ask(stateless(1, "tools/list"))).tools as unknown[];
    expect(zebra).toEqual({
      name: "zebra",
      title: "Z",
      description: "Last in the zoo",
      annotations,
      _meta: { "x/y": 1 },
      inputSchema: { type: "object", additionalProperties: false },
    });
    expect(ape).toMatchObject({
      name: "ape",
      inputSchema: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
      outputSchema: { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
    });
  });

  test("is the same bytes every time, on every channel", async () => {
    const server = adding("zod");
    await using one = talkTo(server);
    await using other = talkTo(server);
    const first = await one.ask(stateless(1, "tools/list"));
    expect(await one.ask(stateless(1, "tools/list"))).toBe(first);
    expect(await other.ask(stateless(1, "tools/list"))).toBe(first);
  });

  test("is prepared for each revision by itself", async () => {
    const server = createServer(calculator);
    server.tool("add", { title: "Add", annotations }, () => "");
    await using first = await conversationWith(server, "2024-11-05");
    await using second = await conversationWith(server, "2025-03-26");
    await using third = await conversationWith(server, "2025-06-18");
    const inputSchema = { type: "object", additionalProperties: false };
    for (const [talk, tool] of [
      [first, { name: "add", inputSchema }],
      [second, { name: "add", annotations, inputSchema }],
      [third, { name: "add", title: "Add", annotations, inputSchema }],
    ] as const) {
      expect(await talk.ask(request(1, "tools/list"))).toBe(success(1, { tools: [tool] }));
    }
  });

  test("has a tool as soon as it is defined", async () => {
    const server = adding("zod");
    await using talk = await conversationWith(server, "2025-11-25");
    await talk.ask(request(1, "tools/list"));
    server.tool("subtract", {}, () => "");
    expect(await talk.peer.next()).toBe(notification("notifications/tools/list_changed"));
    const { tools } = parse(await talk.ask(request(1, "tools/list"))).result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(["add", "subtract"]);
  });
});
